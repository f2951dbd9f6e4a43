"""The queue of a folder of results: grades are in the results, and those that could not be written are reported."""

import contextlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.review_class import NAME, assignment, attempt_of, course, rubric, score_of
from tests.support.review_queues import (
    ADA,
    QUESTION,
    SMALL,
    MemorySource,
    answer_of,
    class_of,
    refreshed_log,
    say,
    wait_for_writer,
)
from viva.formats.results_json import load_results, to_json
from viva.model.errors import UsageError
from viva.model.hand_grading import FIRST, CurrentDecision
from viva.records import Records
from viva.records.store import Reason
from viva.review.decision_log import DecisionLog, place_of
from viva.review.open_queue import queue_of_folder
from viva.review.queue import ReviewQueue
from viva.review.written_answers import GradedSubmission

SIZE = 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Results of a class; the last one submitted what the first one did."""
    for number in range(SIZE):
        file = result(tmp_path / "results", number)
        file.parent.mkdir(parents=True)
        file.write_bytes(to_json(score_of(0 if number == SIZE - 1 else number, rubric())))
    return tmp_path / "results"


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    with Records.open("sqlite:///marks.db", tmp_path) as opened:
        yield opened


def result(folder: Path, number: int) -> Path:
    return folder / attempt_of(number).name / "results.json"


def earned(folder: Path, number: int) -> Fraction | None:
    """Return the points of the prose in a result; None if it is not graded yet."""
    test = next(t for t in load_results(result(folder, number)).tests if t.extra_data.rubric == QUESTION)
    return None if test.score is None else Fraction(test.extra_data.earned)


@contextlib.contextmanager
def queue_at(folder: Path, records: Records) -> Iterator[ReviewQueue]:
    """All is written at the end of the block."""
    with queue_of_folder(course(), folder, Path(), NAME, records) as queue:
        queue.wait()
        yield queue


def test_marks_stand_in_the_results_of_all_who_handed_it_in_and_are_taken_out_again(
    folder: Path, records: Records
) -> None:
    before = [result(folder, number).read_bytes() for number in range(SIZE)]
    with queue_at(folder, records) as queue:
        say(queue, ADA, answer_of(queue, 0), "limits", "roles")
    assert [earned(folder, number) for number in range(SIZE)] == [2, None, 2]
    assert result(folder, 1).read_bytes() == before[1]
    with queue_at(folder, records) as queue:
        assert queue.progress(QUESTION, FIRST).done == 1, "what is marked is still there to be marked again"
        queue.undo(ADA)
    assert [result(folder, number).read_bytes() for number in range(SIZE)] == before


def test_what_another_queue_has_said_is_written_when_it_is_seen(folder: Path, records: Records) -> None:
    with queue_at(folder, records) as queue:
        answer = answer_of(queue, 1)
        judgement = queue.judge(answer, ["roles"], Fraction(0), "", done=True)
        refreshed_log(records, NAME).append([(place_of(answer.key, FIRST), judgement)], Reason("Grace"))
        queue.refresh()
    assert earned(folder, 1) == 1


def test_what_was_said_before_the_end_of_a_process_is_written_by_the_next_one(folder: Path, records: Records) -> None:
    """It was killed between the records and the result: when it was marked, and when that was taken back."""
    with queue_at(folder, records) as queue:
        answer = answer_of(queue, 1)
        judgement = queue.judge(answer, ["roles"], Fraction(0), "", done=True)
        say(queue, ADA, answer_of(queue, 0), "limits")
    decisions = refreshed_log(records, NAME)
    decisions.undo("Ada", FIRST)
    decisions.append([(place_of(answer.key, FIRST), judgement)], Reason("Ada"))
    assert [earned(folder, number) for number in range(SIZE)] == [1, None, 1]
    with queue_at(folder, records):
        pass
    assert [earned(folder, number) for number in range(SIZE)] == [None, 1, None]


def test_results_that_cannot_be_written_are_said_until_they_are(folder: Path, records: Records) -> None:
    file = result(folder, 1)
    with queue_at(folder, records) as queue:
        aside = file.rename(file.with_name("aside"))
        file.mkdir()
        number = say(queue, ADA, answer_of(queue, 1), "limits")
    assert queue.writer.failures == {
        "s0001": f"{file} is not a regular file; grades are written into results that `viva grade -o` wrote."
    }
    assert queue.decisions.seen(place_of(answer_of(queue, 1).key, FIRST)) == number, "the mark is kept"
    file.rmdir()
    aside.rename(file)
    with queue_at(folder, records) as again:
        say(again, ADA, answer_of(again, 1), "roles", "limits")
    assert again.writer.failures == {} and earned(folder, 1) == 2


def test_a_result_that_is_written_later_is_said_no_longer(folder: Path, records: Records) -> None:
    file = result(folder, 1)
    with queue_at(folder, records) as queue:
        aside = file.rename(file.with_name("aside"))
        say(queue, ADA, answer_of(queue, 1), "limits")
        wait_for_writer(queue)
        assert "cannot be read: No such file" in queue.writer.failures[answer_of(queue, 1).submissions[0].attempt.name]
        aside.rename(file)
        say(queue, ADA, answer_of(queue, 1), "roles", "limits")
    assert queue.writer.failures == {} and earned(folder, 1) == 2


def test_where_equal_bytes_have_two_results_one_that_fails_is_said(folder: Path, records: Records) -> None:
    for broken, other in ((0, SIZE - 1), (SIZE - 1, 0)):
        with queue_at(folder, records) as queue:
            aside = result(folder, broken).rename(result(folder, broken).with_name("aside"))
            say(queue, ADA, answer_of(queue, 0), "roles", comment=f"{broken} is broken")
        assert "No such file" in queue.writer.failures[result(folder, broken).parent.name]
        assert earned(folder, other) == 1
        aside.rename(result(folder, broken))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"{", "is not a results.json of viva: Invalid JSON"),
        (b"", "is not a results.json of viva"),
        (b"\xff\xfe", "is not a results.json of viva"),
        (b"[" * 100_000, "is not a results.json of viva"),
        (b"{}", "is not a results.json of viva: score: Field required."),
    ],
)
def test_a_class_that_cannot_be_read_is_a_sentence(folder: Path, records: Records, data: bytes, sentence: str) -> None:
    result(folder, 1).write_bytes(data)
    with queue_of_folder(course(), folder, Path(), NAME, records) as queue:
        with pytest.raises(UsageError, match=sentence):
            queue.wait()
        assert isinstance(queue.fault, UsageError) and str(result(folder, 1)) in str(queue.fault)


class Broken(MemorySource):
    """A class with a fault of viva."""

    def write_grades(self, submission: GradedSubmission, marks: Mapping[str, CurrentDecision]) -> None:
        raise RuntimeError("a fault of ours")


def test_a_fault_of_ours_while_a_result_is_written_is_not_swallowed(records: Records) -> None:
    with ReviewQueue(assignment(), SMALL, Broken(class_of(["x", "y"])), DecisionLog(records, "broken")) as queue:
        queue.wait()
        say(queue, ADA, answer_of(queue, 1, "1"), "why")
    assert queue.writer.failures == {answer_of(queue, 1, "1").submissions[0].attempt.name: "a fault of ours"}
