"""Classroom 50's result.json: what its collector and its schema accept, whole numbers that add up, ten megabytes."""

import json
import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.ci_results import HIDDEN, SECRET, TEXTS, entry, one_of_each, report, spoiled
from viva.model import Status
from viva.model.errors import UsageError
from viva.plugins.ci.classroom50 import MOST_BYTES, Identity, classroom50
from viva.plugins.ci.public_view import Report, report_of

RUNNER = {
    "CLASSROOM": "nlp-2026",
    "ASSIGNMENT": "masks",
    "ASSIGNMENT_TYPE": "individual",
    "OWNER": "ada",
    "USERNAME": "ada",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://github.com/o/r/commit/abc",
    "RELEASE_URL": "https://github.com/o/r/releases/tag/x",
    "REVIEW_URL": "https://github.com/o/r/compare/a...b",
}
TEXT_KEYS = (
    *("classroom", "assignment", "assignment_type", "owner", "submission"),
    *("commit", "release", "review", "datetime"),
)
NOW = "2026-06-01T14:33:11Z"


def whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def check(data: bytes) -> Any:
    """The file, once the collector's rules (and the stricter ones of the published schema) are seen to hold."""
    assert len(data) <= MOST_BYTES
    file = json.loads(data, parse_constant=lambda word: 1 / 0)
    assert set(file) == {"schema", "score", "max-score", "tests", *TEXT_KEYS}
    assert file["schema"] == "classroom50/result/v1"
    assert all(type(file[key]) is str and file[key] for key in TEXT_KEYS)
    assert file["submission"].startswith("submit/") and re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", file["datetime"]
    )
    assert whole(file["score"]) and whole(file["max-score"]) and file["score"] <= file["max-score"]
    for test in file["tests"]:
        assert type(test["test-name"]) is str and test["test-name"] and type(test["passed"]) is bool
        assert whole(test["score"]) and whole(test["max-score"]) and test["score"] <= test["max-score"]
    assert file["score"] == sum(test["score"] for test in file["tests"])
    assert file["max-score"] == sum(test["max-score"] for test in file["tests"])
    return file


def written(shown: Report, **more: Any) -> Any:
    return check(classroom50(shown, Identity.from_environment(RUNNER), instant=NOW, **more))


@pytest.mark.parametrize(("deduction", "scores"), [(1, [200, 100, 0]), (3, [100, 0, 0]), (9, [0, 0, 0])])
def test_deductions_are_taken_from_the_last_tests(deduction: int, scores: list[int]) -> None:
    """Neither the collector nor the schema takes points below zero."""
    deducted = entry(3, Status.FAILED, earned=-deduction, points=0)
    file = written(report(entry(1, earned=2), entry(2, earned=2), deducted))
    assert [test["score"] for test in file["tests"]] == scores


def test_points_become_hundredths() -> None:
    file = written(report_of(one_of_each()))
    assert (file["score"], file["max-score"]) == (300, 1200)
    statuses = {test["status"] for test in file["tests"]}
    assert statuses == {"passed", "partial", "failed", "error", "timeout", "skipped"}
    (partial,) = [test for test in file["tests"] if test["status"] == "partial"]
    assert (partial["score"], partial["max-score"], partial["passed"]) == (100, 200, False)


@given(
    st.lists(st.tuples(st.fractions(0, 20, max_denominator=60), st.fractions(0, 1, max_denominator=7)), max_size=20),
    st.sampled_from([1, 10, 100]),
)
def test_whole_numbers_add_up(tests: list[tuple[Fraction, Fraction]], scale: int) -> None:
    def graded(share: Fraction | None) -> Any:
        entries = []
        for index, (most, part) in enumerate(tests):
            won = most * (part if share is None else share)
            status = Status.PASSED if won == most else Status.PARTIAL if won else Status.FAILED
            entries.append(entry(index, status, won, most))
        return written(report(*entries), scale=scale)

    mine, best, worst = graded(None), graded(Fraction(1)), graded(Fraction(0))
    assert mine["max-score"] == best["max-score"] == best["score"] == worst["max-score"]
    assert best["score"] == round(sum((most for most, _ in tests), Fraction(0)) * scale) and worst["score"] == 0


def test_the_scale_is_declared() -> None:
    shown = report(entry(1, Status.PARTIAL, "1/3", 1), entry(2))
    assert (written(shown)["score"], written(shown, scale=1)["score"]) == (233, 2)
    with pytest.raises(UsageError, match="at least 1"):
        written(shown, scale=0)


def test_unfinished_result_is_refused() -> None:
    unfinished = one_of_each()
    exact = unfinished.extra_data.model_copy(update={"complete": False})
    with pytest.raises(UsageError, match="grade it again"):
        written(report_of(unfinished.model_copy(update={"extra_data": exact})))


@pytest.mark.parametrize("name", ["CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL"])
@pytest.mark.parametrize("value", [None, "", " \n", "\u202e"])
def test_every_text_must_be_there(name: str, value: str | None) -> None:
    environ = {key: text for key, text in RUNNER.items() if key != name} | ({} if value is None else {name: value})
    with pytest.raises(UsageError, match=name):
        Identity.from_environment(environ)


def test_older_runners_say_less() -> None:
    given = {key: text for key, text in RUNNER.items() if key not in ("OWNER", "REVIEW_URL", "ASSIGNMENT_TYPE")}
    identity = Identity.from_environment(given)
    assert (identity.owner, identity.assignment_type) == ("ada", "individual")
    assert identity.review == RUNNER["COMMIT_URL"]


def test_tag_and_type_that_the_collector_refuses() -> None:
    with pytest.raises(UsageError, match="submit/"):
        Identity.from_environment(RUNNER | {"SUBMISSION_TAG": "main"})
    with pytest.raises(UsageError, match="may be individual, group, team"):
        Identity.from_environment(RUNNER | {"ASSIGNMENT_TYPE": "bogus"})
    with pytest.raises(ValueError, match="UTC"):
        classroom50(report(entry()), Identity.from_environment(RUNNER), instant="2026-06-01T14:33:11+00:00")


def test_no_hidden_test_in_classroom50() -> None:
    told = json.dumps(written(report_of(one_of_each())))
    assert SECRET not in told and HIDDEN not in told and "A hidden test" not in told and "for staff" not in told
    everything = json.dumps(written(report_of(one_of_each(), hidden=True)))
    assert SECRET not in everything and HIDDEN in everything


@given(TEXTS)
def test_any_text_gives_a_valid_file(text: str) -> None:
    written(report_of(spoiled(one_of_each(), text)))


def test_large_file_loses_words_not_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viva.plugins.ci.classroom50.MOST_BYTES", 1 << 20)
    shown = report(*(entry(index, Status.FAILED, message="x" * 8000) for index in range(600)))
    file = written(shown)
    assert len(file["tests"]) == 600
    assert all(test["message"].endswith("x… (6,900 more characters)") for test in file["tests"])
    monkeypatch.setattr("viva.plugins.ci.classroom50.MOST_BYTES", 10_000)
    with pytest.raises(UsageError, match="larger than"):
        written(shown)
