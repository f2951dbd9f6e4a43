"""Notes which promise held in which tier; VIVA_TEST_TABLE names a file for the table."""

import os
import re
from collections import defaultdict
from pathlib import Path

import pytest

from viva.model import Tier

_RUN: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
"""Test -> tier -> outcomes of its cases."""
_TIER = re.compile(r"\[(?:.*-)?(T\d)\b")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A case counts once: by its call, or by what kept it from being called."""
    if "/conformance/" not in report.nodeid or (report.when != "call" and report.outcome == "passed"):
        return
    test = report.nodeid.partition("[")[0].rpartition("/")[2]
    tier = _TIER.search(report.nodeid)
    if tier:
        _RUN[test][tier[1]].add(report.outcome)


def pytest_terminal_summary() -> None:
    """The table, where one is asked for."""
    if path := os.environ.get("VIVA_TEST_TABLE"):
        Path(path).write_text(_table(), "utf-8")


def _table() -> str:
    """One line for each promise: its test's name in words, and what was seen in each tier."""
    tiers = [str(tier) for tier in Tier]
    lines = [f"| promise | {' | '.join(tiers)} |", f"|---|{'---|' * len(tiers)}"]
    for test, seen in _RUN.items():
        words = test.rpartition("::test_")[2].replace("_", " ")
        lines.append(f"| {words} | {' | '.join(_cell(seen.get(tier, set())) for tier in tiers)} |")
    return "\n".join(lines) + "\n"


def _cell(outcomes: set[str]) -> str:
    if "failed" in outcomes:
        return "**broken**"
    return "held" if "passed" in outcomes else "left out" if outcomes else ""
