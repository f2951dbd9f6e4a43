"""Results as they are loaded for a report, reduced to what it reads, and written as report.csv."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as draw

from tests.support.report_class import entry, large_class, marked
from viva.formats.results_json import results_of, to_json
from viva.model import Case, ScoredAttempt, Status, Student
from viva.model.errors import UsageError
from viva.plugins.report.class_page import write_class_csv
from viva.plugins.report.load_results import load_attempts, read_score


def write(folder: Path, names: dict[str, ScoredAttempt], **how: Any) -> Path:
    for name, one in names.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "results.json").write_bytes(to_json(one.score, **how))
    return folder


@given(draw.integers(0, 50))
def test_score_round_trip(seed: int) -> None:
    """But for the time of the cases and the name of hidden, which the file says otherwise."""
    (one,) = large_class(1, seed=seed)
    back = read_score(results_of(one.score, hidden_as="hidden", staff=True))
    exact = [replace(e, cases=tuple(replace(c, wall_s=0.01) for c in e.cases)) for e in one.score.entries]
    assert list(back.entries) == exact
    same = ("earned", "points", "still_open", "environment", "isolation", "notes", "content_hash", "version")
    assert all(getattr(back, name) == getattr(one.score, name) for name in same)
    assert [c.thresholds for c in back.curves] == [((6, 0.7),)]


def test_messages_of_cases() -> None:
    two = entry("1.1", Status.PARTIAL, earned=1)
    cases = (
        Case("short", Status.FAILED, two.earned * 0, two.earned, "f(1) is 2\nsecond line"),
        Case("long", Status.PASSED, two.earned, two.earned, ""),
    )
    back = read_score(results_of(marked("s", replace(two, cases=cases)).score))
    assert [(c.label, c.status, c.message) for c in back.entries[0].cases] == [
        ("short", Status.FAILED, "f(1) is 2\nsecond line"),
        ("long", Status.PASSED, ""),
    ]


def test_name_is_what_tells_submissions_apart(tmp_path: Path) -> None:
    one = marked("home/subs/a/x", entry("1"), notes=("Cell 3 was not run.",))
    folder = write(tmp_path, {"subs/a/x": one, "subs/b": one, "subs/a/y": one})
    found = [m for m, _ in load_attempts(folder, Path("elsewhere"))]
    assert [m.attempt.name for m in found] == ["a/x", "a/y", "b"]
    assert found[0].attempt.path == Path("elsewhere/home/subs/a/x")
    assert found[0].score.notes == ("Cell 3 was not run.",)


def test_name_of_one_result(tmp_path: Path) -> None:
    ((found, _),) = load_attempts(write(tmp_path, {".": marked("home/ada.ipynb", entry("1"))}))
    assert found.attempt.name == "ada.ipynb"


@pytest.mark.parametrize("visibility", ["hidden", "after_published"])
def test_hidden_results(visibility: str) -> None:
    results = results_of(marked("s", entry("1")).score).model_copy(update={"visibility": visibility})
    assert read_score(results).entries[0].visibility == visibility


def test_invalid_results(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none: no such file"):
        load_attempts(tmp_path / "none")
    with pytest.raises(UsageError, match=r"holds no results\.json"):
        load_attempts(tmp_path)
    (tmp_path / "results.json").write_text('{"score": NaN}')
    with pytest.raises(UsageError, match=r"is not a results\.json of viva"):
        load_attempts(tmp_path)


def test_huge_points() -> None:
    huge = entry("1", points=10**12, status=Status.FAILED)
    with pytest.raises(UsageError, match="more than 1,000,000,000 points"):
        read_score(results_of(marked("s", huge).score))


def rows(*marked_: ScoredAttempt) -> list[list[str]]:
    return list(csv.reader(io.StringIO(write_class_csv(marked_).decode())))


def test_rows_and_columns() -> None:
    head, ada, eve = rows(
        marked("ada", entry("1.10", points=3), entry("1.2", Status.PARTIAL, earned=0.5), entry("1.2", test="more")),
        marked("eve", entry("1.2", Status.NEEDS_REVIEW), attempt=2),
    )
    assert head[-2:] == ["1.2", "1.10"]
    assert dict(zip(head, ada, strict=True)) == {
        "submission": "ada", "students": "", "submitted": "", "attempt": "1", "late": "", "total": "5.5", "points": "7",
        "still open": "0", "tier": "T3", "seconds": "0.300", "file that counts": "", "1.2": "2.5", "1.10": "3",
    }  # fmt: skip
    assert (eve[head.index("1.2")], eve[head.index("still open")]) == ("", "2")


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1+1", "-cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "＝1", " =1"])
def test_formulas_are_escaped(text: str) -> None:
    one = marked(text, entry(text))
    one = replace(one, attempt=replace(one.attempt, students=(Student("x", text),)))
    head, row = rows(one)
    for cell in (head[-1], row[0], row[1]):
        assert not cell.lstrip(" \u00a0").startswith(("=", "+", "-", "@", "＝", "\t")), cell


def test_quotes_and_line_breaks_stay_in_one_row() -> None:
    assert len(rows(marked('a"b\nc,d', entry("1")))) == 2
