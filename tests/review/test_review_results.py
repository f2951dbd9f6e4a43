"""Marks in the results of a folder: totals are right, every reader reads them, and taking them back leaves no trace."""

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from viva.cli.main import cli
from viva.formats.hand_graded_results import with_decisions, write_decisions
from viva.formats.merge import merge
from viva.formats.results_json import Results, load_results, results_of, to_bytes
from viva.model import Case, Entry, Score, Status
from viva.model.errors import UsageError
from viva.model.hand_grading import CurrentDecision, Judgement
from viva.plugins.report.load_results import read_score

F = Fraction
ROOT = Path(__file__).parents[2]
TWO = F(2)
FINDINGS = "Not graded yet: a person grades this answer.\nIt names no example."


def entry(index: int, status: Status, points: Fraction = TWO, **more: Any) -> Entry:
    """One test; half of the points where they are partial."""
    share = {Status.PASSED: F(1), Status.PARTIAL: F(1, 2)}.get(status, F(0))
    fields = {"name": f"Test {index}", "number": f"1.{index}", "visibility": "visible"} | more
    cases = fields.pop("cases", (Case("", status, share * points, points, FINDINGS if status.is_open else ""),))
    return Entry(f"t.py::test_{index}", status=status, earned=share * points, points=points, cases=cases, **fields)


def prose(index: int, points: Fraction = TWO, **more: Any) -> Entry:
    """Return the entry of a test that is graded by hand."""
    fields = {"written": "Because.", "rubric": f"1.{index}"} | more
    return entry(index, Status.NEEDS_REVIEW, points, **fields)


def result(*entries: Entry, complete: bool = True, **more: Any) -> Results:
    score = Score("ada", HASH, "translation_and_masks", 1, entries, signature={"seed": "abc"}, **more)
    return results_of(score, complete=complete)


def mark(earned: Fraction | int, points: Fraction | int = 2, told: str = "+1  said\n\nWell.") -> CurrentDecision:
    return CurrentDecision(Judgement((), F(0), "Well.", True, F(earned), F(points), told), ("Ada",))


HASH = "a" * 64
OPEN = CurrentDecision(None, ("Ada", "Bo"), "They differ.")
GRADED = result(
    entry(1, Status.PASSED), prose(2), entry(3, Status.DEFERRED), prose(4, F(1, 3)), notes=("cell 3 raised.",)
)


def test_grades_replace_open_points() -> None:
    marked = with_decisions(
        GRADED, {"1.2": mark(1), "1.4": mark(F(1, 3), F(1, 3), "+0.33  all"), "1.1": mark(0), "9": mark(1)}
    )
    assert [(t.extra_data.status, t.extra_data.earned, t.score, t.status) for t in marked.tests] == [
        ("passed", "2", 2.0, "passed"),
        ("partial", "1", 1.0, "failed"),
        ("deferred", "0", None, None),
        ("passed", "1/3", 0.3333, "passed"),
    ]
    exact = marked.extra_data
    assert (marked.score, exact.earned, exact.points, exact.still_open) == (3.3333, "10/3", "19/3", "2")
    assert [t.output for t in marked.tests[1:]] == [
        "+1  said\n\nWell.\nIt names no example.",
        FINDINGS,
        "+0.33  all\nIt names no example.",
    ]
    assert marked.output == ("cell 3 raised.\nNot graded yet: 2 more. They are not lost.")
    assert Results.model_validate_json(to_bytes(marked)) == marked


@pytest.mark.parametrize(
    "standing",
    [OPEN, CurrentDecision(None), CurrentDecision(Judgement(earned=F(1), points=F(2)))],
    ids=["differ", "none", "draft"],
)
def test_decision_that_does_not_count(standing: CurrentDecision) -> None:
    assert with_decisions(GRADED, {"1.2": standing}) == GRADED
    assert to_bytes(with_decisions(with_decisions(GRADED, {"1.2": mark(1)}), {"1.2": standing})) == to_bytes(GRADED)


