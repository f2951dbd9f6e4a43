"""Passes over one submission become one result: nothing is lost, nothing counts twice, order matters only to marks."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.formats.merge import merge
from viva.formats.results_json import Results, results_of, to_bytes
from viva.model import Case, Entry, Isolation, Score, Status
from viva.model.errors import UsageError
from viva.model.gpu import GpuUse
from viva.model.score import Curve, Leader

SEED = {"assignment": "masks@1", "seed": "abc", "box.torch": "2.13.0+cpu"}
LEFT_OUT = "Not graded yet: this test needs a GPU, and there was none."


def entry(index: int, status: Status = Status.PASSED, points: Fraction = Fraction(2), **more: Any) -> Entry:
    """One test; half of the points where they are partial."""
    share = {Status.PASSED: Fraction(1), Status.PARTIAL: Fraction(1, 2)}.get(status, Fraction(0))
    message = LEFT_OUT if status is Status.DEFERRED else ""
    fields: dict[str, Any] = {"name": f"Test {index}", "number": f"1.{index}", "visibility": "visible"} | more
    case = Case("", status, share * points, points, message, "", fields.pop("wall_s", 0.25))
    return Entry(
        test_id=f"test_it.py::test_{index}",
        status=status,
        earned=share * points,
        points=points,
        cases=(case,),
        **fields,
    )


def result(*entries: Entry, complete: bool = True, **more: Any) -> Results:
    """What a pass over one submission wrote."""
    fields: dict[str, Any] = {"submission": "alice", "content_hash": "0" * 64, "assignment": "masks", "version": 1}
    return results_of(Score(entries=entries, **{**fields, "signature": SEED, **more}), complete=complete)


def statuses(merged: Results) -> list[str]:
    return [test.extra_data.status for test in merged.tests]


BASE = result(entry(1), entry(2, Status.DEFERRED), entry(3, Status.FAILED), wall_s=2.0, notes=("cell 3 raised.",))
ON_GPU = result(entry(1), entry(2, Status.PARTIAL), entry(3, Status.FAILED), wall_s=9.0, notes=("cell 3 raised.",))


def test_deferred_test_takes_the_other_grade() -> None:
    merged = merge(BASE, ON_GPU)
    assert statuses(merged.results) == ["passed", "partial", "failed"]
    assert (merged.taken, merged.differing) == (("test_it.py::test_2",), ())
    exact = merged.results.extra_data
    assert (merged.results.score, exact.earned, exact.points, exact.still_open) == (3.0, "3", "6", "0")
    assert merged.results.output == "cell 3 raised." and merged.results.execution_time == 9.0


def test_exact_totals() -> None:
    third = Fraction(100, 3)
    one = result(entry(1, points=third), entry(2, Status.DEFERRED, third), entry(3, Status.DEFERRED, third))
    two = result(entry(1, Status.DEFERRED, third), entry(2, points=third), entry(3, Status.DEFERRED, third))
    merged = merge(one, two).results
    assert (merged.extra_data.earned, merged.extra_data.still_open) == ("200/3", "100/3")
    assert sum(t.score or 0 for t in merged.tests) == pytest.approx(66.6667) and merged.score == 66.6667
    assert "Not graded yet: 33.33 more." in merged.output
    assert merged.output.count("Not graded yet:") == 1


def test_first_of_two_grades_is_kept() -> None:
    other = result(entry(1, Status.FAILED), entry(2, Status.PASSED), entry(3, Status.FAILED))
    merged = merge(BASE, other, ("cpu.json", "gpu.json"))
    assert statuses(merged.results) == ["passed", "passed", "failed"]
    assert merged.differing == (
        "test_it.py::test_1: passed 2 / 2 in cpu.json, failed 0 / 2 in gpu.json; cpu.json's was kept.",
    )


@pytest.mark.parametrize(
    ("one", "two", "kept"),
    [
        (Status.DEFERRED, Status.NEEDS_REVIEW, "needs_review"),
        (Status.DEFERRED, Status.GRADER_ERROR, "grader_error"),
        (Status.GRADER_ERROR, Status.FAILED, "failed"),
        (Status.GRADER_ERROR, Status.NEEDS_REVIEW, "needs_review"),
        (Status.NEEDS_REVIEW, Status.PASSED, "passed"),
        (Status.TIMEOUT, Status.PASSED, "passed"),
        (Status.TIMEOUT, Status.FAILED, "failed"),
        (Status.TIMEOUT, Status.NEEDS_REVIEW, "needs_review"),
        (Status.SKIPPED, Status.PARTIAL, "partial"),
        (Status.DEFERRED, Status.TIMEOUT, "timeout"),
    ],
)
def test_what_says_more_is_kept(one: Status, two: Status, kept: str) -> None:
    for pair in ((one, two), (two, one)):
        merged = merge(result(entry(1, pair[0])), result(entry(1, pair[1])))
        assert statuses(merged.results) == [kept] and not merged.differing


def test_order_of_tests() -> None:
    one = result(entry(2), entry(10), entry(11, visibility="after_published"))
    two = result(entry(1), entry(3), entry(12, visibility="after_published", number=""))
    for merged in (merge(one, two), merge(two, one)):
        numbers = [int(test.extra_data.test_id.rpartition("_")[2]) for test in merged.results.tests]
        assert numbers == [1, 2, 3, 10, 11, 12]
    assert [t.number for t in merge(BASE, result(entry(2))).results.tests] == ["1.1", "1.2", "1.3"]


def test_rest_of_the_result_is_joined() -> None:
    strong, weak = Isolation("T3", {"seccomp": "ok"}), Isolation("T1", {}, {}, ("namespaces",))
    one = result(
        entry(1), entry(2, Status.DEFERRED), isolation=strong, environment=("a lacks b",),
        leaderboard=(Leader("x", 1),), notes=("line one\nline two", "a note"),
        curves=(Curve("test_it.py::test_1", "loss", (2.0, 1.0)),),
    )  # fmt: skip
    two = result(
        entry(1, wall_s=0.5), entry(2), isolation=weak, environment=("c lacks d",), leaderboard=(Leader("y", 2),),
        notes=("trained for 3 epochs",), signature={**SEED, "box.torch": "2.13.0+cu128"},
        curves=(Curve("test_it.py::test_2", "gap", (0.1,)), Curve("test_it.py::test_1", "loss", (3.0,))),
    )  # fmt: skip
    merged = merge(one, two).results
    assert to_bytes(merged) == to_bytes(merge(two, one).results)
    assert merged.output == "line one\nline two\na note\ntrained for 3 epochs"
    assert merged.extra_data.isolation.tier == "T1"
    assert merged.extra_data.environment == ["a lacks b", "c lacks d"]
    assert merged.extra_data.signature["box.torch"] == "2.13.0+cpu | 2.13.0+cu128"
    assert [x.name for x in merged.leaderboard] == ["x", "y"]
    curves = [(c.name, c.values) for c in merged.extra_data.curves or ()]
    assert curves == [("loss", [2.0, 1.0]), ("gap", [0.1])]


def test_gpu_of_either_pass() -> None:
    plain, low, high, other = (
        result(entry(1), gpu=use)
        for use in (
            None,
            GpuUse("NVIDIA L4", "550", 23034, 100),
            GpuUse("NVIDIA L4", "550", 23034, 900),
            GpuUse("NVIDIA T4", "550", 15360, None),
        )
    )
    for one, two, peak in ((plain, low, 100), (low, plain, 100), (low, high, 900), (high, low, 900), (low, other, 100)):
        kept = merge(one, two).results.extra_data.gpu
        assert kept is not None and (kept.name, kept.peak_mib) == ("NVIDIA L4", peak)
    assert merge(plain, plain).results.extra_data.gpu is None


def test_leaderboard_that_differs() -> None:
    one, two = (result(entry(1), leaderboard=(Leader("speed", value),)) for value in (1, 2))
    merged = merge(one, two, ("a", "b"))
    assert merged.results.leaderboard[0].value == 1
    assert merged.differing == ("the leaderboard's 'speed' differs; a's was kept.",)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (result(entry(1), content_hash="1" * 64), r"different submissions .*: 000000000000… and 111111111111…"),
        (result(entry(1), assignment="other"), "different assignments: masks and other"),
        (result(entry(1), version=2), "different versions of the assignment: 1 and 2"),
        (result(entry(1), signature={**SEED, "seed": "xyz"}), "different seeds: abc and xyz"),
        (result(entry(1), signature={}), "different seeds: abc and none"),
        (result(entry(1, points=Fraction(3))), "test_1 is worth 2 points in one and 3 in the other"),
        (result(entry(1), complete=False), "B is not complete"),
        (result(entry(1), entry(1)), "B is not a result of viva: it names a test twice"),
    ],
)
def test_what_does_not_belong_together(other: Results, why: str) -> None:
    with pytest.raises(UsageError, match=why) as raised:
        merge(result(entry(1)), other, ("A", "B"))
    assert "\n" not in str(raised.value)


@st.composite
def passes(draw: st.DrawFn) -> tuple[Results, Results, Results]:
    """Three passes over the same submission: some tests left out in each, the marks the same."""
    count = draw(st.integers(0, 6))
    marks = draw(st.lists(st.sampled_from([s for s in Status if not s.is_open]), min_size=count, max_size=count))
    worth = draw(st.lists(st.fractions(0, 9, max_denominator=7), min_size=count, max_size=count))
    shown = [draw(st.sampled_from(["visible", "after_published"])) for _ in range(count)]

    def one() -> Results:
        made = []
        for index in range(count):
            asked, marked, wall_s = draw(st.booleans()), draw(st.booleans()), draw(st.floats(0, 9))
            status = marks[index] if marked else draw(st.sampled_from([s for s in Status if s.is_open]))
            if asked:
                made.append(entry(index, status, worth[index], visibility=shown[index], wall_s=wall_s))
        made.sort(key=lambda e: e.visibility != "visible")
        return result(
            *made,
            wall_s=draw(st.floats(0, 99)),
            notes=tuple(draw(st.lists(st.sampled_from(["a", "b\nc", "d"]), unique=True))),
            environment=tuple(draw(st.lists(st.sampled_from("xyz"), unique=True))),
            isolation=Isolation(draw(st.sampled_from(["T3", "T1", "none"]))),
            signature={**SEED, "numpy": draw(st.sampled_from(["1", "2"]))},
        )

    return one(), one(), one()


@given(passes())
def test_merging_is_idempotent_and_commutative(given: tuple[Results, Results, Results]) -> None:
    one, two, three = given
    merged = merge(one, two).results
    assert to_bytes(merge(one, one).results) == to_bytes(one)
    for again in (one, two, merged):
        assert to_bytes(merge(merged, again).results) == to_bytes(merged)
        assert to_bytes(merge(again, merged).results) == to_bytes(merged)
    assert to_bytes(merge(two, one).results) == to_bytes(merged)
    assert Results.model_validate_json(to_bytes(merged)) == merged
    asked = sorted((t.extra_data for r in (one, two) for t in r.tests), key=lambda t: -Status(t.status).merge_rank)
    nearest = {t.test_id: Status(t.status) for t in asked}  # to a decision: the last of each name counts
    known = {test_id for test_id, status in nearest.items() if not status.is_open}
    assert {t.extra_data.test_id for t in merged.tests if t.score is not None} == known
    all_three = merge(merged, three).results
    assert {t.extra_data.test_id: t.extra_data.status for t in all_three.tests} == {
        t.extra_data.test_id: t.extra_data.status for t in merge(one, merge(two, three).results).results.tests
    }
