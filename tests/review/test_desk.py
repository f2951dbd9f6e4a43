"""Who is asked what next: everything once, by whom it may be, and the same on every desk that stands on the records."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from desks import (
    ADA,
    ALAN,
    GRACE,
    ITEMS,
    QUESTION,
    SMALL,
    answer_of,
    class_of,
    desk_at,
    desk_of,
    reader,
    say,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from review_class import NAME, assignment, delivery_of, fill, hash_of, rubric, score_of

from viva.model import Status
from viva.model.errors import UsageError
from viva.model.review import SECOND
from viva.records import Records, reviews
from viva.records.reviews import Changed
from viva.records.store import Reason
from viva.review import desk as desks_own
from viva.review.answers import Answer
from viva.review.desk import Desk, Marker
from viva.review.sources import KeptClass

SIZE = 12
BLIND = Marker("Grace", SECOND)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of a class, which nobody writes to."""
    file = tmp_path_factory.mktemp("class") / "records.db"
    with reader(file) as records:
        fill(records, SIZE)
    return file


@pytest.fixture
def file(made: Path, tmp_path: Path) -> Path:
    """A copy for one test."""
    return Path(shutil.copy(made, tmp_path / "records.db"))


@pytest.fixture
def desk(file: Path) -> Iterator[Desk]:
    with desk_at(file) as opened:
        yield opened


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Records]:
    """Records for desks on classes in memory, each under a name of its own."""
    with reader(tmp_path_factory.mktemp("empty") / "records.db") as opened:
        yield opened


def order(desk: Desk, question: str = QUESTION) -> list[str]:
    return [answer.content_hash for answer in desk.answers[question]]


# --- the order


