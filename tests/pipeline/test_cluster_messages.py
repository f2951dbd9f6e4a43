"""What travels to a worker and back is plain data, whatever a student wrote into it; and the jobs that wait for one."""

import os
import pickle
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

import viva
from viva.model import Case, Entry, File, Score, Status, Submission, Tier
from viva.model.errors import GraderError, UsageError
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.pipeline.jobs import Job
from viva.plugins.cluster.cluster_lanes import WaitingJobs
from viva.plugins.cluster.cluster_messages import News, Reply, Task, error_to_bytes, reply_from_bytes

TEXTS = st.text(st.characters(), max_size=20)  # surrogates, too
PLAIN = {type(None), bool, int, float, str, bytes, list, dict}


class Planted:
    """What would run where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.abort, ()


def a_task(submission: Submission, **changed: Any) -> Task:
    wanted = GradeOptions(only=("1.1",), visible_only=True, call_s=0.5, interceptor="call_log")
    request = GradeRequest(submission, wanted, interceptor_input=b"t")
    waiting = ("words", "numbers")
    task = Task(request, "/course", "words", "m", "s", Tier.T1, Tier.T3, gpu=True, notebooks=False, waiting=waiting)
    return replace(task, **changed)


def graded(text: str, earned: Fraction, asked: list[Any] | None = None) -> Graded:
    case = Case("", Status.FAILED, earned, Fraction(3), text, text, 0.25)
    entry = Entry("t::f", text, "1.1", "visible", Status.FAILED, earned, Fraction(3), (case,), needs=("gpu",))
    score = Score(text, "hash", "words", 1, (entry,), notes=(text,), environment=(text,))
    return Graded(score, asked or [], interceptor_output=b"\x00\xff", remarks=[text], finished=False, ended=True)


def types_in(value: Any) -> set[type]:
    inner = [*value, *value.values()] if type(value) is dict else value if type(value) is list else []
    return {type(value)}.union(*map(types_in, inner))


@given(name=TEXTS, files=st.lists(st.tuples(TEXTS, st.binary(max_size=50)), max_size=3), problem=TEXTS)
def test_task_comes_back(name: str, files: list[tuple[str, bytes]], problem: str) -> None:
    submission = Submission(name, tuple(File(*f) for f in files), "hash", problem, (problem,))
    for tier in (None, Tier.T1):
        task = a_task(submission, tier=tier)
        assert Task.from_bytes(task.to_bytes()) == task


@given(text=TEXTS, earned=st.fractions(0, 3))
def test_score_comes_back(text: str, earned: Fraction) -> None:
    sent = Reply(graded(text, earned, [["t::f", [["call", "f", [1, None, b"x", {1: 2.5}], "ok"]]]]), "tcp")
    assert reply_from_bytes(sent.to_bytes()) == sent
    for news in (News(text, sent.graded.score.entries[0]), News("key", text=text)):
        assert News.from_bytes(news.to_bytes()) == news


@pytest.mark.parametrize("planted", [pickle.dumps(Planted()), b"cos\nabort\n(tR.", b"\x81\xa5event\xa5score"])
def test_planted_bytes_stay_bytes_and_text(planted: bytes) -> None:
    """Only bytes are given to the cluster, and in them there is nothing but plain data."""
    text = planted.decode("latin-1")
    submission = Submission(text, (File("solution.py", planted), File(text, planted)), "hash")
    for sent in (
        a_task(submission).to_bytes(),
        Reply(graded(text, Fraction(1)), text).to_bytes(),
        News(text, graded(text, Fraction(1)).score.entries[0], text).to_bytes(),
        error_to_bytes(GraderError(text)),
    ):
        assert type(sent) is bytes
        assert types_in(msgpack.unpackb(sent, strict_map_key=False)) <= PLAIN
        assert pickle.loads(pickle.dumps(sent)) == sent  # what the cluster does with it
    assert Task.from_bytes(a_task(submission).to_bytes()).request.submission.files[0].data == planted
    back = reply_from_bytes(Reply(graded(text, Fraction(1)), text).to_bytes())
    assert back.graded.score.entries[0].name == text


@pytest.mark.parametrize(
    ("error", "kind"), [(UsageError("no"), UsageError), (GraderError("no"), GraderError), (KeyError("no"), GraderError)]
)
def test_error_comes_back(error: Exception, kind: type[Exception]) -> None:
    with pytest.raises(kind) as raised:
        reply_from_bytes(error_to_bytes(error))
    assert type(raised.value) is kind and str(raised.value) == str(error)


def test_message_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viva, "__version__", "9.9")
    sent = msgpack.packb({"viva": "0.0.1", "task": {"unheard": "of"}})
    with pytest.raises(UsageError, match=r"viva 9\.9, .* viva 0\.0\.1"):
        Task.from_bytes(sent)


# --- jobs that wait for the workers


def job(name: str, assignment_name: str) -> Job:
    assignment: Any = SimpleNamespace(name=assignment_name)
    return Job(Path(name), name, assignment)


def test_assignments_of_waiting_jobs() -> None:
    waiting = WaitingJobs()
    assert not waiting and waiting.assignments == []
    for name, assignment in (("a", "words"), ("b", "masks"), ("c", "words")):
        waiting.append(job(name, assignment))
    first = waiting.take()
    assert first.name == "a" and waiting.assignments == ["words", "masks"] and len(waiting) == 2
    waiting.take()
    assert waiting.assignments == ["words"]
    waiting.put_back(first)
    assert [each.name for each in waiting] == ["a", "c"]
    waiting.take()
    waiting.take()
    assert waiting.assignments == [] and not waiting
    waiting.append(first)
    waiting.clear()
    assert waiting.assignments == [] and not waiting


def test_no_job_is_looked_at_for_assignments(monkeypatch: pytest.MonkeyPatch) -> None:
    """The assignments are part of every task, and a look at each of 100,000 jobs takes 19 ms."""
    waiting = WaitingJobs()
    for number in range(3):
        waiting.append(job(str(number), "words"))

    def looked_at(_: WaitingJobs) -> Iterator[Job]:
        raise AssertionError("each job is looked at")

    monkeypatch.setattr(WaitingJobs, "__iter__", looked_at)
    assert waiting.assignments == ["words"]
