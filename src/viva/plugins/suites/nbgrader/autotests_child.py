"""`python -m viva.plugins.suites.nbgrader.autotests_child`: run a solution, and write the tests that follow from it."""

import contextlib
import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from viva.model.child_process import answer, read_request
from viva.plugins.suites.nbgrader.autotest_lines import AUTOTEST, is_directive
from viva.submissions.code_names import NOT_PYTHON


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
            if any(map(is_directive, cell["source"].splitlines())):
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
            if not is_directive(line):
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
                lines += self._of(snippet, is_hashed="HASHED" in hint)
            lines.append("")
        return "\n".join([*lines, *filter(None, [self._parts.get("success")])])

    def _of(self, snippet: str, *, is_hashed: bool) -> list[str]:
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
