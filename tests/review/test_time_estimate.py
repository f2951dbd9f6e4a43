"""How fast someone marks, from when answers were finished."""

import pytest

from viva.review.time_estimate import seconds_per_answer, time_left


def at(*seconds: float) -> list[str]:
    """Moments of one morning."""
    return [f"2026-12-01T{9 + int(s) // 3600:02}:{int(s) // 60 % 60:02}:{s % 60:09.6f}+00:00" for s in seconds]


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        ([], None),
        (at(0, 30, 60), None),  # two gaps
        (at(0, 30, 60, 90), 30),
        (at(90, 0, 60, 30), 30),
        (at(0, 10, 40, 140), 30),
        (at(0, 10, 40, 140, 260), 65),
        (at(0, 30, 60, 90, 90, 90, 90), 30),  # a group of answers is one decision
        (at(0, 30, 630, 5000, 5030), 30),  # ten minutes count, a break does not
        (at(0, 30, 630.5, 5000, 5030), None),
        (["2026-12-01T09:00:00", "2026-12-01T09:01:00Z", "2026-12-01T10:02:00+01:00", "2026-12-01T09:03:00"], 60),
    ],
)
def test_seconds_per_answer(times: list[str], seconds: float | None) -> None:
    assert seconds_per_answer(times) == seconds


@pytest.mark.parametrize(
    ("remaining", "seconds", "text"),
    [
        (50, None, ""),
        (0, 30.0, ""),
        (1, 20.0, "less than a minute"),
        (2, 30.0, "about 1 min"),
        (50, 30.0, "about 25 min"),
        (119, 30.0, "about 1 h"),
        (160, 30.0, "about 1 h 20 min"),
        (2000, 61.0, "about 33 h 55 min"),
    ],
)
def test_time_left(remaining: int, seconds: float | None, text: str) -> None:
    assert time_left(remaining, seconds) == text
