"""Cells of an otter master notebook: solutions are removed, and cells of tests become a test file."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pprint import pformat
from typing import Any, Final

import yaml

from viva.plugins.suites.importing.student_notebook import Cell, read_cell_source
from viva.plugins.suites.otter.otter_files import OtterError

PROMPT: Final = "..."
_ASSIGNED: Final = re.compile(r"(\s*[\w.\[\]'\", ]{1,200}?\s*=)(?!=)")
_BEGIN: Final = re.compile(r"(\s*)# BEGIN SOLUTION( NO PROMPT)?")
_BEGIN_IGNORE: Final = re.compile(r"\s*#\s*BEGIN\s*IGNORE\s*", re.IGNORECASE)
_LEFT_OUT: Final = ("# SOLUTION NO PROMPT", "# BEGIN PROMPT", "# END PROMPT", "# SEED")
_BEGIN_CONFIG: Final = re.compile(r'(?:.\s*=\s*)?""?"?\s*#\s*BEGIN\s*TEST\s*CONFIG', re.IGNORECASE)
_END_CONFIG: Final = re.compile(r'""?"?\s*#\s*END\s*TEST\s*CONFIG', re.IGNORECASE)
_HIDDEN: Final = re.compile(r"\s*#.*\bhidden\b", re.IGNORECASE)
_KNOWN: Final = frozenset({"hidden", "points", "success_message", "failure_message"})
_CONTINUED: Final = re.compile(r"[ \t]|except[\s\w]*:|elif |else:|finally:")


def remove_solutions(source: str) -> str:
    """Return the cell with `...` in place of each solution.

    Raises:
        OtterError: a region lacks its beginning or its end.
    """
    lines = [line for line in source.split("\n") if not line.rstrip().endswith(_LEFT_OUT)]
    kept: list[str] = []
    for line, begins in _list_outside(lines, _BEGIN, "SOLUTION"):
        if begins is None:
            kept.append(_remove_solution(line))
        elif not begins[2]:
            kept.append(begins[1] + PROMPT)
    return "\n".join(kept)


def remove_ignored(source: str) -> str:
    """Return the cell without lines that end with `# IGNORE`, and without regions between its `BEGIN` and `END`.

    Raises:
        OtterError: a region lacks its beginning or its end.
    """
    lines = _list_outside(source.split("\n"), _BEGIN_IGNORE, "IGNORE")
    return "\n".join(line for line, begins in lines if begins is None and not line.rstrip().endswith("# IGNORE"))


def replace_seed(source: str, variable: str, value: object) -> str:
    """Return the cell with another value in assignments of the seed's variable."""
    return re.sub(rf"^(\s*){re.escape(variable)}\s*=\s*.*$", rf"\g<1>{variable} = {value}", source, flags=re.M)


def _list_outside(
    lines: Iterable[str], begin: re.Pattern[str], what: str
) -> Iterator[tuple[str, re.Match[str] | None]]:
    """Yield the lines outside regions, and those that begin one, with the match."""
    inside = False
    for line in lines:
        if line.rstrip().endswith(f"# END {what}"):
            if not inside:
                raise OtterError(f"`# END {what}` has no matching `# BEGIN {what}`")
            inside = False
        elif not inside:
            begins = begin.match(line)
            inside = begins is not None
            yield line, begins
    if inside:
        raise OtterError(f"`# BEGIN {what}` has no `# END {what}` behind it")


def _remove_solution(line: str) -> str:
    """Return the line with `...` if it is marked as a solution; it keeps what it assigns to."""
    if not re.search(r"# ?SOLUTION", line):
        return line
    assigned = _ASSIGNED.match(line)
    indent = line[: len(line) - len(line.lstrip())]
    return f"{assigned[1]} {PROMPT}" if assigned else indent + PROMPT


