"""The queue of a class, and the decisions about it: equal in every queue that shares the records."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import samples
from tests.support.review_class import NAME, assignment, attempt_of, hash_of, rubric, score_of
from tests.support.review_queues import (
    ADA,
    ALAN,
    GRACE,
    QUESTION,
    SMALL,
    MemorySource,
    answer_of,
    class_of,
    queue_at,
    queue_of,
    reader,
    say,
    wait_for_writer,
)
from viva.model import Status
from viva.model.errors import UsageError
from viva.model.hand_grading import SECOND, CurrentDecision
from viva.model.reason import Reason
from viva.plugins.records.hand_grading import Changed
from viva.plugins.records.store import Records
from viva.plugins.review.answer_sources import RecordsSource
from viva.plugins.review.decision_log import DecisionLog, place_of
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue
from viva.plugins.review.written_answers import GradedSubmission, Written

SIZE = 12
BLIND = Marker("Grace", SECOND)


def order(queue: ReviewQueue, question: str = QUESTION) -> list[str]:
    return [answer.content_hash for answer in queue.answers[question]]


# --- the order


def test_order_of_answers(file: Path) -> None:
    program = (
        "import json, sys; from tests.support.review_class import NAME, course\n"
        "from viva.plugins.records.store import Records\n"
        "from pathlib import Path; from viva.plugins.review.queue import queue_of_records\n"
        "records = Records.open(sys.argv[1], Path())\n"
        "with records, queue_of_records(course(), NAME, records) as queue:\n"
        "    queue.wait()\n"
        "    print(json.dumps({q: [a.content_hash for a in answers] for q, answers in queue.answers.items()}))"
    )
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": path}
    elsewhere = subprocess.run(
        [sys.executable, "-c", program, f"sqlite:///{file}"], capture_output=True, env=environment
    )
    assert elsewhere.returncode == 0, elsewhere.stderr
    with queue_at(file) as queue:
        here = {question: order(queue, question) for question in queue.answers}
    assert json.loads(elsewhere.stdout) == here
    orders = {tuple(each) for each in here.values()}
    assert len(orders) == len(here) and {len(each) for each in orders} == {SIZE}
    assert tuple(hash_of(number) for number in range(SIZE)) not in orders, "names and places tell nothing"


def test_order_with_later_submissions(records: Records) -> None:
    orders = []
    for size in (6, 9):
        with queue_of(records, class_of(["x"] * size), name=f"later {size}") as (queue, _):
            orders.append([hash_ for hash_ in order(queue, "1") if hash_ in {hash_of(n) for n in range(6)}])
    assert orders[0] == orders[1] and len(orders[0]) == 6


# --- who handed it in


def test_equal_submissions_are_one_answer(records: Records) -> None:
    class_ = class_of(["the same", "another"])
    twin = replace(class_[0][0], attempt=replace(class_[1][0].attempt, name="twin"))
    with queue_of(records, [*class_, (twin, class_[0][1])], name="twins") as (queue, source):
        assert queue.read_count == 3 and len(queue.answers["1"]) == 2
        answer = answer_of(queue, 0, "1")
        assert [each.attempt.name for each in answer.submissions] == ["s0", "twin"]
        say(queue, ADA, answer, "why")
    told = {name: marks["1"].judgement for name, marks in source.stored}
    assert set(told) == {"s0", "twin"} and all(said is not None and said.earned == 2 for said in told.values())


def attempts(file: Path) -> None:
    """Student 0 submits three times, student 1 once; a team of two twice, its members in another order."""
    questions = rubric()
    with reader(file) as records:
        for place, (number, nth, order) in enumerate([(0, 1, 1), (1, 1, 1), (0, 2, 1), (2, 1, 1), (2, 2, -1)]):
            attempt = replace(attempt_of(number), name=f"s{number}-{nth}", number=nth)
            if number == 2:
                team = (*attempt.students, *attempt_of(3).students)
                attempt = replace(attempt, students=team[::order])
            row = records.add_attempts(NAME, [(attempt, hash_of(100 + place))])[0]
            score = replace(score_of(number, questions), content_hash=hash_of(100 + place))
            records.add_score(row, score, samples.made(), Reason("t"))


@pytest.mark.parametrize(("which", "count"), [("last", {101, 102, 104}), ("best", {100, 101, 102, 103, 104})])
def test_attempt_that_counts(tmp_path: Path, which: str, count: set[int]) -> None:
    attempts(tmp_path / "records.db")
    policy = SimpleNamespace(name=NAME, policy=lambda: SimpleNamespace(attempts=SimpleNamespace(which=which)))
    with reader(tmp_path / "records.db") as records:
        found: Any = RecordsSource(records, policy, set)  # type: ignore[arg-type]  # what it asks of them
        assert {submission.content_hash for submission, _ in found.read()} == {hash_of(number) for number in count}


def test_unknown_and_graded_answers(file: Path) -> None:
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
        records.add_score(row, kept, samples.made(), Reason("t"))
    with queue_at(file) as queue:
        assert queue.unknown == ["9.9"]
        assert queue.answer((hash_of(50), "9.9")) is None
        assert queue.answer((hash_of(50), "1.2")) is None and queue.answer((hash_of(50), "2.2")) is None
        asked = next(entry for entry in score_of(50, questions).entries if entry.rubric == QUESTION)
        assert answer_of(queue, 50).text == asked.written


# --- similar answers


def test_similar_answers(queue: ReviewQueue) -> None:
    alike = {answer.content_hash for answer in (answer_of(queue, 3), answer_of(queue, 8))}
    assert {each.content_hash for each in queue.similar(answer_of(queue, 3))} == alike - {hash_of(3)}
    assert {each.content_hash for each in queue.similar(answer_of(queue, 8))} == alike - {hash_of(8)}
    assert {each.question for each in queue.similar(answer_of(queue, 3, "2.2"))} == {"2.2"}
    assert queue.similar(answer_of(queue, 0)) == []


# --- saying something


def test_undo_of_a_group(queue: ReviewQueue) -> None:
    group = [answer_of(queue, 3), answer_of(queue, 8)]
    said = [(each, queue.judge(each, ["roles"], Fraction(0), "Read it again.", done=True)) for each in group]
    rows = queue.mark(ADA, said, action="both", seen={hash_of(3): 0, hash_of(8): 0})
    assert {row.action for row in rows} == {"both"} and queue.progress(QUESTION, 1).done == 2
    taken = queue.undo(ADA)
    assert {row.place.content_hash for row in taken} == {hash_of(3), hash_of(8)}
    assert queue.progress(QUESTION, 1).done == 0
    assert all((there := queue.decisions.at(row.place)) and there.judgement.items == () for row in taken)
    assert queue.undo(ADA) == []


def test_undo_of_another_marker(queue: ReviewQueue) -> None:
    answer = answer_of(queue, 0)
    say(queue, ADA, answer, "limits")
    say(queue, BLIND, answer, "roles")
    assert queue.undo(ALAN) == [] == queue.undo(Marker("Ada", SECOND))
    say(queue, GRACE, answer, "answers")
    with pytest.raises(Changed, match="by Grace"):
        queue.undo(ADA)
    (row,) = queue.undo(GRACE)
    assert row.judgement.items == ("limits",) and queue.progress(QUESTION, SECOND).done == 1


def test_disagreement_is_settled_with_a_reason(queue: ReviewQueue) -> None:
    one, two, three = (answer_of(queue, number) for number in (0, 1, 2))
    say(queue, ADA, one, "limits", "roles")
    assert queue.pairs(QUESTION) == [] and queue.decisions.differing() == []
    say(queue, BLIND, one, "limits")
    say(queue, ADA, two, "limits")
    say(queue, BLIND, two, "roles")  # other items, the same points
    say(queue, ADA, three, "limits")
    say(queue, BLIND, three, done=False)
    pairs = [(Fraction(1), Fraction(1)), (Fraction(2), Fraction(1))]
    assert sorted(queue.pairs(QUESTION)) == pairs and queue.pairs("2.2") == []
    assert queue.decisions.differing() == [(hash_of(0), QUESTION)]
    assert queue.decisions.standing((hash_of(0), QUESTION)).judgement is None
    assert queue.decisions.standing((hash_of(1), QUESTION)).by == ("Ada", "Grace")
    settled = queue.judge(one, ["limits"], Fraction(0), "", done=True)
    row = queue.settle("Ada", one, settled, "seen together", action="s", seen=0)
    assert (
        queue.decisions.differing() == []
        and queue.decisions.standing((hash_of(0), QUESTION)).judgement == row.judgement
    )
    assert sorted(queue.pairs(QUESTION)) == pairs, "what both said by themselves stays"
    with pytest.raises(Changed):
        queue.settle("Grace", one, settled, "not seen", action="t", seen=0)
    with pytest.raises(UsageError, match="needs a reason"):
        queue.settle("Grace", one, settled, " ", action="u", seen=row.id)


def test_reopened_queue(file: Path) -> None:
    with queue_at(file) as queue:
        say(queue, ADA, answer_of(queue, 0), "limits", comment="Good.")
        say(queue, ADA, answer_of(queue, 1), comment="half a sen", done=False)
        queue.decisions.appeal((hash_of(0), QUESTION), "Please look again.", "Ada")
    with queue_at(file) as again:
        assert again.decisions.done(QUESTION, 1) == {hash_of(0)}
        assert again.decisions.comments(QUESTION, 1) == ["Good."]
        assert again.decisions.appealed() == {(hash_of(0), QUESTION): True}
        draft = again.decisions.at(place_of(answer_of(again, 1).key, 1))
        assert draft is not None and draft.judgement.comment == "half a sen" and not draft.judgement.done
        (row,) = again.undo(ADA)
        assert row.judgement.comment == ""


def test_fault_while_reading(records: Records, capsys: pytest.CaptureFixture[str]) -> None:
    class Faulty(MemorySource):
        def read(self) -> Iterator[tuple[GradedSubmission, list[Written]]]:
            raise LookupError("a fault of \x1b[31mours")

    with (
        ReviewQueue(assignment(), SMALL, Faulty([]), DecisionLog(records, "faulty")) as queue,
        pytest.raises(LookupError),
    ):
        queue.wait()
    printed = capsys.readouterr().err
    assert "Traceback" in printed and "in read" in printed and "a fault of" in printed and "\x1b" not in printed


def test_fault_while_writing(records: Records) -> None:
    class Faulty(MemorySource):
        def write_grades(self, submission: GradedSubmission, marks: Mapping[str, CurrentDecision]) -> None:
            raise RuntimeError("a fault of ours")

    with ReviewQueue(assignment(), SMALL, Faulty(class_of(["x", "y"])), DecisionLog(records, "broken")) as queue:
        queue.wait()
        say(queue, ADA, answer_of(queue, 1, "1"), "why")
    assert queue.writer.failures == {answer_of(queue, 1, "1").submissions[0].attempt.name: "a fault of ours"}


def test_unreadable_answer_is_a_question_of_its_own(file: Path) -> None:
    [(submission, written)] = class_of(["A sum."])
    unreadable = Written("unreadable.test_choices.test_who", "test_choices.py::test_who", Fraction(2), "the 1st", "")
    class_ = [(submission, [*written, unreadable])]
    with reader(file) as records, queue_of(records, class_) as (queue, source):
        answer = answer_of(queue, 0, unreadable.question)
        assert answer.text == "the 1st" and not queue.unknown
        say(queue, ADA, answer, "right")
        wait_for_writer(queue)
        assert queue.progress(unreadable.question, 1).left == 0
        [decision] = [grades[unreadable.question] for _, grades in source.stored if unreadable.question in grades]
        assert decision.judgement is not None and decision.judgement.earned == 2
