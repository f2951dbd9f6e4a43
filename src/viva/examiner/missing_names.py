"""Says why names are missing: their cell failed, they are inside a function, or the work is for another assignment."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from viva.config import Assignment, load_course
from viva.examiner.boxes.load import LoadReport
from viva.model import Submission, untrusted
from viva.model.errors import CourseError, MissingName, NotAnswered, StudentRaised
from viva.submissions.code_names import names_in_text
from viva.submissions.code_of_names import LINE_END
from viva.submissions.decode_text import decode
from viva.submissions.recognize import find_better_fit

MOST_NAMED: Final = 3
"""Names in one note."""


def explained(error: MissingName, submission: Submission, report: LoadReport) -> MissingName:
    """Return the error with its cause: a part that defines the name failed, or does so inside a function or a class."""
    head = error.name.partition(".")[0]
    for where, text, failure in (*_cells(report), *_statements(submission, report)):
        if head in names_in_text(text):
            return MissingName(error.name, why=f"{where} defines it and did not run to its end{failure}")
    if not isinstance(error, NotAnswered) and (where := _inside(submission, report, head)):
        return MissingName(error.name, why=f"{where} defines it inside a function or a class")
    return error


def nothing_asked_for(
    assignment: Assignment, submission: Submission, report: LoadReport, sought: Mapping[str, bool]
) -> str:
    """Return a note if a submission loads without an error and has none of the functions asked for; else "".

    Args:
        assignment: what it was graded as.
        submission: the submission.
        report: how loading went.
        sought: the functions that tests looked for, and whether they are there.
    """
    if not sought or any(sought.values()) or not report.loaded or report.problems:
        return ""
    some = _listed(list(sought))
    note = f"This was graded as “{assignment.title}”, and your submission defines none of the names asked for"
    with suppress(CourseError):
        if other := find_better_fit(load_course(assignment.graders.parents[1]), assignment.name, submission):
            theirs = f"{_listed(other[1])} of “{other[0].title}”"
            return f"{note} (such as {some}), but {theirs}: is it for that assignment?"
    return f"{note} (such as {some})."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:MOST_NAMED])


def _inside(submission: Submission, report: LoadReport, name: str) -> str:
    """Return where a function or class of this name is defined inside another one; empty if it is not."""
    pattern = re.compile(rf"^[ \t]{{1,80}}(?:(?:async {{1,8}})?def|class) {{1,8}}{re.escape(name)}\b", re.M)
    cells = [(f"cell {c.number} of {path}", c.source) for path, n in report.notebooks.items() for c in n.code]
    modules = [(file.path, decode(file.data)) for file in submission.files if file.path.endswith(".py")]
    for where, text in (*cells, *modules):
        if found := pattern.search(text):
            line = text.count("\n", 0, found.start()) + 1
            return f"{where} line {line}" if where.endswith(".py") else f"{where}, line {line}"
    return ""


def _cells(report: LoadReport) -> Iterator[tuple[str, str, str]]:
    """Yield place, source and failure of each cell that did not run to its end."""
    for path, cells in report.cells.items():
        sources = {cell.number: cell.source for cell in report.notebooks[path].code}
        for cell in cells:
            number, raised = untrusted.number(cell.get("number")), untrusted.table(cell.get("raised"))
            if untrusted.text(cell.get("status"), 20) == "ok" or number not in sources:
                continue
            failure = f": {StudentRaised.from_wire(raised)}" if raised else ""
            yield f"cell {number} of {path}", sources[number], failure.rstrip(".")


def _statements(submission: Submission, report: LoadReport) -> Iterator[tuple[str, str, str]]:
    """Yield place, source and failure of each statement of a module that raised."""
    modules = {file.path: file.data for file in submission.files if file.path.endswith(".py")}
    for problem in report.problems:
        path, _, line = problem.where.rpartition(" line ")
        if path in modules and line.isdecimal():
            yield problem.where, _statement_at(decode(modules[path]), int(line)), f": {problem.text}".rstrip(".")


def _statement_at(text: str, line: int) -> str:
    """Return the lines of the top-level statement that holds a line, from 1."""
    lines = LINE_END.split(text)
    begin = end = min(line, len(lines)) - 1
    while begin > 0 and _continues(lines[begin]):
        begin -= 1
    while end + 1 < len(lines) and (_continues(lines[end + 1]) or lines[end].startswith("@")):
        end += 1
    return "\n".join(lines[max(begin, 0) : end + 1])


def _continues(line: str) -> bool:
    return not line.strip() or line[0] in " \t)]}#"
