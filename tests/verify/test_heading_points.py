"""The points that a handout promises are those of the tests."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from viva.verify.verdict_check import heading_complaints


@dataclass
class _Test:
    number: str
    points: Fraction


@dataclass
class _Assignment:
    folder: Path


def complaints(tmp_path: Path, handout: str, **points: int) -> tuple[str, ...]:
    (tmp_path / "handout.md").write_text(handout, "utf-8")
    tests: Any = [_Test(number.replace("_", "."), Fraction(value)) for number, value in points.items()]
    assignment: Any = _Assignment(tmp_path)
    return heading_complaints(assignment, tests)


@pytest.mark.parametrize(
    "handout",
    ["## 1. Words (5 points)\n### 1.1 Count (3 points)\n", "**1.1** (3 points) Count.\n", "1.1 Count: 9 points\n"],
)
def test_right_points(tmp_path: Path, handout: str) -> None:
    assert complaints(tmp_path, handout, **{"1_1": 3, "1_10": 2}) == ()


def test_parts_with_a_common_beginning(tmp_path: Path) -> None:
    assert (
        complaints(tmp_path, "### 1c.i Same (4 points)\n### 1c.ii How many? (7 points)\n", **{"1c_i": 4, "1c_ii": 7})
        == ()
    )


def test_other_points(tmp_path: Path) -> None:
    found = complaints(tmp_path, "## 2.1 Softmax (5 points)\n## 2.2 Prose (1 point)\n", **{"2_1": 3})
    assert found == ("the tests of 2.1 add up to 3 points, but handout.md says 5 points",)