def write_test_file(question: Mapping[str, object], rows: Sequence[Mapping[str, object]], *, ok_format: bool) -> bytes:
    """Return the text of tests/<name>.py.

    Args:
        question: the settings of `# BEGIN QUESTION`.
        rows: what `read_case` made of each cell of tests.
        ok_format: True for doctests, False for functions.

    Raises:
        OtterError: the question's points are not valid.
    """
    points = question.get("points")
    if isinstance(points, dict):
        each = points.get("each", 1)
        if type(each) not in (int, float):
            raise OtterError(f"`points` of the question are {points!r:.60}; expected `each: NUMBER`")
        points = each * len(rows)
    name, is_whole = str(question["name"]), bool(question.get("all_or_nothing"))
    if ok_format:
        test: dict[str, Any] = {"name": name, "points": points}
        if is_whole:
            test["all_or_nothing"] = True
        test["suites"] = [{"cases": list(rows), "scored": True, "setup": "", "teardown": "", "type": "doctest"}]
        return f"OK_FORMAT = True\n\ntest = {pformat(test, width=110, sort_dicts=False)}\n".encode()
    head = f"from otter.test_files import test_case\n\nOK_FORMAT = False\n\nname = {name!r}\npoints = {points!r}\n"
    parts = [head + ("all_or_nothing = True\n" if is_whole else "")]
    for row in rows:
        settings = ", ".join(f"{key}={value!r}" for key, value in row.items() if key in _KNOWN)
        parts.append(f"@test_case({settings})\n{row['code']}\n")
    return "\n\n".join(parts).encode()


def read_case(cell: Cell, *, ok_format: bool) -> dict[str, object]:
    """Return the code of a cell of tests in the requested form, and its settings.

    Raises:
        OtterError: it is not valid Python, or uses what otter does not know.
    """
    settings, body = _split_config(read_cell_source(cell).split("\n"))
    try:
        tree = ast.parse(body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise OtterError(f"is not valid Python: {error}") from None
    known = {key: settings[key] for key in _KNOWN if settings.get(key) is not None}
    known["hidden"] = bool(settings.get("hidden", False))
    if ok_format:
        return {"code": "\n".join([*_write_doctest(tree), *_read_output(cell).split("\n")]), "locked": False, **known}
    if not tree.body or len(tree.body) > 2 or not isinstance(tree.body[0], ast.FunctionDef):
        raise OtterError("is to hold one function, and at most its call behind it")
    return {"code": ast.unparse(tree.body[0]), **known}


def _split_config(lines: list[str]) -> tuple[dict[str, object], str]:
    """Return the settings in the first lines of a cell, and the rest."""
    if not _BEGIN_CONFIG.match(lines[0]):
        is_hidden = _HIDDEN.match(lines[0]) is not None
        return {"hidden": is_hidden}, "\n".join(lines[1:] if is_hidden else lines)
    end = next((number for number, line in enumerate(lines) if number and _END_CONFIG.match(line)), None)
    if end is None:
        raise OtterError("begins a test config that does not end")
    try:
        settings = yaml.safe_load("\n".join(lines[1:end]))
    except yaml.YAMLError:
        settings = ""
    if not isinstance(settings, dict | None):
        raise OtterError(f"has a test config without keys; otter knows {', '.join(sorted(_KNOWN))}")
    return settings or {}, "\n".join(lines[end + 1 :])


def _write_doctest(tree: ast.Module) -> list[str]:
    """Return each statement without annotations at a prompt, with dots before its other lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
    found: list[str] = []
    for line in filter(None, ast.unparse(tree).split("\n")):
        goes_on = _CONTINUED.match(line) or (found and found[-1].strip().endswith("\\"))
        found.append(f"... {line}" if goes_on else f">>> {line}")
    return found


def _read_output(cell: Cell) -> str:
    """Return the output below the cell in the author's notebook, which the doctest expects."""
    parts: list[str] = []
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict):
            data = output.get("data")
            parts.append(read_cell_source({"source": output.get("text")}))
            parts.append(read_cell_source({"source": data.get("text/plain")}) if isinstance(data, dict) else "")
    return "".join(parts)
