"""`viva export RESULT… --to FORMAT`: write results for other programs: CI systems, classrooms, pages."""

import datetime
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from viva.formats.atomic_write import write_atomically
from viva.formats.folders import results_below
from viva.model.errors import UsageError

if TYPE_CHECKING:  # imported only when there is something to export
    from viva.formats.ci.public_view import Report

_SEVERAL: Final = ("junit", "ctrf", "summary", "annotations")
_ONE: Final = ("classroom50", "outputs")


@click.command("export")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RESULT…")
@click.option(
    "--to", "wanted", required=True, type=click.Choice([*_SEVERAL, *_ONE]),
    help="junit, ctrf: reports for CI systems. summary: a page in Markdown. annotations: GitHub's marks at lines of "
    "code. outputs: key=value lines. classroom50: its result.json.",
)  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Where to write (default: here).")
@click.option(
    "--hidden", is_flag=True,
    help="With names and points of tests that students cannot see yet: for files that no student can read.",
)  # fmt: skip
@click.option(
    "--scale", type=click.IntRange(1, 10_000), default=100, show_default=True, metavar="N",
    help="For classroom50, which has whole numbers only: how many make one point.",
)  # fmt: skip
def command(paths: tuple[Path, ...], wanted: str, output: Path | None, hidden: bool, scale: int) -> int:
    """Write results (files, or folders that `viva grade -o` wrote) in a format that other programs read.

    Only what students may see is exported: visible tests with the messages that their results show.

    Exit status: 0 exported, 1 a result cannot be read or does not fit the format.
    """
    from viva.formats.ci.public_view import report_of
    from viva.formats.results_json import load_results

    files = [file for path in paths for file in _files(path)]
    if wanted in _ONE and len(files) != 1:
        raise UsageError(f"--to {wanted} takes one result, and {len(files)} were given.")
    reports = [report_of(load_results(file), hidden=hidden) for file in files]
    data = _write(wanted, reports, files, scale)
    if output:
        write_atomically(output, data)
    else:
        click.echo(data, nl=False)
    return 0


def _files(path: Path) -> list[Path]:
    return [path / below for below in results_below(path)] if path.is_dir() else [path]


def _write(wanted: str, reports: Sequence["Report"], files: Sequence[Path], scale: int) -> bytes:
    writers: dict[str, Callable[[], bytes]] = {
        "junit": lambda: _junit(reports),
        "ctrf": lambda: _ctrf(reports, files),
        "summary": lambda: _summary(reports),
        "annotations": lambda: _annotations(reports),
        "classroom50": lambda: _classroom50(reports[0], scale),
        "outputs": lambda: _outputs(reports[0]),
    }
    return writers[wanted]()


def _junit(reports: Sequence["Report"]) -> bytes:
    from viva.formats.ci.junit import junit

    return junit(reports)


def _ctrf(reports: Sequence["Report"], files: Sequence[Path]) -> bytes:
    from viva.formats.ci.ctrf import ctrf

    return ctrf(reports, stopped_ms=max(file.stat().st_mtime_ns for file in files) // 1_000_000)


def _summary(reports: Sequence["Report"]) -> bytes:
    from viva.formats.ci.step_summary import summary

    return summary(reports)


def _annotations(reports: Sequence["Report"]) -> bytes:
    from viva.formats.ci.workflow_commands import annotations

    return annotations(reports).encode()


def _classroom50(report: "Report", scale: int) -> bytes:
    from viva.formats.ci.classroom50 import Identity, classroom50

    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return classroom50(report, Identity.from_environment(os.environ), instant=now, scale=scale)


def _outputs(report: "Report") -> bytes:
    from viva.formats.ci.step_outputs import outputs

    return outputs(report).encode()
