"""A status has every word that a format or page needs, and no other module sorts statuses into kinds."""

import ast
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest

from tests.support.table_rows import Rows
from viva.model import Status
from viva.model import status as status_module
from viva.model.status import StatusWord

ENGINE = Path(__file__).parents[2] / "src" / "viva"
OWN_WORDS = {"deferred", "needs_review", "grader_error"}
"""Words that nothing but a status is called; the others are also words of Gradescope, of notebooks and of suites."""


def test_words_of_a_status() -> None:
    with Rows() as row:
        for status in Status:
            with row(status.value):
                assert len(status.symbol) == 1
                assert status.word.replace(" ", "_") == status.value
                assert status.style
                assert status.junit in ("", "failure", "error", "skipped")
                assert status.ctrf in ("passed", "failed", "skipped", "pending", "other")
                assert status.annotation in (None, "warning", "error")
                assert status.classroom_loss in ("fail", "error")
                assert isinstance(status.merge_rank, int)
                assert isinstance(Status.gravest([status, Status.PASSED]), Status)
                assert (status.gradescope is None) == status.is_open
                assert (not status.junit) == (status is Status.PASSED)  # every message has an element to stand in
    assert list(get_args(StatusWord)) == [status.value for status in Status]
    assert len({status.symbol for status in Status}) == len(Status)


def test_kinds_of_statuses_agree() -> None:
    with Rows() as row:
        for status in Status:
            with row(status.value):
                assert status.is_lost + status.is_open + (status is Status.PASSED) == 1
                assert status.is_lost or not status.is_wrong
                assert status.is_lost or not status.earns_nothing
                assert status.is_open or not status.is_fault
                assert not (status.is_open and status.takes_set_points)
                assert status.merge_rank > 0 or not status.is_open


def test_no_two_statuses_are_equally_grave() -> None:
    for one, two in combinations(Status, 2):
        assert Status.gravest([one, two]) is Status.gravest([two, one])
    for status in Status:
        assert Status.gravest([status, Status.PASSED]) is status
    for status in Status:
        for still_open in filter(lambda s: s.is_open, Status):
            assert Status.gravest([status, still_open]).is_open


@pytest.mark.parametrize(
    ("earned", "points", "status"),
    [(2, 2, "passed"), (1, 2, "partial"), (0, 2, "failed"), (0, 0, "passed"), (3, 2, "passed")],
)
def test_points_make_a_status(earned: int, points: int, status: str) -> None:
    assert Status.of_points(Fraction(earned), Fraction(points)) == status


def test_word_that_is_no_status() -> None:
    assert Status.read("timeout", Status.FAILED) is Status.TIMEOUT
    assert Status.read("no such", Status.FAILED) is Status.FAILED


def test_pages_show_every_status() -> None:
    templates = ENGINE / "plugins" / "report" / "templates"
    style, report = ((templates / name).read_text("utf-8") for name in ("style.css", "report.html.j2"))
    with Rows() as row:
        for status in Status:
            with row(status.value):
                assert f".{status.value} {{ fill: var(--{status.value}); }}" in style
                assert style.count(f"--{status.value}: #") == 2, "a color for light and one for dark"
                assert not status.is_open or f'counts.get("{status.value}", 0)' in report


def test_no_other_module_sorts_statuses() -> None:
    with Rows() as row:
        for path in sorted(ENGINE.rglob("*.py")):
            if path == Path(str(status_module.__file__)):
                continue
            with row(str(path.relative_to(ENGINE))):
                places = [f"line {line}: {', '.join(sorted(words))}" for line, words in sorted_statuses(path)]
                assert not places, f"{'; '.join(places)}. Ask a property of Status instead, or add one."


@pytest.mark.parametrize(
    "source",
    [
        "X = {Status.PARTIAL, Status.FAILED}",
        "X = (Status.PARTIAL, Status.FAILED)",
        "X = {Status.PARTIAL: 1, Status.FAILED: 2}",
        "X = {'a': Status.PARTIAL, 'b': Status.FAILED}",
        "X = dict.fromkeys([Status.PARTIAL, Status.FAILED], 1)",
        "X = a is Status.PARTIAL or a is Status.FAILED",
        "X = ('passed', 'deferred')",
        "X = Literal['passed', 'deferred']",
        "match a:\n    case Status.PARTIAL | Status.FAILED:\n        pass",
    ],
)
def test_sorting_is_found_in_every_form(tmp_path: Path, source: str) -> None:
    path = tmp_path / "module.py"
    path.write_text(source, "utf-8")
    assert sorted_statuses(path)


def sorted_statuses(path: Path) -> list[tuple[int, set[str]]]:
    """The lines at which a module writes two or more statuses into one collection, alternative or pattern."""
    places = []
    text = path.read_text("utf-8")
    if text.count("Status.") + sum(f'"{s.value}"' in text or f"'{s.value}'" in text for s in Status) < 2:
        return []  # too little to sort; parsing takes most of the time
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.BoolOp(values=parts):
                pass
            case ast.Dict(keys=keys, values=values):
                parts = [part for part in (*keys, *values) if part is not None]
            case ast.MatchOr(patterns=patterns):
                parts = [pattern.value for pattern in patterns if isinstance(pattern, ast.MatchValue)]
            case _:
                continue
        named = {name for part in parts for name in members_in(part, of_condition=isinstance(node, ast.BoolOp))}
        constants = {part.value for part in parts if isinstance(part, ast.Constant)}
        words = {status.value for status in Status if status.value in constants}
        if len(named) > 1 or (len(words) > 1 and words & OWN_WORDS):
            places.append((node.lineno, named | words))
    return places


def members_in(part: ast.expr, *, of_condition: bool) -> set[str]:
    """The members of Status that an element is, or that a part of a condition compares with."""
    if of_condition and isinstance(part, ast.Compare):
        return {name for side in part.comparators for name in members_in(side, of_condition=False)}
    if isinstance(part, ast.Attribute) and part.attr == "value":
        part = part.value
    is_member = isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "Status"
    return {part.attr} if is_member and isinstance(part, ast.Attribute) and part.attr in Status.__members__ else set()