def test_test_worth_less_than_before() -> None:
    marked = with_decisions(GRADED, {"1.2": mark(5, 8)})
    assert (marked.tests[1].extra_data.earned, marked.tests[1].extra_data.status) == ("2", "passed")


def test_two_tests_of_a_question() -> None:
    graded = result(prose(1, rubric="1"), prose(2, rubric="1"))
    assert [t.extra_data.status for t in with_decisions(graded, {"1": mark(2)}).tests] == ["needs_review", "passed"]


def test_grader_error_stays_open() -> None:
    graded = result(entry(1, Status.GRADER_ERROR, rubric="1", written="Because."))
    assert with_decisions(graded, {"1": mark(2)}) == graded


def test_cases_are_restored() -> None:
    cases = (
        Case("one", Status.PASSED, F(1), F(1), ""),
        Case("two", Status.NEEDS_REVIEW, F(0), F(1), FINDINGS),
    )
    graded = result(replace(prose(1, cases=cases), earned=F(1)))
    marked = with_decisions(graded, {"1.1": mark(F(1, 2))})
    assert (marked.tests[0].extra_data.earned, marked.tests[0].extra_data.cases) == ("1/2", [])
    assert to_bytes(with_decisions(marked, {})) == to_bytes(graded)


def test_comment_is_escaped_not_cut() -> None:
    told = "\x1b[31m+1\x1b[0m  said\n\n" + "Well.\n" * 3000 + "Well."
    (test,) = with_decisions(result(prose(1)), {"1.1": mark(1, told=told)}).tests
    assert test.output == "+1  said\n\n" + "Well.\n" * 3001 + "It names no example."


@pytest.mark.parametrize(
    "notes", [("x" * 9000,), ("a\n" * 300,), ("x" * 7990,), ("Not graded yet: 2 of 4 points. None.",)]
)
def test_truncated_notes(notes: tuple[str, ...]) -> None:
    graded = result(prose(1), prose(2), notes=notes)
    marked = with_decisions(graded, {"1.1": mark(1)})
    both = with_decisions(graded, {"1.1": mark(1), "1.2": mark(2)})
    for some in (marked, both, with_decisions(marked, {"1.2": mark(0)})):
        assert to_bytes(with_decisions(some, {})) == to_bytes(graded)


standings = st.one_of(
    st.just(OPEN),
    st.builds(mark, st.fractions(0, 9, max_denominator=7), st.just(9), st.sampled_from(["", "+1  a\n\nb", "c"])),
)
marks = st.dictionaries(st.sampled_from([f"1.{index}" for index in range(6)]), standings)


@st.composite
def graded(draw: st.DrawFn) -> Results:
    """Results with some prose, as one pass has written them, or two that were merged."""
    worth = draw(st.lists(st.fractions(0, 9, max_denominator=7), min_size=1, max_size=6))

    def one() -> Results:
        statuses = [draw(st.sampled_from([None, *Status])) for _ in worth]
        made = [
            prose(index, points) if status in (None, Status.NEEDS_REVIEW) else entry(index, status, points)
            for index, (points, status) in enumerate(zip(worth, statuses, strict=True))
        ]
        return result(*made, notes=tuple(draw(st.lists(st.sampled_from(["a", "b\nc"]), unique=True))))

    return one() if draw(st.booleans()) else merge(one(), one()).results


@given(graded(), marks, marks)
def test_grades_are_idempotent(
    before: Results, first: Mapping[str, CurrentDecision], second: Mapping[str, CurrentDecision]
) -> None:
    one = with_decisions(before, first)
    assert Results.model_validate_json(to_bytes(one)) == one
    assert to_bytes(with_decisions(one, first)) == to_bytes(one)
    assert to_bytes(with_decisions(one, second)) == to_bytes(with_decisions(before, second))
    assert to_bytes(with_decisions(one, {})) == to_bytes(before)
    assert to_bytes(merge(one, one).results) == to_bytes(one)


