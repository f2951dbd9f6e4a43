"""CTRF, the common test report format (ctrf.io): one JSON file of tests with a status, points under `extra`."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Final

from viva.formats import escaping
from viva.formats.decimal_points import UNIT, decimal, whole_scores
from viva.plugins.ci.public_view import MESSAGE, Report, ReportedTest

SPEC_VERSION: Final = "0.0.0"


def ctrf(reports: Sequence[Report], *, stopped_ms: int) -> bytes:
    """Write the file of one submission or several.

    Args:
        stopped_ms: when grading ended, in milliseconds since 1970; results do not hold the time of day.
    """
    tests = [entry for report in reports for entry in _tests(report)]
    counts = Counter(entry["status"] for entry in tests)
    took_ms = round(1000 * sum(report.wall_s for report in reports))
    summary = {
        "tests": len(tests),
        **{word: counts[word] for word in ("passed", "failed", "pending", "skipped", "other")},
        "start": max(stopped_ms - took_ms, 0),
        "stop": stopped_ms,
    }
    version = next((report.viva for report in reports if report.viva), "")
    file = {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "generatedBy": f"viva {version}".rstrip(),
        "results": {
            "tool": {"name": "viva", **({"version": version} if version else {})},
            "summary": summary,
            "tests": tests,
            "extra": {"submissions": [_totals(report) for report in reports]},
        },
    }
    return json.dumps(file, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _tests(report: Report) -> list[dict[str, object]]:
    pairs = whole_scores([t.earned for t in report.tests], [t.points for t in report.tests], UNIT)
    return [_test(report, test, *pair) for test, pair in zip(report.tests, pairs, strict=True)]


def _test(report: Report, test: ReportedTest, won: int, most: int) -> dict[str, object]:
    entry: dict[str, object] = {
        "name": test.name,
        "status": test.status.ctrf,
        "duration": round(1000 * test.wall_s),
        "suite": [report.submission, report.assignment],
        "rawStatus": test.status.value,
    }
    if message := escaping.terminal(test.message, **MESSAGE):
        entry["message"] = message
    if test.tags:
        entry["tags"] = list(test.tags)
    if test.cases:
        entry["steps"] = [{"name": case.name, "status": case.status.ctrf} for case in test.cases]
    score = {} if test.status.is_open else {"score": decimal(won)}
    return entry | {"extra": {**score, "max_score": decimal(most), "test_id": test.test_id}}


def _totals(report: Report) -> dict[str, object]:
    totals = report.totals
    return {
        "submission": report.submission,
        "score": decimal(round(totals.earned * UNIT)),
        "max_score": decimal(round(totals.points * UNIT)),
        "still_open": decimal(round(totals.still_open * UNIT)),
        "tests_not_shown": report.left_out,
        "isolation": report.tier,
    }
