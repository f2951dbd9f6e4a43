"""Say why a name is missing that the submission's text defines: its cell or statement did not run to its end."""

import re
from collections.abc import Iterator

from viva.examiner.boxes.load import LoadReport
from viva.model import Submission, untrusted
from viva.model.errors import MissingName, StudentRaised
from viva.submissions.decode_text import decode


def explained(error: MissingName, submission: Submission, report: LoadReport) -> MissingName:
    """Return the error with its cause, if a part of the submission that failed defines the name; else as it is."""
    head = error.name.partition(".")[0]
    for where, text, failure in (*_cells(report), *_statements(submission, report)):
        if _defines(text, head):
            return MissingName(error.name, why=f"{where} defines it and did not run to its end{failure}")
    return error


def _defines(text: str, name: str) -> bool:
    """Return whether a text defines a name at its top level; the text may be no valid Python."""
    escaped = re.escape(name)
    return (
        re.search(rf"^(?:(?:async\s+)?def|class)\s+{escaped}\b|^{escaped}\s*(?::[^=\n]*)?=(?!=)", text, re.M)
        is not None
    )


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
    lines = text.splitlines()
    begin = end = min(line, len(lines)) - 1
    while begin > 0 and _continues(lines[begin]):
        begin -= 1
    while end + 1 < len(lines) and (_continues(lines[end + 1]) or lines[end].startswith("@")):
        end += 1
    return "\n".join(lines[max(begin, 0) : end + 1])


def _continues(line: str) -> bool:
    return not line.strip() or line[0] in " \t)]}#"