@given(graded(), marks)
def test_totals(before: Results, given: Mapping[str, CurrentDecision]) -> None:
    """Made again by the code that writes results in the first place."""
    marked = with_decisions(before, given)
    again = results_of(read_score(marked))
    assert (again.score, again.extra_data.earned) == (marked.score, marked.extra_data.earned)
    assert [(t.score, t.max_score) for t in again.tests] == [(t.score, t.max_score) for t in marked.tests]
    assert again.output == marked.output


# --- files


def write(path: Path, results: Results) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_bytes(results))
    return path


def test_file_changes_with_grades_only(tmp_path: Path) -> None:
    path = write(tmp_path / "ada" / "results.json", GRADED)
    assert not write_decisions(path, {}, HASH) and not write_decisions(path, {"1.2": OPEN, "9": mark(1)}, HASH)
    assert write_decisions(path, {"1.2": mark(1)}, HASH)
    assert load_results(path) == with_decisions(GRADED, {"1.2": mark(1)})
    assert not write_decisions(path, {"1.2": mark(1)}, HASH)
    assert write_decisions(path, {"1.2": mark(1, told="Not so well.")}, HASH)
    assert write_decisions(path, {}, HASH)
    assert path.read_bytes() == to_bytes(GRADED)


def test_incomplete_result(tmp_path: Path) -> None:
    path = write(tmp_path / "results.json", result(prose(1), complete=False))
    assert write_decisions(path, {"1.1": mark(1)}, HASH)
    assert load_results(path).output == "Grading is not finished: this result is not complete."


def test_invalid_files(tmp_path: Path) -> None:
    path = write(tmp_path / "elsewhere.json", GRADED)
    link = tmp_path / "results.json"
    link.symlink_to(path)
    with pytest.raises(UsageError, match=r"results.json is not a regular file; grades are written into"):
        write_decisions(link, {"1.2": mark(1)}, HASH)
    assert path.read_bytes() == to_bytes(GRADED)
    with pytest.raises(UsageError, match="is not a regular file"):
        write_decisions(tmp_path, {}, HASH)
    with pytest.raises(UsageError, match="cannot be read: No such file or directory"):
        write_decisions(tmp_path / "missing.json", {}, HASH)
    with pytest.raises(UsageError, match=r"is not a results.json of viva"):
        write_decisions(write_text(tmp_path / "other.json", "{}"), {}, HASH)


def write_text(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_inconsistent_file(tmp_path: Path) -> None:
    marked = json.loads(to_bytes(with_decisions(result(prose(1)), {"1.1": mark(1)})))
    before = json.loads(to_bytes(result(prose(1))))
    before["tests"][0]["extra_data"]["unmarked"] = marked["tests"][0]["extra_data"]["unmarked"]
    with pytest.raises(UsageError, match="a test that is not graded yet cannot say `unmarked`"):
        load_results(write_text(tmp_path / "results.json", json.dumps(before)))


def test_commands_read_graded_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # whose course has the assignment
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        for name in ("ada", "bo"):
            write(folder / name / "results.json", result(entry(1, Status.PASSED), prose(2)))
    assert write_decisions(after / "ada" / "results.json", {"1.2": mark(1)}, HASH)

    def run(*arguments: object) -> str:
        ran = CliRunner().invoke(cli, [str(each) for each in arguments], catch_exceptions=False)
        return ran.output

    assert "t.py::test_2: changed for 1, +1 points" in run("diff", before, after)
    run("report", after, "-o", tmp_path / "report")
    assert "ada,,,1,,3,4,0," in (tmp_path / "report" / "report.csv").read_text("utf-8")
    run("grades", after, "--to", "csv", "-o", tmp_path / "marks.csv")
    assert "ada,,,,open,,100,3,0,0,96,ada," in (tmp_path / "marks.csv").read_text("utf-8")
    assert "Well." in run("export", after / "ada" / "results.json", "--to", "junit")
    run("merge", before, after)
    assert load_results(before / "ada" / "results.json") == load_results(after / "ada" / "results.json")
    assert write_decisions(before / "ada" / "results.json", {}, HASH)
