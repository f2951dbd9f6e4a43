"""What a box claims, in any plain value: every reader of the examiner's makes something of its own kind out of it."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from tests.fuzz.target import Target, expect, expect_disagreement
from tests.fuzz.targets import wire as connection
from tests.fuzz.targets.answers import ASKED
from tests.support.catalog_functions import catalog_function
from viva.examiner.outcome import Outcome, describe
from viva.examiner.points import exact_points, leader_value
from viva.grading import agree
from viva.model import untrusted
from viva.model.errors import StudentRaised
from viva.plugins.suites.unittests.suite_outcome import judge_set_up, judge_test
from viva.sandbox.guest.transport import wire
from viva.sandbox.guest.transport.encoding import Encoder

FUNCTION = catalog_function(points=Fraction(2))
EXPECTED = (1.5, 3, "abc", True, None, [1, 2, 3], np.eye(3), {"a": 1, "b": [2.5]}, (1, "x"), {1, 2}, [[0, 1], [1, 1]])
UP_TO = ((), ("polarity",), ("sign", "order"), ("spaces",))


def check(data: bytes) -> None:
    """The first byte chooses what is expected of the value in the rest."""
    value = connection.unframed(data[1:])
    if isinstance(value, wire.WireError):
        return
    expect(type(untrusted.text(value)) is str and type(untrusted.number(value)) is int, "a reader returns another kind")
    table = untrusted.table(value)
    expect(0 < len(describe(StudentRaised.from_wire(table))) <= 4000, "an exception that cannot be told")
    for outcome in (judge_test(table, FUNCTION), judge_set_up(None, untrusted.rows(value))):
        expect(type(outcome) is Outcome and len(outcome.message) < 20_000, "no outcome")
    for read in (exact_points, leader_value):
        try:
            read(value, "test_a") if read is exact_points else leader_value(value, "test_a", hidden=True)
        except ValueError:
            continue
    _compare(value, data[0] if data else 0)


def _compare(value: Any, choice: int) -> None:
    expected, up_to = EXPECTED[choice % len(EXPECTED)], UP_TO[choice // len(EXPECTED) % len(UP_TO)]
    asked: list[Callable[[], object]] = [partial(ask, value) for ask in ASKED]
    for ask in (lambda: agree(value, expected, up_to=up_to), *asked):
        expect_disagreement(ask, 3000)


def seeds() -> Iterator[bytes]:
    """Replies of a box, and the values that are expected, right and nearly right."""
    lacking = {"library": "transformers", "version": "5", "name": "x"}
    raised = {"type": "ValueError", "message": "no", "frames": [["a.py", 3, "f", "x = 1"]], "limit": "time",
              "missing_module": "torch", "lacking": lacking}  # fmt: skip
    replies: list[Any] = [
        raised, {"events": [["success", "", {}]], "printed": "x", "score": 1.5},
        {"events": [["failure", "i=1", raised], ["skip", "why", {}], ["error", "", raised]], "score": float("nan")},
        [["skip", "why", {}]], 2.0000001, 4, "ABC ", False, [1, 2], np.eye(3, dtype="f4"), {"b": [2.5], "a": 1},
        [1, "x"], [2, 1], [[1, 0], [0, 0]], np.array([[True, False], [False, False]]), Fraction(3, 2), 1.5 + 0j,
        2**20_000, {2**20_000: [0, 1]}, [[2**20_000, 0], [0, 1]], {"A": True, "C": 2**20_000}, [2**20_000],
        Fraction(2**20_000, 3), [["0", "1"], ["1", None]], {"a": {"x": 0, "y": 1}}, "7/15", "2d + n", b"A",
    ]  # fmt: skip
    for at, value in enumerate([*EXPECTED, *replies]):
        encoder = Encoder()
        text = encoder.message(value)
        if not encoder.buffers:
            yield bytes([at % (len(EXPECTED) * len(UP_TO)), 0]) + text


WORDS = (
    *connection.TARGET.words, "events", "success", "failure", "error", "skip", "score", "printed", "frames", "limit",
)  # fmt: skip
TARGET = Target(check, seeds, WORDS)
