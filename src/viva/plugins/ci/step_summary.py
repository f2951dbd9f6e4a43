"""The page that GitHub shows for a step (GITHUB_STEP_SUMMARY); it also fits a merge request's comment or a release.

Tables come first, then messages; what does not fit is left out from the end, and the page says so. Messages are in code
blocks whose fence is longer than any in the text; everything else is escaped for Markdown.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from viva.formats import escaping
from viva.formats.decimal_points import show
from viva.model import Status
from viva.plugins.ci.public_view import MESSAGE, Report, ReportedTest

MOST_BYTES: Final = 900_000
"""GitHub refuses a step's page above 1 MiB; other steps of the action may add to it."""


def summary(reports: Sequence[Report]) -> bytes:
    """Write the page of one submission or several."""
    page = _Page()
    if len(reports) > 1:
        page.add(_class_table(reports))
    for report in reports:
        page.add(_head(report))
    for report in reports:
        page.add(_rows(report))
    for report in reports:
        page.add_each(_details(report))
    return page.bytes()


class _Page:
    """Blocks of Markdown up to the maximum size of a page."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._bytes_left = MOST_BYTES
        self._left_out = 0

    def add(self, block: str) -> None:
        """Add a block, or as many of its first lines as fit."""
        self.add_each([block])

    def add_each(self, blocks: Iterable[str]) -> None:
        """Add independent blocks, each whole or not at all; a table that is too long loses its last rows."""
        for block in blocks:
            data = f"{block}\n\n".encode()
            if len(data) > self._bytes_left and block.startswith("|"):
                data = data[: self._bytes_left].rpartition(b"\n")[0] + b"\n\n"
                self._left_out += 1
            elif len(data) > self._bytes_left:
                self._left_out += 1
                continue
            self._blocks.append(data)
            self._bytes_left -= len(data)

    def bytes(self) -> bytes:
        """Return the page."""
        if self._left_out:
            self._blocks.append(b"_More does not fit on this page; the results file holds everything._\n")
        return b"".join(self._blocks)


def _class_table(reports: Sequence[Report]) -> str:
    rows = []
    for report in reports:
        totals = report.totals
        points = " | ".join(map(show, (totals.earned, totals.graded_points, totals.still_open)))
        rows.append(f"| {escaping.markdown(report.submission)} | {points} |")
    return "\n".join(["| submission | score | of | pending |", "|---|---:|---:|---:|", *rows])


def _head(report: Report) -> str:
    lines = [f"## {escaping.markdown(report.title)}: {escaping.markdown(report.total)}"]
    if not report.complete:
        lines.append("**Grading was ended in the middle; this result is not complete.**")
    if report.hidden_line:
        lines.append(escaping.markdown(report.hidden_line))
    isolation = f"isolation {report.tier}" + (f"; missing: {', '.join(report.missing)}" if report.missing else "")
    lines.append(f"<sub>{escaping.markdown(report.assignment)}, {escaping.markdown(isolation)}</sub>")
    return "\n\n".join(lines)


def _rows(report: Report) -> str:
    rows = [
        f"| {test.status.symbol} {test.status.word} | {_points(test)} | {escaping.markdown(test.number)} "
        f"| {escaping.markdown(test.title)} |"
        for test in report.tests
    ]
    return "\n".join(["| result | points | question | test |", "|---|---:|---|---|", *rows])


def _details(report: Report) -> Iterable[str]:
    if report.notes.strip():
        yield f"### About the whole submission\n\n{escaping.markdown_block(report.notes, **MESSAGE)}"
    if report.environment:
        differences = "\n".join(
            f"- {escaping.markdown(escaping.line(difference))}" for difference in report.environment[:50]
        )
        yield f"### Written for another environment\n\n{differences}"
    for test in report.tests:
        if test.status is not Status.PASSED and test.message.strip():
            yield (
                f"<details><summary>{test.status.symbol} {test.status.word}: {escaping.html(test.name)}</summary>\n\n"
                f"{escaping.markdown_block(test.message, **MESSAGE)}\n\n</details>"
            )


def _points(test: ReportedTest) -> str:
    return f"open / {show(test.points)}" if test.status.is_open else f"{show(test.earned)} / {show(test.points)}"
