"""results.json where there is no score: the autograder failed, or the last results are shown again."""

import json
import math
from collections.abc import Mapping
from typing import Final

from viva.formats import escaping
from viva.plugins.release.gradescope.submission_metadata import PreviousSubmission, finite

FAILED: Final = "viva_failed"
"""The key of `extra_data` in results that say that grading failed."""
STUDENT_SENTENCE: Final = (
    "The autograder could not grade this submission, and this is not your fault. Your work is stored; "
    "your instructor can read what happened and run the autograder again."
)
_MOST_TESTS: Final = 5000
_MOST_CHARACTERS: Final = 200_000
_MOST_LEVELS: Final = 40
_FORMATS: Final = ("text", "html", "simple_format", "md", "ansi")
_VISIBILITIES: Final = ("visible", "hidden", "after_due_date", "after_published")
_ALLOWED: Final[Mapping[str, tuple[str, ...]]] = {
    "output_format": _FORMATS,
    "test_output_format": _FORMATS,
    "test_name_format": _FORMATS,
    "name_format": _FORMATS,
    "visibility": _VISIBILITIES,
    "stdout_visibility": _VISIBILITIES,
    "status": ("passed", "failed"),
    "order": ("asc", "desc"),
}
_TOP_FIELDS: Final = ("output_format", "test_output_format", "test_name_format", "visibility", "stdout_visibility")
_TEST_FIELDS: Final = ("name_format", "output_format", "status", "visibility")


def failure_results(details: str, output: str = STUDENT_SENTENCE) -> bytes:
    """Return the results.json that says that nothing was graded.

    Args:
        details: what went wrong, for instructors; students do not see `extra_data`.
        output: what students read.
    """
    return _bytes(
        {
            "score": 0,
            "output": escaping.terminal(output),
            "output_format": "text",
            "visibility": "visible",
            "stdout_visibility": "hidden",
            "extra_data": {FAILED: escaping.terminal(details, characters=20_000, lines=400)},
            "tests": [],
        }
    )


def repeated_results(last: PreviousSubmission, note: str) -> bytes:
    """Return the results of the last submission, with a note above them.

    The platform returns what was once written, perhaps with its own changes. Documented fields are kept where they
    have the documented type; the rest is left out.
    """
    given = last.results or {}
    kept = _allowed_values(given, _TOP_FIELDS)
    before = given.get("output")
    lines = _text(before).split("\n") if isinstance(before, str) and before else []
    kept["output"] = "\n".join([note, *(line for line in lines if not line.startswith(note.split(":")[0]))])
    rows = given.get("tests")
    tests = [_test(row) for row in rows[:_MOST_TESTS] if isinstance(row, dict)] if isinstance(rows, list) else []
    kept["tests"] = tests
    score = finite(given.get("score"))
    if score is None and not any("score" in test for test in tests):
        score = last.score or 0.0
    if score is not None:
        kept["score"] = score
    leaders = given.get("leaderboard")
    kept["leaderboard"] = [x for row in leaders if (x := _leader(row))] if isinstance(leaders, list) else []
    kept |= _extra(given)
    return _bytes(kept)


def _test(row: Mapping[str, object]) -> dict[str, object]:
    kept = _allowed_values(row, _TEST_FIELDS) | _extra(row)
    kept |= {key: number for key in ("score", "max_score") if (number := finite(row.get(key))) is not None}
    kept |= {key: _text(value) for key in ("name", "number", "output") if isinstance(value := row.get(key), str)}
    if isinstance(tags := row.get("tags"), list):
        kept["tags"] = [_text(tag) for tag in tags[:100] if isinstance(tag, str)]
    return kept


def _leader(row: object) -> dict[str, object] | None:
    if not isinstance(row, dict) or not isinstance(row.get("name"), str):
        return None
    value = row.get("value")
    if isinstance(value, str):
        value = _text(value)
    elif finite(value) is None:
        return None
    return {"name": _text(row["name"]), "value": value, **_allowed_values(row, ("order",))}


def _allowed_values(given: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, object]:
    return {key: given[key] for key in keys if isinstance(given.get(key), str) and given[key] in _ALLOWED[key]}


def _extra(given: Mapping[str, object]) -> dict[str, object]:
    data = given.get("extra_data")
    return {"extra_data": data} if isinstance(data, dict) and _is_json(data) else {}


def _is_json(value: object) -> bool:
    """Return whether the value can be written: finite numbers (Python reads others too), and not too deeply nested."""
    pending = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        if depth > _MOST_LEVELS or (isinstance(item, float) and not math.isfinite(item)):
            return False
        below = item.values() if isinstance(item, dict) else item if isinstance(item, list) else []
        pending += [(inner, depth + 1) for inner in below]
    return True


def _text(value: str) -> str:
    """Return the text without surrogates, which cannot be written as UTF-8."""
    return value[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()


def _bytes(results: dict[str, object]) -> bytes:
    return json.dumps(results, indent=1, allow_nan=False).encode() + b"\n"
