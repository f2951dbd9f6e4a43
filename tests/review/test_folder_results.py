"""Grades in the results of a folder: written, taken back, and kept in the records if a result cannot be written."""

import csv
import io
import os
import resource
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.review_class import NAME, ROOT, attempt_of, course, hash_of, rubric, score_of
from tests.support.review_queues import refreshed_log, wait_for_writer
from viva.cli.main import run
from viva.formats.results_json import load_results, to_json
from viva.model.hand_grading import FIRST, Judgement
from viva.model.reason import Reason
from viva.plugins.records.open_records import folder_records
from viva.plugins.review.commands.review import queue_for
from viva.plugins.review.decision_log import place_of
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue

SIZE = 3
QUESTION = "2.1"
ADA = Marker("Ada")
Review = Callable[..., tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results of a small class."""
    monkeypatch.chdir(tmp_path)
    for number in range(SIZE):
        file_of(number).parent.mkdir(parents=True)
        file_of(number).write_bytes(graded(number))
    return tmp_path / "results"


@pytest.fixture
def review(folder: Path, capsys: pytest.CaptureFixture[str]) -> Review:
    """Return a function that runs the command and returns its exit status and its error output."""

    def call(*arguments: str) -> tuple[int, str]:
        capsys.readouterr()
        status = run(["review", str(folder), "--course", str(ROOT), *arguments])
        said = capsys.readouterr().err
        assert "Traceback" not in said
        return status, said

    return call


def graded(number: int) -> bytes:
    return to_json(score_of(number, rubric()))


def file_of(number: int) -> Path:
    return Path("results", attempt_of(number).name, "results.json")


def mark(queue: ReviewQueue, number: int, points: int = 1, action: str = "") -> None:
    """Say what an answer is worth; 0 takes it back to a draft."""
    queue.wait()
    answer = queue.answer((hash_of(number), QUESTION))
    assert answer is not None
    said = queue.judge(answer, [], Fraction(points), "Well.", done=points > 0)
    queue.mark(ADA, [(answer, said)], action=action or f"{number} {points}", seen={})


def marked(folder: Path, number: int, points: int = 1) -> None:
    with queue_for(course(), folder, None, NAME) as queue:
        mark(queue, number, points)


def stands(number: int) -> str:
    """Return the points of the question in a result, or `open`."""
    (test,) = [test for test in load_results(file_of(number)).tests if test.extra_data.rubric == QUESTION]
    return test.extra_data.earned if test.score is not None else "open"


def kept(folder: Path, number: int) -> Judgement | None:
    """Return the current decision in the records."""
    with queue_for(course(), folder, None, NAME) as queue:
        queue.wait()
        return queue.decisions.standing((hash_of(number), QUESTION)).judgement


def test_link_is_not_followed(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    file_of(0).rename(elsewhere)
    file_of(0).symlink_to(elsewhere)
    marked(folder, 0)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "but its grades are kept: results" not in said and "is not a regular file" in said
    assert elsewhere.read_bytes() == graded(0)
    file_of(0).unlink()
    elsewhere.rename(file_of(0))
    assert kept(folder, 0) is not None
    assert stands(0) == "1", "the next run has written it"


def test_undo_of_a_result_not_writable(folder: Path, tmp_path: Path) -> None:
    marked(folder, 0)
    elsewhere = tmp_path / "elsewhere.json"
    file_of(0).rename(elsewhere)
    file_of(0).symlink_to(elsewhere)
    marked(folder, 0, 0)
    file_of(0).unlink()
    elsewhere.rename(file_of(0))
    assert stands(0) == "1"
    assert kept(folder, 0) is None
    assert file_of(0).read_bytes() == graded(0)


def test_result_writable_again(folder: Path) -> None:
    with queue_for(course(), folder, None, NAME) as queue:
        queue.wait()
        aside = file_of(1).rename(file_of(1).with_name("aside"))
        mark(queue, 1)
        answer = queue.answer((hash_of(1), QUESTION))
        assert answer is not None
        wait_for_writer(queue)
        assert "cannot be read: No such file" in queue.writer.failures[attempt_of(1).name]
        aside.rename(file_of(1))
        judgement = queue.judge(answer, [], Fraction(2), "", done=True)
        queue.mark(ADA, [(answer, judgement)], action="again", seen={})
    assert queue.writer.failures == {} and stands(1) == "2"


def test_killed_before_results_were_written(folder: Path) -> None:
    """One grade was stored and another one taken back when the process ended; the next one writes both."""
    marked(folder, 0)
    with queue_for(course(), folder, None, NAME) as queue:
        queue.wait()
        answer = queue.answer((hash_of(1), QUESTION))
        assert answer is not None
        judgement = queue.judge(answer, [], Fraction(1), "", done=True)
    with folder_records(folder) as records:
        decisions = refreshed_log(records, NAME)
        decisions.undo("Ada", FIRST)
        decisions.append([(place_of(answer.key, FIRST), judgement)], Reason("Ada"))
    assert [stands(number) for number in range(SIZE)] == ["1", "open", "open"]
    assert kept(folder, 1) is not None
    assert [stands(number) for number in range(SIZE)] == ["open", "1", "open"]


def test_equal_submissions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a_first", "z_last"):
        (folder / name).mkdir()
        (folder / name / "results.json").write_bytes(graded(0))
    with queue_for(course(), folder, None, NAME) as queue:
        queue.wait()
        (folder / "a_first" / "results.json").write_text("{")
        mark(queue, 0)
    assert load_results(folder / "z_last" / "results.json").tests == load_results(file_of(0)).tests
    assert stands(0) == "1"
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "a_first" in said


def test_result_of_another_submission(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder was graded again while someone marked."""
    with queue_for(course(), folder, None, NAME) as queue:
        queue.wait()
        file_of(0).write_bytes(graded(1))
        mark(queue, 0)
    assert file_of(0).read_bytes() == graded(1)
    assert "now belongs to another submission than the one graded by hand" in capsys.readouterr().err
    file_of(0).write_bytes(graded(0))
    assert kept(folder, 0) is not None and stands(0) == "1"


def test_full_disk(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Results are larger than what may still be written, and the marks are not."""
    large = to_json(score_of(0, rubric(), lambda number, question: "Because. " * 9000))
    file_of(0).write_bytes(large)
    marked(folder, 1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    assert len(large) > 450_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, before[1]))
    try:
        marked(folder, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "cannot be written: File too large" in capsys.readouterr().err
    assert file_of(0).read_bytes() == large
    assert list(file_of(0).parent.iterdir()) == [file_of(0)]
    assert kept(folder, 0) is not None and stands(0) == "1"


def test_many_failures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copies = [folder / f"copy{number}" / "results.json" for number in range(12)]
    for copy in copies:
        copy.parent.mkdir()
        copy.write_bytes(graded(0))
    with queue_for(course(), folder, None, NAME) as queue:
        queue.wait()
        for copy in copies:
            copy.unlink()
        mark(queue, 0)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11 and lines[-1] == "viva: 2 more results could not be updated."


@pytest.mark.parametrize("text", ["{", "[]", "\0" * 100, "nothing"])
def test_unreadable_result(folder: Path, review: Review, text: str) -> None:
    file_of(1).write_text(text)
    status, said = review("--export", "marks.csv")
    assert status == 1 and said.count("\n") == 1 and "is not a results.json of viva" in said
    assert not Path("marks.csv").exists()


def test_huge_result(folder: Path, review: Review) -> None:
    os.truncate(file_of(1), 65 << 20)
    assert review("--export", "marks.csv") == (
        1,
        f"viva: {folder / file_of(1).relative_to('results')} is larger than 64 MiB; viva writes no such results.\n",
    )


def test_pipe_is_skipped(folder: Path, review: Review) -> None:
    file_of(1).unlink()
    os.mkfifo(file_of(1))
    assert review("--export", "marks.csv") == (0, "")
    rows = csv.DictReader(io.StringIO(Path("marks.csv").read_bytes().decode("utf-8-sig")))
    assert {row["submission"] for row in rows} == {hash_of(0), hash_of(2)}


def not_a_database(place: Path) -> None:
    place.write_text("no database, and longer than the head of one would have to be")


def a_later_version(place: Path) -> None:
    with folder_records(place.parent):
        pass
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE viva_schema SET version = 9999")
    connection.close()


def a_link(place: Path) -> None:
    place.symlink_to(place.with_name("elsewhere.db"))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (not_a_database, "are damaged: file is not a database"),
        (a_later_version, "has tables of another version of viva"),
        (a_link, "cannot be kept at"),
        (Path.mkdir, "cannot be kept at"),
        (os.mkfifo, "cannot be opened"),
    ],
)  # fmt: skip
def test_unreadable_records(folder: Path, review: Review, make: Callable[[Path], None], sentence: str) -> None:
    make(folder / "review.db")
    status, said = review("--export", "marks.csv")
    assert status == 1 and said.count("\n") == 1 and sentence in said
    assert file_of(0).read_bytes() == graded(0)


def test_folder_without_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    assert run(["review", "other", "--course", str(ROOT), "--export", "marks.csv"]) == 1
    assert "holds no results.json" in capsys.readouterr().err
    assert not list((tmp_path / "other").iterdir())


def test_two_queues(folder: Path) -> None:
    """What one says the other knows, and the results hold all of it."""
    with queue_for(course(), folder, None, NAME) as one, queue_for(course(), folder, None, NAME) as two:
        mark(one, 0)
        mark(two, 1)
        one.refresh()
        two.refresh()
        for queue in (one, two):
            assert queue.progress(QUESTION, 1).done == 2
    assert [stands(number) for number in range(SIZE)] == ["1", "1", "open"]
