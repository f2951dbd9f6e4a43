"""A desk on a folder of results: what is marked stands in them, and what could not be written is said and made good."""

import contextlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from desks import ADA, QUESTION, SMALL, Told, answer_of, class_of, looked, say, settled
from review_class import NAME, assignment, attempt_of, course, rubric, score_of

from viva.formats.results_json import load_results, to_json
from viva.model.errors import UsageError
from viva.model.hand_grading import FIRST, Standing
from viva.records import Records
from viva.records.store import Reason
from viva.review.decision_log import Journal, place_of
from viva.review.open_queue import desk_of_folder
from viva.review.queue import Desk
from viva.review.written_answers import HandedIn

SIZE = 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Results of a class; the last one handed in what the first one did."""
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
    """What the prose has earned by its result; None while it is open."""
    test = next(t for t in load_results(result(folder, number)).tests if t.extra_data.rubric == QUESTION)
    return None if test.score is None else Fraction(test.extra_data.earned)


@contextlib.contextmanager
def desk_at(folder: Path, records: Records) -> Iterator[Desk]:
    """All is written at the end of the block."""
    with desk_of_folder(course(), folder, Path(), NAME, records) as desk:
        desk.wait()
        yield desk


def test_marks_stand_in_the_results_of_all_who_handed_it_in_and_are_taken_out_again(
    folder: Path, records: Records
) -> None:
    before = [result(folder, number).read_bytes() for number in range(SIZE)]
    with desk_at(folder, records) as desk:
        say(desk, ADA, answer_of(desk, 0), "limits", "roles")
    assert [earned(folder, number) for number in range(SIZE)] == [2, None, 2]
    assert result(folder, 1).read_bytes() == before[1]
    with desk_at(folder, records) as desk:
        assert desk.progress(QUESTION, FIRST).done == 1, "what is marked is still there to be marked again"
        desk.undo(ADA)
    assert [result(folder, number).read_bytes() for number in range(SIZE)] == before


def test_what_another_desk_has_said_is_written_when_it_is_seen(folder: Path, records: Records) -> None:
    with desk_at(folder, records) as desk:
        answer = answer_of(desk, 1)
        judgement = desk.judged(answer, ["roles"], Fraction(0), "", done=True)
        looked(records, NAME).append([(place_of(answer.key, FIRST), judgement)], Reason("Grace"))
        desk.refresh()
    assert earned(folder, 1) == 1


def test_what_was_said_before_the_end_of_a_process_is_written_by_the_next_one(folder: Path, records: Records) -> None:
    """It was killed between the records and the result: when it was marked, and when that was taken back."""
    with desk_at(folder, records) as desk:
        answer = answer_of(desk, 1)
        judgement = desk.judged(answer, ["roles"], Fraction(0), "", done=True)
        say(desk, ADA, answer_of(desk, 0), "limits")
    journal = looked(records, NAME)
    journal.undo("Ada", FIRST)
    journal.append([(place_of(answer.key, FIRST), judgement)], Reason("Ada"))
    assert [earned(folder, number) for number in range(SIZE)] == [1, None, 1]
    with desk_at(folder, records):
        pass
    assert [earned(folder, number) for number in range(SIZE)] == [None, 1, None]


def test_results_that_cannot_be_written_are_said_until_they_are(folder: Path, records: Records) -> None:
    file = result(folder, 1)
    with desk_at(folder, records) as desk:
        aside = file.rename(file.with_name("aside"))
        file.mkdir()
        number = say(desk, ADA, answer_of(desk, 1), "limits")
    assert desk.behind.untold == {
        "s0001": f"{file} is no regular file; marks are written into results that `viva grade -o` wrote."
    }
    assert desk.journal.seen(place_of(answer_of(desk, 1).key, FIRST)) == number, "the mark is kept"
    file.rmdir()
    aside.rename(file)
    with desk_at(folder, records) as again:
        say(again, ADA, answer_of(again, 1), "roles", "limits")
    assert again.behind.untold == {} and earned(folder, 1) == 2


def test_a_result_that_is_written_later_is_said_no_longer(folder: Path, records: Records) -> None:
    file = result(folder, 1)
    with desk_at(folder, records) as desk:
        aside = file.rename(file.with_name("aside"))
        say(desk, ADA, answer_of(desk, 1), "limits")
        settled(desk)
        assert "cannot be read: No such file" in desk.behind.untold[answer_of(desk, 1).handed_in[0].attempt.name]
        aside.rename(file)
        say(desk, ADA, answer_of(desk, 1), "roles", "limits")
    assert desk.behind.untold == {} and earned(folder, 1) == 2


def test_where_equal_bytes_have_two_results_one_that_fails_is_said(folder: Path, records: Records) -> None:
    for broken, other in ((0, SIZE - 1), (SIZE - 1, 0)):
        with desk_at(folder, records) as desk:
            aside = result(folder, broken).rename(result(folder, broken).with_name("aside"))
            say(desk, ADA, answer_of(desk, 0), "roles", comment=f"{broken} is broken")
        assert "No such file" in desk.behind.untold[result(folder, broken).parent.name]
        assert earned(folder, other) == 1
        aside.rename(result(folder, broken))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"{", "is no results.json of viva: Invalid JSON"),
        (b"", "is no results.json of viva"),
        (b"\xff\xfe", "is no results.json of viva"),
        (b"[" * 100_000, "is no results.json of viva"),
        (b"{}", "is no results.json of viva: score: Field required."),
    ],
)
def test_a_class_that_cannot_be_read_is_a_sentence(folder: Path, records: Records, data: bytes, sentence: str) -> None:
    result(folder, 1).write_bytes(data)
    with desk_of_folder(course(), folder, Path(), NAME, records) as desk:
        with pytest.raises(UsageError, match=sentence):
            desk.wait()
        assert isinstance(desk.fault, UsageError) and str(result(folder, 1)) in str(desk.fault)


class Broken(Told):
    """A class with a fault of ours."""

    def tell(self, handed_in: HandedIn, marks: Mapping[str, Standing]) -> None:
        raise RuntimeError("a fault of ours")


def test_a_fault_of_ours_while_a_result_is_written_is_not_swallowed(records: Records) -> None:
    with Desk(assignment(), SMALL, Broken(class_of(["x", "y"])), Journal(records, "broken")) as desk:
        desk.wait()
        say(desk, ADA, answer_of(desk, 1, "1"), "why")
    assert desk.behind.untold == {answer_of(desk, 1, "1").handed_in[0].attempt.name: "a fault of ours"}
