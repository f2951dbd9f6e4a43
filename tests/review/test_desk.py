"""The class on a desk, and what is said of it: the same on every desk that stands on the records."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from desks import ADA, ALAN, GRACE, ITEMS, QUESTION, SMALL, Told, answer_of, class_of, desk_at, desk_of, reader, say
from review_class import NAME, assignment, attempt_of, hash_of, rubric, score_of

from viva.model import Status
from viva.model.errors import UsageError
from viva.model.hand_grading import SECOND
from viva.records import Records
from viva.records.hand_grading import Changed
from viva.records.store import Reason
from viva.review.answer_sources import KeptClass
from viva.review.decision_log import Journal, place_of
from viva.review.leases import Marker
from viva.review.queue import Desk
from viva.review.written_answers import HandedIn, Written

SIZE = 12
BLIND = Marker("Grace", SECOND)


def order(desk: Desk, question: str = QUESTION) -> list[str]:
    return [answer.content_hash for answer in desk.answers[question]]


# --- the order


def test_the_order_is_the_same_in_every_process_and_another_for_each_question(file: Path) -> None:
    program = (
        "import json, sys; from review_class import NAME, course; from viva.records import Records\n"
        "from pathlib import Path; from viva.review.open_queue import desk_of_records\n"
        "records = Records.open(sys.argv[1], Path())\n"
        "with records, desk_of_records(course(), NAME, records) as desk:\n"
        "    desk.wait()\n"
        "    print(json.dumps({q: [a.content_hash for a in answers] for q, answers in desk.answers.items()}))"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": path}
    elsewhere = subprocess.run(
        [sys.executable, "-c", program, f"sqlite:///{file}"], capture_output=True, env=environment
    )
    assert elsewhere.returncode == 0, elsewhere.stderr
    with desk_at(file) as desk:
        here = {question: order(desk, question) for question in desk.answers}
    assert json.loads(elsewhere.stdout) == here
    orders = {tuple(each) for each in here.values()}
    assert len(orders) == len(here) and {len(each) for each in orders} == {SIZE}
    assert tuple(hash_of(number) for number in range(SIZE)) not in orders, "names and places tell nothing"


def test_the_order_stays_when_others_hand_in_later(records: Records) -> None:
    orders = []
    for size in (6, 9):
        with desk_of(records, class_of(["x"] * size), name=f"later {size}") as (desk, _):
            orders.append([hash_ for hash_ in order(desk, "1") if hash_ in {hash_of(n) for n in range(6)}])
    assert orders[0] == orders[1] and len(orders[0]) == 6


# --- who handed it in


def test_equal_bytes_are_one_answer_with_two_names_and_one_mark(records: Records) -> None:
    class_ = class_of(["the same", "another"])
    twin = replace(class_[0][0], attempt=replace(class_[1][0].attempt, name="twin"))
    with desk_of(records, [*class_, (twin, class_[0][1])], name="twins") as (desk, source):
        assert desk.read == 3 and len(desk.answers["1"]) == 2
        answer = answer_of(desk, 0, "1")
        assert [each.attempt.name for each in answer.handed_in] == ["s0", "twin"]
        say(desk, ADA, answer, "why")
    told = {name: marks["1"].judgement for name, marks in source.told}
    assert set(told) == {"s0", "twin"} and all(said is not None and said.earned == 2 for said in told.values())


def attempts(file: Path) -> None:
    """Student 0 hands in three times, student 1 once; a team of two twice, its members in another order."""
    questions = rubric()
    with reader(file) as records:
        for place, (number, attempt, order) in enumerate([(0, 1, 1), (1, 1, 1), (0, 2, 1), (2, 1, 1), (2, 2, -1)]):
            attempt = replace(attempt_of(number), name=f"s{number}-{attempt}", number=attempt)
            if number == 2:
                team = (*attempt.students, *attempt_of(3).students)
                attempt = replace(attempt, students=team[::order])
            row = records.add_attempts(NAME, [(attempt, hash_of(100 + place))])[0]
            score = replace(score_of(number, questions), content_hash=hash_of(100 + place))
            records.add_score(row, score, made_with="t", identity=None, reason=Reason("t"))


@pytest.mark.parametrize(("which", "count"), [("last", {101, 102, 104}), ("best", {100, 101, 102, 103, 104})])
def test_of_several_attempts_the_last_one_unless_the_best_counts(tmp_path: Path, which: str, count: set[int]) -> None:
    attempts(tmp_path / "records.db")
    policy = SimpleNamespace(name=NAME, policy=lambda: SimpleNamespace(attempts=SimpleNamespace(which=which)))
    with reader(tmp_path / "records.db") as records:
        found: Any = KeptClass(records, policy, set)  # type: ignore[arg-type]
        assert {handed_in.content_hash for handed_in, _ in found.read()} == {hash_of(number) for number in count}


def test_prose_that_no_question_marks_is_said_and_what_is_graded_already_is_left_out(file: Path) -> None:
    with reader(file) as records:
        questions = rubric()
        row = records.add_attempts(NAME, [(attempt_of(50), hash_of(50))])[0]
        entries = [replace(e, rubric="9.9") if e.rubric == "1.2" else e for e in score_of(50, questions).entries]
        entries = [
            replace(e, status=Status.FAILED, cases=(replace(e.cases[0], status=Status.FAILED),))
            if e.rubric == "2.2"
            else e
            for e in entries
        ]
        kept = replace(score_of(50, questions), entries=tuple(entries))
        records.add_score(row, kept, made_with="t", identity=None, reason=Reason("t"))
    with desk_at(file) as desk:
        assert desk.unknown == ["9.9"]
        assert desk.answer((hash_of(50), "9.9")) is None
        assert desk.answer((hash_of(50), "1.2")) is None and desk.answer((hash_of(50), "2.2")) is None
        assert answer_of(desk, 50).text == score_of(50, questions).entries[-7].written


# --- similar answers


def test_similar_answers_are_found_both_ways_and_never_across_questions(desk: Desk) -> None:
    alike = {answer.content_hash for answer in (answer_of(desk, 3), answer_of(desk, 8))}
    assert {each.content_hash for each in desk.similar(answer_of(desk, 3))} == alike - {hash_of(3)}
    assert {each.content_hash for each in desk.similar(answer_of(desk, 8))} == alike - {hash_of(8)}
    assert {each.question for each in desk.similar(answer_of(desk, 3, "2.2"))} == {"2.2"}
    assert desk.similar(answer_of(desk, 0)) == []


# --- saying something


def test_a_group_is_one_action_and_is_taken_back_as_one(desk: Desk) -> None:
    group = [answer_of(desk, 3), answer_of(desk, 8)]
    said = [(each, desk.judged(each, ["roles"], Fraction(0), "Read it again.", done=True)) for each in group]
    rows = desk.mark(ADA, said, action="both", seen={hash_of(3): 0, hash_of(8): 0})
    assert {row.action for row in rows} == {"both"} and desk.progress(QUESTION, 1).done == 2
    taken = desk.undo(ADA)
    assert {row.place.content_hash for row in taken} == {hash_of(3), hash_of(8)}
    assert desk.progress(QUESTION, 1).done == 0
    assert all((there := desk.journal.at(row.place)) and there.judgement.items == () for row in taken)
    assert desk.undo(ADA) == []


def test_of_a_group_all_or_nothing_is_kept(desk: Desk) -> None:
    group = [answer_of(desk, 3), answer_of(desk, 8)]
    grace = say(desk, GRACE, group[1], "roles")
    said = [(each, desk.judged(each, ["limits"], Fraction(0), "", done=True)) for each in group]
    with pytest.raises(Changed, match="by Grace") as changed:
        desk.mark(ADA, said, action="both", seen={hash_of(3): 0, hash_of(8): 0})
    assert [row.id for row in changed.value.rows] == [grace]
    assert desk.progress(QUESTION, 1).done == 1
    assert desk.mark(ADA, said, action="both", seen={hash_of(3): 0, hash_of(8): grace})[1].by == "Ada"


def test_undo_is_each_markers_own_and_stops_where_somebody_has_gone_on(desk: Desk) -> None:
    answer = answer_of(desk, 0)
    say(desk, ADA, answer, "limits")
    say(desk, BLIND, answer, "roles")
    assert desk.undo(ALAN) == [] == desk.undo(Marker("Ada", SECOND))
    say(desk, GRACE, answer, "answers")
    with pytest.raises(Changed, match="by Grace"):
        desk.undo(ADA)
    (row,) = desk.undo(GRACE)
    assert row.judgement.items == ("limits",) and desk.progress(QUESTION, SECOND).done == 1


def test_pairs_and_what_differs(desk: Desk) -> None:
    one, two, three = (answer_of(desk, number) for number in (0, 1, 2))
    say(desk, ADA, one, "limits", "roles")
    assert desk.pairs(QUESTION) == [] and desk.journal.differing() == []
    say(desk, BLIND, one, "limits")
    say(desk, ADA, two, "limits")
    say(desk, BLIND, two, "roles")  # other items, the same points
    say(desk, ADA, three, "limits")
    say(desk, BLIND, three, done=False)
    assert sorted(desk.pairs(QUESTION)) == [(1, 1), (2, 1)] and desk.pairs("2.2") == []
    assert desk.journal.differing() == [(hash_of(0), QUESTION)]
    assert desk.journal.standing((hash_of(0), QUESTION)).judgement is None
    assert desk.journal.standing((hash_of(1), QUESTION)).by == ("Ada", "Grace")
    settled = desk.judged(one, ["limits"], Fraction(0), "", done=True)
    row = desk.settle("Ada", one, settled, "seen together", action="s", seen=0)
    assert desk.journal.differing() == [] and desk.journal.standing((hash_of(0), QUESTION)).judgement == row.judgement
    assert sorted(desk.pairs(QUESTION)) == [(1, 1), (2, 1)], "what both said by themselves stays"
    with pytest.raises(Changed):
        desk.settle("Grace", one, settled, "not seen", action="t", seen=0)
    with pytest.raises(UsageError, match="needs a reason"):
        desk.settle("Grace", one, settled, " ", action="u", seen=row.id)


def test_two_desks_on_one_set_of_records_see_each_others_rows(file: Path) -> None:
    with desk_at(file) as one, desk_at(file) as two:
        answer = answer_of(one, 0)
        number = say(one, ADA, answer, "limits", comment="from the first desk")
        assert two.journal.done(QUESTION, 1) == set()
        two.refresh()
        assert two.journal.done(QUESTION, 1) == {hash_of(0)}
        assert two.journal.comments(QUESTION, 1) == ["from the first desk"]
        judgement = two.judged(answer, ["roles"], Fraction(0), "", done=True)
        with pytest.raises(Changed, match="by Ada"):
            two.mark(GRACE, [(answer, judgement)], action="", seen={hash_of(0): 0})
        two.mark(GRACE, [(answer, judgement)], action="", seen={hash_of(0): number})
        one.refresh()
        there = one.journal.standing((hash_of(0), QUESTION))
        assert there.by == ("Grace",) and there.judgement == judgement
        with pytest.raises(Changed, match="by Grace"):
            one.undo(ADA)


def test_what_was_said_is_there_when_the_desk_is_opened_again(file: Path) -> None:
    with desk_at(file) as desk:
        say(desk, ADA, answer_of(desk, 0), "limits", comment="Good.")
        say(desk, ADA, answer_of(desk, 1), comment="half a sen", done=False)
        desk.journal.appeal((hash_of(0), QUESTION), "Please look again.", "Ada")
    with desk_at(file) as again:
        assert again.journal.done(QUESTION, 1) == {hash_of(0)}
        assert again.journal.comments(QUESTION, 1) == ["Good."]
        assert again.journal.appealed() == {(hash_of(0), QUESTION): True}
        draft = again.journal.at(place_of(answer_of(again, 1).key, 1))
        assert draft is not None and draft.judgement.comment == "half a sen" and not draft.judgement.done
        (row,) = again.undo(ADA)
        assert row.judgement.comment == ""


def test_the_rubric_is_kept_to(desk: Desk) -> None:
    answer = answer_of(desk, 0)
    assert desk.judged(answer, ITEMS[1:], Fraction(0), "", done=True).earned == Fraction(7, 2)
    with pytest.raises(UsageError, match="exclude each other"):
        desk.judged(answer, ["limits", "limit"], Fraction(0), "", done=True)
    with pytest.raises(UsageError, match="no rubric item `why`"):
        desk.judged(answer, ["why"], Fraction(0), "", done=True)
    assert SMALL.question("1") is not None and assignment().name == NAME


def test_a_fault_of_ours_in_reading_is_told(records: Records, capsys: pytest.CaptureFixture[str]) -> None:
    class Faulty(Told):
        def read(self) -> Iterator[tuple[HandedIn, list[Written]]]:
            raise LookupError("a fault of \x1b[31mours")

    with Desk(assignment(), SMALL, Faulty([]), Journal(records, "faulty")) as desk, pytest.raises(LookupError):
        desk.wait()
    told = capsys.readouterr().err
    assert "Traceback" in told and "in read" in told and "a fault of" in told and "\x1b" not in told