def test_the_order_is_the_same_in_every_process_and_another_for_each_question(file: Path) -> None:
    program = (
        "import json, sys; from review_class import NAME, course; from viva.records import Records\n"
        "from pathlib import Path; from viva.review.opening import desk_of_records\n"
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
    twin = replace(class_[0][0], delivery=replace(class_[1][0].delivery, name="twin"))
    with desk_of(records, [*class_, (twin, class_[0][1])], name="twins") as (desk, source):
        assert desk.read == 3 and len(desk.answers["1"]) == 2
        answer = answer_of(desk, 0, "1")
        assert [each.delivery.name for each in answer.handed_in] == ["s0", "twin"]
        say(desk, ADA, answer, "why")
    told = {name: marks["1"].judgement for name, marks in source.told}
    assert set(told) == {"s0", "twin"} and all(said is not None and said.earned == 2 for said in told.values())


def attempts(file: Path) -> None:
    """Student 0 hands in three times, student 1 once; a team of two twice, its members in another order."""
    questions = rubric()
    with reader(file) as records:
        for place, (number, attempt, order) in enumerate([(0, 1, 1), (1, 1, 1), (0, 2, 1), (2, 1, 1), (2, 2, -1)]):
            delivery = replace(delivery_of(number), name=f"s{number}-{attempt}", attempt=attempt)
            if number == 2:
                team = (*delivery.students, *delivery_of(3).students)
                delivery = replace(delivery, students=team[::order])
            row = records.add_deliveries(NAME, [(delivery, hash_of(100 + place))])[0]
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
        row = records.add_deliveries(NAME, [(delivery_of(50), hash_of(50))])[0]
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


# --- who is asked what next


def test_a_marker_is_led_through_and_then_there_is_none(desk: Desk) -> None:
    answers = desk.answers[QUESTION]
    for place in (0, 2, 3):
        say(desk, ADA, answers[place])
    assert desk.next_for(ADA, QUESTION) is answers[1]
    assert desk.next_for(ADA, QUESTION, answers[1]) is answers[4]
    assert desk.next_for(ADA, QUESTION, answers[-1]) is answers[1], "it goes on at the beginning"
    for answer in answers[4:]:
        say(desk, ADA, answer)
    assert desk.next_for(ADA, QUESTION, answers[1]) is None, "the one that she comes from is no next one"
    assert desk.next_for(ADA, QUESTION) is answers[1]
    say(desk, ADA, answers[1], done=False)
    assert desk.next_for(ADA, QUESTION) is answers[1], "a draft is not marked"
    say(desk, ADA, answers[1])
    assert desk.next_for(ADA, QUESTION) is None
    assert (desk.progress(QUESTION, 1).done, desk.progress(QUESTION, 1).left) == (SIZE, 0)
    assert desk.progress("2.2", 1).left == SIZE == desk.progress(QUESTION, SECOND).left


def test_what_somebody_else_has_opened_comes_last_and_only_in_her_round(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(desks_own.time, "monotonic", lambda: now)
    answers = desk.answers[QUESTION]
    desk.open(GRACE, answers[0])
    desk.open(ADA, answers[1])
    assert desk.next_for(GRACE, QUESTION) is answers[0], "her own is not kept from her"
    assert desk.next_for(ADA, QUESTION) is answers[1]
    assert desk.next_for(Marker("Alan", SECOND), QUESTION) is answers[0]
    for answer in answers[1:]:
        say(desk, ADA, answer)
    assert desk.next_for(ADA, QUESTION, answers[-1]) is answers[0], "before she is told that all is marked"
    desk.open(GRACE, answers[0])
    now += desks_own.HELD_S - 1
    assert desk.next_for(ALAN, QUESTION) is answers[0]


def test_what_was_opened_long_ago_is_given_away(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(desks_own.time, "monotonic", lambda: now)
    first, second = desk.answers[QUESTION][:2]
    desk.open(GRACE, first)
    assert desk.next_for(ADA, QUESTION) is second
    now += desks_own.HELD_S
    assert desk.next_for(ADA, QUESTION) is first


def test_a_second_marker_gets_none_that_she_marked_at_first(desk: Desk) -> None:
    answers = desk.answers[QUESTION]
    say(desk, GRACE, answers[0])
    say(desk, ADA, answers[1])
    say(desk, GRACE, answers[2], done=False)
    assert desk.next_for(BLIND, QUESTION) is answers[1]
    say(desk, BLIND, answers[1])
    assert desk.next_for(BLIND, QUESTION) is answers[3], "nobody has marked it: it is no mark of hers"
    for answer in answers[3:]:
        say(desk, BLIND, answer)
    assert desk.next_for(BLIND, QUESTION) is None and desk.progress(QUESTION, SECOND).left == 2


@pytest.mark.parametrize(
    ("done_by_others", "begins"),
    [([0], 6), ([11], 5), ([0, 1, 2, 3], 8), ([6], 3), ([3], 8), ([1, 10], 6), ([*range(11)], 11)],
)
def test_where_others_mark_somebody_new_begins_in_the_middle_of_the_longest_run(
    desk: Desk, done_by_others: list[int], begins: int
) -> None:
    answers = desk.answers[QUESTION]
    for place in done_by_others:
        say(desk, ADA, answers[place])
    found = desk.next_for(GRACE, QUESTION)
    assert found is answers[begins]
    assert desk.next_for(GRACE, "2.2") is desk.answers["2.2"][0], "nobody marks that one"
    ada = next(place for place in range(SIZE) if place not in done_by_others)
    assert desk.next_for(ADA, QUESTION) is answers[ada]


def test_who_runs_into_another_marker_jumps_away(desk: Desk) -> None:
    answers = desk.answers[QUESTION]
    for answer in answers[:4]:
        say(desk, ADA, answer)
    assert desk.next_for(GRACE, QUESTION, answers[3]) is answers[8]
    say(desk, GRACE, answers[8])
    assert desk.next_for(GRACE, QUESTION, answers[8]) is answers[9]


def test_somebody_elses_draft_makes_nobody_jump(desk: Desk) -> None:
    answers = desk.answers[QUESTION]
    say(desk, ADA, answers[2], done=False)
    assert desk.next_for(GRACE, QUESTION, answers[2]) is answers[3]


def test_the_neighbours_of_an_answer(desk: Desk) -> None:
    answers = desk.answers[QUESTION]
    assert [desk.position(answer) for answer in answers] == list(range(SIZE))
    assert desk.beside(answers[3], 1) is answers[4] and desk.beside(answers[3], -1) is answers[2]
    assert desk.beside(answers[0], -1) is None and desk.beside(answers[-1], 1) is None


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 9),
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["look", "mark", "jump"])), max_size=60),
    st.integers(0, 9),
)
def test_every_answer_is_marked_once_however_two_markers_take_turns(
    records: Records, size: int, turns: list[tuple[int, str]], jump: int
) -> None:
    """Each on a desk of her own; both may look at the same answer, and then the slower one is told."""
    class_, name = class_of([f"text {n}" for n in range(size)]), uuid.uuid4().hex
    with desk_of(records, class_, name=name) as (one, _), desk_of(records, class_, name=name) as (two, _):
        markers = [(one, ADA), (two, GRACE)]
        looks: list[Answer | None] = [None, None]
        kept: list[str] = []
        ends = [(who, "mark") for _ in range(size + 1) for who in (0, 1)]
        for who, what in [*turns, *ends]:
            desk, marker = markers[who]
            here = looks[who]
            if here is None or what == "look":
                desk.refresh()
                looks[who] = here = desk.next_for(marker, "1", here)
                if here is not None:
                    desk.open(marker, here)
            if what == "jump" and size:
                looks[who] = one.answers["1"][jump % size]
            if what != "mark" or here is None:
                continue
            if here.content_hash not in desk.journal.done("1", 1):  # as far as she knows
                judgement = desk.judged(here, ["why"], Fraction(who), "", done=True)
                with contextlib.suppress(Changed):
                    desk.mark(marker, [(here, judgement)], action="", seen={here.content_hash: 0})
                    kept.append(here.content_hash)
                desk.refresh()
            looks[who] = desk.next_for(marker, "1", here)
        assert sorted(kept) == sorted(order(one, "1"))
        one.refresh()
        two.refresh()
        assert one.next_for(ADA, "1") is None is two.next_for(GRACE, "1")
        rows = reviews.standing_rows(records, name)
        assert len(rows) == size and all(row.judgement.done for row in rows)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 8), max_size=6), st.lists(st.integers(0, 8), max_size=3), st.integers(1, 9))
def test_who_repeats_next_and_mark_reaches_everything_once(
    records: Records, others: list[int], held: list[int], size: int
) -> None:
    with desk_of(records, class_of(["x"] * size), name=uuid.uuid4().hex) as (desk, _):
        answers = desk.answers["1"]
        for place in {each for each in others if each < size}:
            say(desk, GRACE, answers[place], "why")
        for place in {each for each in held if each < size}:
            desk.open(ALAN, answers[place])
        left = {a.content_hash for a in answers} - set(desk.journal.done("1", 1))
        reached = []
        here = desk.next_for(ADA, "1")
        while here is not None:
            reached.append(here.content_hash)
            say(desk, ADA, here)
            here = desk.next_for(ADA, "1", here)
            assert len(reached) <= size
        assert sorted(reached) == sorted(left)


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
        draft = again.journal.at(desks_own.place_of(answer_of(again, 1), 1))
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
