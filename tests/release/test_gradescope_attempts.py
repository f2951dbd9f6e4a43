"""Rate limits from what the platform tells of earlier submissions, which may be anything."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gradescope_course import RIGHT, Platform, checked, write_course
from viva.plugins.release.gradescope import fallback_results
from viva.plugins.release.gradescope.rate_limit import NOT_GRADED, Refused, refused, span_in_words
from viva.plugins.release.gradescope.submission_metadata import Metadata, PreviousSubmission

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = 3600.0


def history(*hours_ago: float, errors: Iterable[int] = (), results: dict[str, Any] | None = None) -> Metadata:
    """Submissions so long before this one; those with an index in `errors` failed."""
    rows: list[dict[str, Any]] = [
        {
            "submission_time": (NOW - timedelta(hours=ago)).isoformat(),
            "score": 1.0,
            "autograder_error": index in set(errors),
        }
        for index, ago in enumerate(hours_ago)
    ]
    if rows and results is not None:
        rows[-1]["results"] = results
    return Metadata.of({"created_at": NOW.isoformat(), "previous_submissions": rows})


@pytest.mark.parametrize(
    ("hours_ago", "attempts", "is_refused"),
    [
        ((), 1, False),
        ((1,), 1, True),
        ((23.99,), 1, True),
        ((24,), 1, False),  # a day later it is another day
        ((48, 30, 25), 1, False),
        ((3, 2), 3, False),
        ((3, 2, 1), 3, True),
        ((1, 3, 2), 3, True),  # in any order
        ((30, 3, 2), 3, False),
        ((25, 20, 1), 2, True),  # 25 and 20 were graded; 1 was too, for 25 was more than a day before this one
        ((30, 26, 2), 2, False),
        ((47, 24.5, 23.5), 2, False),  # the first fell out before the last was made
        ((23, 22, 21, 20, 1), 2, True),  # those after the second used up nothing
        ((30, 20, 10), 1, False),  # 20 and 10 were refused for 30, and 30 is out
        ((-1,), 1, False),  # made after this one: this is a rerun
    ],
)
def test_attempt_beyond_the_rate_is_refused(hours_ago: tuple[float, ...], attempts: int, is_refused: bool) -> None:
    assert (refused(history(*hours_ago), attempts, 24 * HOUR) is not None) is is_refused


def test_not_refused_without_limit() -> None:
    assert refused(history(1, 1, 1), None, HOUR) is None
    assert refused(Metadata(None, history(1).previous), 1, 24 * HOUR) is None


def test_failed_attempts_do_not_count() -> None:
    assert refused(history(3, 2, errors=[0, 1]), 1, 24 * HOUR) is None
    assert refused(history(3, 2, errors=[1]), 1, 24 * HOUR) is not None
    ours = json.loads(fallback_results.failure_results("we failed"))
    assert refused(history(3, results=ours), 1, 24 * HOUR) is None


def test_failure_in_between() -> None:
    rows = [
        PreviousSubmission(NOW - timedelta(hours=3), 4.0),
        PreviousSubmission(NOW - timedelta(hours=2), 0.0, is_error=True),
    ]
    refusal = refused(Metadata(NOW, tuple(rows)), 1, 24 * HOUR)
    assert isinstance(refusal, Refused) and refusal.last is rows[0]
    assert checked(fallback_results.repeated_results(refusal.last, refusal.note))["score"] == 4.0


def test_note_of_refusal() -> None:
    refusal = refused(history(20, 3), 2, 24 * HOUR)
    assert isinstance(refusal, Refused)
    assert "2 submissions are graded in 1 day" in refusal.note and "2026-03-01 16:00:00 UTC" in refusal.note
    assert [span_in_words(s) for s in (60, 90, 3600, 36 * 3600, 7 * 86_400)] == [
        *("1 minute", "90 seconds", "1 hour", "36 hours", "7 days")
    ]


@given(st.lists(st.integers(1, 200), max_size=12), st.integers(1, 4))
def test_graded_per_window(hours: list[int], attempts: int) -> None:
    """Every submission of a history is decided in turn, each with those before it, as the platform does."""
    times = sorted(NOW + timedelta(hours=hour) for hour in hours)
    graded: list[datetime] = []
    for index, at in enumerate(times):
        before = tuple(PreviousSubmission(earlier) for earlier in times[:index] if earlier < at)
        recent = [earlier for earlier in graded if earlier < at and at - earlier < timedelta(hours=24)]
        is_refused = refused(Metadata(at, before), attempts, 24 * HOUR) is not None
        if len(set(times)) == len(times):  # submissions of one instant cannot know of each other
            assert is_refused == (len(recent) >= attempts)
        if not is_refused:
            graded.append(at)


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"null", b"[1]", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"created_at": NaN}'),
        json.dumps({"created_at": 5, "previous_submissions": [None, 3, {"submission_time": {}}]}).encode(),
        json.dumps({"created_at": "0001-01-01T00:00:00+14:00", "previous_submissions": {"a": 1}}).encode(),
    ],
)
def test_invalid_metadata(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "metadata.json").write_bytes(data)
    assert Metadata.read(tmp_path / "metadata.json") == Metadata()
    assert Metadata.read(tmp_path / "missing.json") == Metadata()


KEYS = [
    *("score", "max_score", "output", "tests", "extra_data", "leaderboard", "name", "value", "order", "visibility"),
    *("status", "tags", "number", "output_format", "autograder_error", "submission_time", "results", "created_at"),
    "previous_submissions",
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=30,
)


@given(ANYTHING)
def test_any_results_come_back_valid(given_back: Any) -> None:
    metadata = Metadata.of(given_back)
    assert all(isinstance(previous, PreviousSubmission) for previous in metadata.previous)
    results = given_back if isinstance(given_back, dict) else None
    again = fallback_results.repeated_results(PreviousSubmission(NOW, 2.5, results=results), f"{NOT_GRADED} because.")
    assert checked(again)["output"].startswith(NOT_GRADED)


def test_last_results_with_note() -> None:
    last = {
        "score": 3.5,
        "output": f"{NOT_GRADED} an older note.\nA line.",
        "tests": [{"name": "a", "score": 3.5, "max_score": 4, "visibility": "hidden", "unknown": 1, "number": 7}],
        "leaderboard": [{"name": "t", "value": float("nan")}, {"name": "t", "value": 2, "order": "asc"}],
        "extra_data": {"deep": [1.5]},
    }
    kept = checked(
        fallback_results.repeated_results(PreviousSubmission(NOW, 1.0, results=last), f"{NOT_GRADED} a newer note.")
    )
    assert kept["output"] == f"{NOT_GRADED} a newer note.\nA line."
    assert kept["score"] == 3.5 and kept["extra_data"] == {"deep": [1.5]}
    assert kept["tests"] == [{"name": "a", "score": 3.5, "max_score": 4.0, "visibility": "hidden"}]
    assert kept["leaderboard"] == [{"name": "t", "value": 2, "order": "asc"}]


def test_over_the_limit(tmp_path: Path) -> None:
    """The whole way, also where the host has no isolation: the last results come back."""
    course = write_course(tmp_path / "course", settings="release: {gradescope: {attempts: 2, per: 1h}}\n")
    platform = Platform.of(course, tmp_path / "root")
    rows = [
        {"submission_time": f"2026-03-01T11:{minute}:00Z", "score": 5, "autograder_error": False, "results": results}
        for minute, results in ((20, None), (40, {"score": 5, "tests": [{"name": "old", "score": 5, "max_score": 6}]}))
    ]
    ran = platform.graded(RIGHT, {"created_at": "2026-03-01T13:00:00+01:00", "previous_submissions": rows})
    assert ran.results["score"] == 5 and ran.results["tests"][0]["name"] == "old"
    assert "2 submissions are graded in 1 hour" in ran.results["output"] and "13:20:00" in ran.results["output"]
