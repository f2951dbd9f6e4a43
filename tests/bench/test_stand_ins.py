"""Stand-ins for what takes too long to measure: copied records, and workers that grade nothing."""

import hashlib
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgpack
import pytest

from bench import stand_in_workers
from bench.class_records import ASSIGNMENT, MODEL, check, fill
from bench.small_course import WRONG, name_of, put, source_of, total_of
from viva.model import Attempt, Case, Entry, File, Isolation, Score, Status, Submission, Tier
from viva.model.attempt import Student
from viva.model.grade_request import Graded, GradeRequest
from viva.model.plain import to_plain
from viva.model.reason import Reason
from viva.plugins.cluster import cluster_worker
from viva.plugins.cluster.cluster_messages import News, Task, reply_from_bytes
from viva.plugins.records.call_log import CallLog, Exchange, question_of
from viva.plugins.records.conditions import Conditions
from viva.plugins.records.store import Records
from viva.submissions import open_submission

MADE = Conditions("m", "seed", None, False, training=True, gpu=False, isolation=Isolation("T3"))


def score(name: str, earned: Fraction) -> Score:
    case = Case("", Status.PASSED, earned, earned, "well done")
    entries = tuple(
        Entry(f"test.py::test_{n}", "It.", str(n), "visible", Status.PASSED, earned, earned, (case,)) for n in (1, 2)
    )
    return Score(name, f"hash of {name}", ASSIGNMENT, 1, entries)


def put_file(path: Path) -> bytes:
    (file,) = open_submission(path, path.name).files
    return question_of("put", {"path": file.path, "data": file.data})


def test_records_are_filled(tmp_path: Path) -> None:
    folder = tmp_path / "modules"
    for student in range(4):
        put(folder / name_of(student) / "solution.py", source_of(student, torch=False))
    with Records.open("sqlite:///records.db", tmp_path) as records:
        for student in (MODEL, WRONG):
            path = folder / name_of(student)
            attempt = Attempt(path.name, path.absolute(), (Student(path.name),))
            (number,) = records.add_attempts(ASSIGNMENT, [(attempt, "00")])
            log = CallLog(loads=[[Exchange(put_file(path), b"done", "", "")]]).to_bytes()
            total = Fraction(total_of(student))
            records.add_score(number, score(path.name, total / 2), MADE, Reason("ada"), call_log=log)
        with pytest.raises(SystemExit, match="2 scores for 4; wrong or missing"):
            check(records, 4)
        assert fill(records, folder) == 2 and fill(records, folder) == 0
        check(records, 4)
        filled = records.current(ASSIGNMENT)[3]
        submission = open_submission(folder / name_of(3), name_of(3))
        assert filled.scored.score.content_hash == submission.content_hash
        (((exchange,),)) = CallLog.from_bytes(records.call_log(filled.call_log_id)).loads
        assert exchange == Exchange(put_file(folder / name_of(3)), b"done", "", "")


class FakeWorker:
    address = "tcp://127.0.0.1:1"

    def __init__(self) -> None:
        self.told: list[News] = []

    def get_current_task(self) -> str:
        return "viva-1"

    def log_event(self, topic: str, message: bytes) -> None:
        assert topic == cluster_worker.TOPIC
        self.told.append(News.from_bytes(message))


def test_stand_in_answers_as_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graded = Graded(score("recorded", Fraction(3)), interceptor_output=b"a call log")
    (tmp_path / "recorded").write_bytes(msgpack.packb([[5.0, to_plain(graded)]]))
    worker: Any = FakeWorker()
    monkeypatch.setattr(stand_in_workers, "get_worker", lambda: worker)
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    data = b"x = 1"
    submission = Submission("ada", (File("solution.py", data),), hashlib.sha256(data).hexdigest())
    task = Task(GradeRequest(submission), "course", ASSIGNMENT, "m", "seed", Tier.T1, None, False, False, ())
    for task_s, expected in ((None, 5.0), (1.0, 1.0)):
        reply = reply_from_bytes(stand_in_workers.Recorded(tmp_path / "recorded", task_s).grade(task.to_bytes()))
        theirs = replace(graded.score, submission="ada", content_hash=submission.content_hash)
        assert reply.graded == replace(graded, score=theirs) and reply.worker == worker.address
        assert sum(slept) == expected and [news.entry for news in worker.told] == [*theirs.entries]
        slept.clear()
        worker.told.clear()
