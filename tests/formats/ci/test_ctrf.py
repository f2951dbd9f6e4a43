"""CTRF: what its schema demands, closed objects included, and points that add up."""

import json
from typing import Any, Final

import jsonschema
from hypothesis import given

from tests.support.ci_results import HIDDEN, SECRET, TEXTS, one_of_each, spoiled
from viva.plugins.ci.ctrf import ctrf
from viva.plugins.ci.public_view import report_of

COUNT: Final = {"type": "integer", "minimum": 0}
STATUS: Final = {"enum": ["passed", "failed", "skipped", "pending", "other"]}
NAME: Final = {"type": "string", "minLength": 1}
TEXT: Final = {"type": "string"}


def closed(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": required | optional,
        "additionalProperties": False,
    }


# The rules of ctrf.schema.json for the keys that are written here; its objects allow no others, but for `extra`.
EXTRA: Final = {"type": "object"}
STEP: Final = closed({"name": TEXT, "status": STATUS}, extra=EXTRA)
TEST: Final = closed(
    {"name": NAME, "status": STATUS, "duration": {"type": "integer"}},
    suite={"type": "array", "minItems": 1, "items": TEXT},
    message=TEXT,
    rawStatus=TEXT,
    tags={"type": "array", "items": TEXT},
    steps={"type": "array", "items": STEP},
    extra=EXTRA,
)
COUNTS: Final = ("tests", "passed", "failed", "pending", "skipped", "other", "start", "stop")
SCHEMA: Final = closed(
    {
        "reportFormat": {"const": "CTRF"},
        "specVersion": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
        "results": closed(
            {
                "tool": closed({"name": NAME}, version=TEXT),
                "summary": closed(dict.fromkeys(COUNTS, COUNT)),
                "tests": {"type": "array", "items": TEST},
            },
            extra=EXTRA,
        ),
    },
    generatedBy=TEXT,
)


def check(data: bytes) -> Any:
    file = json.loads(data, parse_constant=lambda word: 1 / 0)
    jsonschema.Draft202012Validator(SCHEMA).validate(file)
    summary, tests = file["results"]["summary"], file["results"]["tests"]
    assert summary["tests"] == len(tests)
    for word in STATUS["enum"]:
        assert summary[word] == sum(test["status"] == word for test in tests)
    return file


def test_statuses_points_and_times() -> None:
    file = check(ctrf([report_of(one_of_each())], stopped_ms=1_780_000_000_000))
    tests = {test["rawStatus"]: test for test in file["results"]["tests"]}
    assert {raw: test["status"] for raw, test in tests.items()} == {
        "passed": "passed",
        **dict.fromkeys(["partial", "failed", "error", "timeout"], "failed"),
        "skipped": "skipped",
        "deferred": "pending",
        "needs_review": "pending",
        "grader_error": "other",
    }
    assert tests["partial"]["extra"] == {"score": 1.0, "max_score": 2.0, "test_id": "test_it.py::test_20"}
    assert [step["status"] for step in tests["partial"]["steps"]] == ["passed", "failed"]
    assert "score" not in tests["deferred"]["extra"] and tests["passed"]["duration"] == 250
    assert file["results"]["summary"]["start"] == 1_780_000_000_000 - 1400, "without the 0.1 s of hidden tests"
    (totals,) = file["results"]["extra"]["submissions"]
    assert (totals["score"], totals["max_score"], totals["still_open"]) == (3.0, 18.0, 6.0)
    assert totals["tests_not_shown"] == 1


def test_no_hidden_test_in_ctrf() -> None:
    data = ctrf([report_of(one_of_each())], stopped_ms=0).decode()
    assert SECRET not in data and HIDDEN not in data and "A hidden test" not in data and "for staff" not in data


@given(TEXTS)
def test_any_text_gives_a_valid_file(text: str) -> None:
    check(ctrf([report_of(spoiled(one_of_each(), text))] * 2, stopped_ms=0))
