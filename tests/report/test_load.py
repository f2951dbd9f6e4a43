"""Results that were written come back as the scores that they were written from."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as draw

from tests.support.report_class import entry, large_class, marked
from viva.formats.results_json import results_of, to_json
from viva.model import Case, ScoredAttempt, Status
from viva.model.errors import UsageError
from viva.report.load_results import attempts_below, score_of


def write(folder: Path, names: dict[str, ScoredAttempt], **how: bool) -> Path:
    for name, one in names.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "results.json").write_bytes(to_json(one.score, **how))
    return folder


@given(draw.integers(0, 50))
def test_a_score_comes_back_as_it_was(seed: int) -> None:
    """But for the time of the cases and the name of hidden, which the file says otherwise."""
    (one,) = large_class(1, seed=seed)
    back = score_of(results_of(one.score, hidden_as="hidden", staff=True))
    exact = [replace(e, cases=tuple(replace(c, wall_s=0.01) for c in e.cases)) for e in one.score.entries]
    assert list(back.entries) == exact
    same = ("earned", "points", "still_open", "environment", "isolation", "notes", "content_hash", "version")
    assert all(getattr(back, name) == getattr(one.score, name) for name in same)
    assert [c.thresholds for c in back.curves] == [((6, 0.7),)]


def test_cases_get_their_own_part_of_the_message() -> None:
    two = entry("1.1", Status.PARTIAL, earned=1)
    cases = (
        Case("short", Status.FAILED, two.earned * 0, two.earned, "f(1) is 2\nsecond line"),
        Case("long", Status.PASSED, two.earned, two.earned, ""),
    )
    back = score_of(results_of(marked("s", replace(two, cases=cases)).score))
    assert [(c.label, c.status, c.message) for c in back.entries[0].cases] == [
        ("short", Status.FAILED, "f(1) is 2\nsecond line"),
        ("long", Status.PASSED, ""),
    ]


def test_names_are_paths_without_what_all_share(tmp_path: Path) -> None:
    one = marked("home/subs/a/x", entry("1"), notes=("Cell 3 was not run.",))
    folder = write(tmp_path, {"subs/a/x": one, "subs/b": one, "subs/a/y": one})
    found = [m for m, _ in attempts_below(folder, Path("elsewhere"))]
    assert [m.attempt.name for m in found] == ["a/x", "a/y", "b"]
    assert found[0].attempt.path == Path("elsewhere/home/subs/a/x")
    assert found[0].score.notes == ("Cell 3 was not run.",)


def test_one_result_is_called_as_its_submission(tmp_path: Path) -> None:
    ((found, _),) = attempts_below(write(tmp_path, {".": marked("home/ada.ipynb", entry("1"))}))
    assert found.attempt.name == "ada.ipynb"


@pytest.mark.parametrize("visibility", ["hidden", "after_published"])
def test_a_result_that_is_not_visible_has_no_visible_test(visibility: str) -> None:
    results = results_of(marked("s", entry("1")).score).model_copy(update={"visibility": visibility})
    assert score_of(results).entries[0].visibility == visibility


def test_what_is_missing_or_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none: no such file"):
        attempts_below(tmp_path / "none")
    with pytest.raises(UsageError, match=r"holds no results\.json"):
        attempts_below(tmp_path)
    (tmp_path / "results.json").write_text('{"score": NaN}')
    with pytest.raises(UsageError, match=r"is not a results\.json of viva"):
        attempts_below(tmp_path)


def test_numbers_that_nobody_gave_are_refused() -> None:
    huge = entry("1", points=10**12, status=Status.FAILED)
    with pytest.raises(UsageError, match="more than 1,000,000,000 points"):
        score_of(results_of(marked("s", huge).score))
