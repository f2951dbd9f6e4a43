"""Write results in a format that other programs read."""

import datetime
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from viva.formats.atomic_write import write_atomically
from viva.formats.results_json import load_results
from viva.model.errors import UsageError
from viva.plugins.ci.public_view import Report, report_of

OF_SEVERAL: Final = ("junit", "ctrf", "summary", "annotations")
"""Formats that hold any number of results."""
OF_ONE: Final = ("classroom50", "outputs")
"""Formats that hold one result."""


def exported(wanted: str, files: Sequence[Path], *, hidden: bool, scale: int) -> bytes:
    """Return results in another format.

    Args:
        wanted: one of the formats.
        files: the files with the results.
        hidden: whether names and points of tests that students cannot see yet are included.
        scale: for classroom50, which has whole numbers only: how many make one point.

    Raises:
        UsageError: a result cannot be read or does not fit the format.
    """
    if wanted in OF_ONE and len(files) != 1:
        raise UsageError(f"--to {wanted} takes one result, and {len(files)} were given.")
    reports = reports_of(files, hidden=hidden)
    writers: dict[str, Callable[[], bytes]] = {
        "junit": lambda: _junit(reports),
        "ctrf": lambda: _ctrf(reports, files),
        "summary": lambda: _summary(reports),
        "annotations": lambda: _annotations(reports),
        "classroom50": lambda: _classroom50(reports[0], scale),
        "outputs": lambda: _outputs(reports[0]),
    }
    return writers[wanted]()


def reports_of(files: Sequence[Path], *, hidden: bool) -> list[Report]:
    """Return what may be shown of results.

    Raises:
        UsageError: one cannot be read.
    """
    return [report_of(load_results(file), hidden=hidden) for file in files]


def write_export(path: Path, data: bytes, *, hidden: bool) -> None:
    """Write what was exported to a file; with names of hidden tests, only its owner can read it.

    Raises:
        UsageError: the file cannot be written.
    """
    write_atomically(path, data, mode=0o600 if hidden else None)


def _junit(reports: Sequence[Report]) -> bytes:
    from viva.plugins.ci.junit import junit

    return junit(reports)


def _ctrf(reports: Sequence[Report], files: Sequence[Path]) -> bytes:
    from viva.plugins.ci.ctrf import ctrf

    return ctrf(reports, stopped_ms=max(file.stat().st_mtime_ns for file in files) // 1_000_000)


def _summary(reports: Sequence[Report]) -> bytes:
    from viva.plugins.ci.step_summary import summary

    return summary(reports)


def _annotations(reports: Sequence[Report]) -> bytes:
    from viva.plugins.ci.workflow_commands import annotations

    return annotations(reports).encode()


def _classroom50(report: Report, scale: int) -> bytes:
    from viva.plugins.ci.classroom50 import Identity, classroom50

    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return classroom50(report, Identity.from_environment(os.environ), instant=now, scale=scale)


def _outputs(report: Report) -> bytes:
    from viva.plugins.ci.step_outputs import outputs

    return outputs(report).encode()
