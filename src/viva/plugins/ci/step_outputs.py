"""Outputs of a workflow's step: lines of `key=value` for GITHUB_OUTPUT or for a GitLab dotenv report."""

import re
from typing import Final

from viva.formats.decimal_points import show
from viva.plugins.ci.public_view import Report

_NOT_A_WORD: Final = re.compile(r"[^A-Za-z0-9.,-]")


def outputs(report: Report) -> str:
    """Write the totals, one on each line; no line has text that a student could have made."""
    totals = report.totals
    state = "grader-error" if report.has_grader_error else "graded"
    values = {
        "score": show(totals.earned),
        "points": show(totals.points),
        "still_open": show(totals.still_open),
        "percent": str(int(100 * totals.earned / totals.graded_points)) if totals.graded_points else "100",
        "tests_not_shown": str(report.left_out),
        "tier": _NOT_A_WORD.sub("", report.tier) or "none",
        "state": state,
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())
