"""Functions of the catalog, as collection makes them of a test file."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from viva.examiner.catalog import TestFunction

_PLAIN = TestFunction(
    test_id="test_it.py::test_it", name="It.", number="", points=Fraction(1), visibility="visible", tags=(),
    hide_errors=None, depends=(), gpu=None, training=False, timeout_s=None, leaderboard=None,
)  # fmt: skip


def catalog_function(**fields: Any) -> TestFunction:
    """A visible test of one point, with these fields changed."""
    return replace(_PLAIN, **{"items": [], **fields})
