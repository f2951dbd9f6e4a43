"""What a check leaves out: every test is counted once, and all points add up to the assignment."""

import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.model import Case, Entry, Status
from viva.plugins.selfcheck.not_included import (
    GPU,
    HIDDEN,
    OTHERS,
    OURS,
    TRAINING,
    WRITTEN,
    find_left_out,
    write_sentence,
)


def entry(
    number: int, status: Status, points: Fraction, visibility: str = "visible", needs: tuple[str, ...] = ()
) -> Entry:
    earned = points if status is Status.PASSED else Fraction(0)
    case = Case("", status, earned, points, "")
    return Entry(f"t.py::{number}", "asked", str(number), visibility, status, earned, points, (case,), needs=needs)


@pytest.mark.parametrize(
    ("status", "needs", "what"),
    [
        (Status.DEFERRED, ("training",), TRAINING),
        (Status.DEFERRED, ("gpu",), GPU),
        (Status.DEFERRED, ("training", "gpu"), GPU),  # `--training` alone would not run it
        (Status.NEEDS_REVIEW, (), WRITTEN),
        (Status.GRADER_ERROR, (), OURS),
    ],
)
def test_each_open_status_has_its_reason(status: Status, needs: tuple[str, ...], what: str) -> None:
    one = entry(1, status, Fraction(3, 2), needs=needs)
    (found,) = find_left_out([one], [one])
    assert (found.what, found.tests, found.points) == (what, 1, Fraction(3, 2))


def test_unasked_tests_have_reason() -> None:
    tests = [entry(1, Status.GRADER_ERROR, Fraction(2), "hidden"), entry(2, Status.GRADER_ERROR, Fraction(1))]
    assert [(f.what, f.points) for f in find_left_out(tests, [])] == [(HIDDEN, Fraction(2)), (OTHERS, Fraction(1))]
    assert find_left_out([tests[1]], [entry(2, Status.FAILED, Fraction(1))]) == ()


statuses = st.sampled_from(list(Status))
drawn = st.tuples(
    statuses,
    st.fractions(0, 10, max_denominator=12),
    st.sampled_from(["visible", "hidden", "after_due_date"]),
    st.sampled_from([(), ("training",), ("gpu",), ("training", "gpu")]),
    st.booleans(),
)


@given(st.lists(drawn, max_size=12))
def test_points_add_up(rows: list[tuple[Status, Fraction, str, tuple[str, ...], bool]]) -> None:
    tests = [entry(i, status, points, seen, needs) for i, (status, points, seen, needs, _) in enumerate(rows)]
    asked = [test for test, row in zip(tests, rows, strict=True) if row[4]]
    found = find_left_out(tests, asked)
    decided = [test for test in asked if not test.status.is_open]
    assert sum(f.tests for f in found) + len(decided) == len(tests)
    assert sum((f.points for f in found), Fraction(0)) + sum((t.points for t in decided), Fraction(0)) == sum(
        (t.points for t in tests), Fraction(0)
    )


def test_left_out_sentence() -> None:
    tests = [
        entry(1, Status.GRADER_ERROR, Fraction(18), "hidden"),
        entry(2, Status.DEFERRED, Fraction(1), needs=("training",)),
        entry(3, Status.NEEDS_REVIEW, Fraction(5, 2)),
    ]
    said = write_sentence(find_left_out(tests, tests[1:]), "`--training`")
    assert said == (
        "Not included: 18 points of hidden tests, 1 point of tests that train (`--training` runs them), "
        "2.5 points graded by hand."
    )
    assert write_sentence((), "") == "Every test of the assignment was run."


def test_commands_load_nothing_heavy() -> None:
    """`viva check` of one file must not pay for what only a live notebook needs."""
    program = (
        "import sys, viva.plugins.selfcheck.not_included, viva.plugins.selfcheck.watch\n"
        "import viva.plugins.selfcheck.pack_files\n"
        "print([name for name in ('numpy', 'IPython', 'viva.plugins.selfcheck.live_check') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=False)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
