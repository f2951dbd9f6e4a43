"""`### AUTOTEST f(3)` in a notebook of nbgrader: tests that follow from what the solution gives, by templates.

nbgrader calls this "automatic test code generation" (its documentation, "Advanced topics"). The solution runs once, on
this machine, and each such line becomes the tests that `autotests.yml` describes for the type of its value.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from viva.model.child_process import NoAnswer, ask_child
from viva.model.errors import UsageError
from viva.model.extras import missing_library
from viva.plugins.suites.importing.manifest import AUTOTEST_TEMPLATES
from viva.plugins.suites.importing.student_notebook import Cell, cells_of, written
from viva.plugins.suites.nbgrader.autotest_lines import AUTOTEST

LONGEST_S: Final = 600.0
_KERNELS: Final = ("python3", "python")
_PARTS: Final = ("dispatch", "normalize", "check", "templates")


def with_tests(file: str, folder: Path, templates: bytes | None, shown: str) -> bytes:
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
            for number, cell in enumerate(cells_of(data, shown), 1)
        ],
        "templates": _templates(templates, shown),
        "name": file,
    }
    try:
        reply = ask_child("viva.plugins.suites.nbgrader.autotests_child", request, timeout_s=LONGEST_S, cwd=folder)
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

    return written(data, replaced, shown)


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
