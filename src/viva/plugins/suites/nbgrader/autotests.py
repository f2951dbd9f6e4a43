"""`### AUTOTEST f(3)` in a notebook of nbgrader: tests that follow from what the solution gives, by templates.

nbgrader calls this "automatic test code generation" (its documentation, "Advanced topics"). The solution runs once, on
this machine, in a process of its own. Each such line becomes the tests that `autotests.yml` describes for the type of
its value.
"""

import contextlib
import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from viva.model.child_process import NoAnswer, answer, ask_child, read_request
from viva.model.errors import UsageError
from viva.model.extras import missing_library
from viva.plugins.suites.importing.new_course import AUTOTEST_TEMPLATES
from viva.plugins.suites.importing.student_notebook import Cell, read_cells, rewrite_notebook
from viva.plugins.suites.nbgrader.nbgrader_source import AUTOTEST, has_autotest, is_autotest
from viva.submissions.code_names import NOT_PYTHON

LONGEST_S: Final = 600.0
_KERNELS: Final = ("python3", "python")
_PARTS: Final = ("dispatch", "normalize", "check", "templates")


def add_tests(file: str, folder: Path, templates: bytes | None, shown: str) -> bytes:
    """Return a notebook with its AUTOTEST lines replaced by tests.

    Args:
        file: its name in `folder`.
        folder: the files of the assignment; the solution runs there.
        templates: what autotests.yml holds; None if there is none.
        shown: the notebook, as messages name it.

    Raises:
        UsageError: there are no templates, they are not usable, or the solution fails before or in such a line.
        MissingLibrary: jinja2 is not installed.
    """
    data = (folder / file).read_bytes()
    request = {
        "cells": [
            {"source": cell["source"], "number": number, "is_code": cell.get("cell_type") == "code"}
            for number, cell in enumerate(read_cells(data, shown), 1)
        ],
        "templates": _templates(templates, shown),
        "name": file,
    }
    try:
        reply = ask_child("viva.plugins.suites.nbgrader.autotests", request, timeout_s=LONGEST_S, cwd=folder)
    except TimeoutError:
        raise UsageError(f"{shown}: the solution did not end within {LONGEST_S:g} s; {AUTOTEST} needs it.") from None
    except NoAnswer as error:
        raise UsageError(f"{shown}: the solution, which {AUTOTEST} needs, ended its process: {error}.") from None
    if "missing" in reply:
        raise missing_library(f"{AUTOTEST} needs", reply["missing"], "notebooks")
    if "failed" in reply:
        raise UsageError(f"{shown}: {reply['failed']}.")
    sources: dict[str, str] = reply["sources"]

    def replaced(cells: list[Cell]) -> list[Cell]:
        return [{**cell, "source": sources.get(str(at), cell["source"])} for at, cell in enumerate(cells, 1)]

    return rewrite_notebook(data, replaced, shown)


def _templates(data: bytes | None, shown: str) -> Mapping[str, Any]:
    if data is None:
        raise UsageError(
            f"{shown} has {AUTOTEST} lines: put the course's {AUTOTEST_TEMPLATES[0]} next to it, and import again."
        )
    try:
        kernels = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{AUTOTEST_TEMPLATES[0]} is not valid YAML: {error}.") from None
    found = next((kernels[name] for name in _KERNELS if name in kernels), None) if isinstance(kernels, dict) else None
    if not isinstance(found, dict) or not all(part in found for part in _PARTS):
        raise UsageError(
            f"{AUTOTEST_TEMPLATES[0]}: expected `{_KERNELS[0]}:` with {', '.join(_PARTS)}, as nbgrader has it."
        )
    return found


class _Failed(Exception):
    """The solution, or a template, cannot be used."""


def main() -> None:
    """Answer one request."""
    request = read_request()
    reply: dict[str, Any]
    try:
        import jinja2  # noqa: F401  # is it there?

        with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            reply = {"sources": _sources(request["cells"], _Templates(request["templates"], request["name"]))}
    except ModuleNotFoundError as error:
        reply = {"missing": error.name}
    except _Failed as error:
        reply = {"failed": str(error)}
    answer(request, reply)


def _sources(cells: list[dict[str, Any]], templates: "_Templates") -> dict[int, str]:
    """Return the new source of each cell that asks for tests, by its number."""
    sources = {}
    sys.path.insert(0, "")
    for cell in cells:
        if not cell["is_code"]:
            continue
        try:
            exec(NOT_PYTHON.sub("", cell["source"]), templates.namespace)  # noqa: S102  # the author's own code
            if has_autotest(cell["source"]):
                sources[cell["number"]] = templates.tests(cell["source"])
        except ModuleNotFoundError as error:
            raise _Failed(f"cell {cell['number']} imports {error.name}, which is not installed here") from None
        except Exception as error:
            raise _Failed(f"cell {cell['number']} raised {type(error).__name__}: {error}") from None
    return sources


class _Templates:
    """The templates of autotests.yml, and the names of the solution that they are about."""

    def __init__(self, templates: Mapping[str, Any], name: str) -> None:
        import jinja2

        self._parts, self._name = templates, name
        self._environment = jinja2.Environment()  # noqa: S701  # it writes Python, which is not escaped
        self.namespace: dict[str, Any] = {"__name__": "__main__", "display": lambda *_, **__: None}
        self._count = 0

    def tests(self, source: str) -> str:
        """Return a cell with its lines that ask for tests replaced by them."""
        lines: list[str] = []
        setup = self._parts.get("setup")
        before: list[str] = []
        for line in source.split("\n"):
            if not is_autotest(line):
                lines.append(line)
                before.append(line)
                continue
            exec("\n".join(before), self.namespace)  # noqa: S102  # as nbgrader does: a test may need the lines above it
            before = []
            if setup:
                exec(setup, self.namespace)  # noqa: S102  # the author's own code
                lines.append(setup)
                setup = None
            hint, _, rest = line.partition(AUTOTEST)
            for snippet in filter(None, (part.strip() for part in rest.split(";"))):
                lines += self._make_checks(snippet, is_hashed="HASHED" in hint)
            lines.append("")
        return "\n".join([*lines, *filter(None, [self._parts.get("success")])])

    def _make_checks(self, snippet: str, *, is_hashed: bool) -> list[str]:
        """Return the tests of one expression."""
        kind = self._value(self._rendered(self._parts["dispatch"], snippet=snippet))
        of_kind = self._parts["templates"].get(kind) or self._parts["templates"]["default"]
        checks = []
        for each in of_kind:
            code = self._rendered(self._parts["normalize"], snippet=each["test"])
            if is_hashed:
                code = self._rendered(self._parts["hash"], snippet=code, salt=self._salt(snippet))
            code = self._rendered(code, snippet=snippet)
            message = self._rendered(each["fail"], snippet=snippet)
            checks.append(self._rendered(self._parts["check"], snippet=code, value=self._value(code), message=message))
        return checks

    def _rendered(self, template: str, **values: str) -> str:
        return self._environment.from_string(template).render(**values)

    def _value(self, code: str) -> str:
        """Return the value of an expression as a kernel shows it, without quotes around it."""
        value = eval(code, self.namespace)  # noqa: S307  # the author's own code
        if isinstance(value, type):
            module = "" if value.__module__ == "builtins" else f"{value.__module__}."
            return f"{module}{value.__qualname__}"
        return repr(value).strip('"').strip("'")

    def _salt(self, snippet: str) -> str:
        """Return a salt that is the same at the next import; it hides equal answers from each other, nothing else."""
        self._count += 1
        return hashlib.sha256(f"{self._name} {self._count} {snippet}".encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
