"""`python -m viva.plugins.authoring.solved.child`: run a solved notebook in its own process, and propose its tests.

The notebook may print whatever it likes, and may end the process. Its folder is the current one, also for the trials.
"""

import dataclasses
import os
import sys
from pathlib import Path
from typing import Any, Final

from viva.model.child_process import answer, read_request
from viva.plugins.authoring.solved.class_proposal import of_class
from viva.plugins.authoring.solved.proposal import Proposal
from viva.plugins.authoring.solved.proposals import of_value, propose_function
from viva.plugins.authoring.solved.recorded_run import run
from viva.plugins.authoring.solved.solution_code import typed_texts
from viva.plugins.authoring.source.source_cells import Cell


def main() -> None:
    """Answer one request."""
    request = read_request()
    cells = [Cell(**each) for each in request["cells"]]
    opened = OpenedFiles()
    names = frozenset(request["functions"]) | frozenset(request["classes"])
    recorded = run(cells, names)
    recorded.written = names | frozenset(request["values"])
    typed = {name for cell in cells for name in typed_texts(cell.source)}
    found: list[Proposal] = [
        *(propose_function(name, recorded) for name in request["functions"]),
        *(of_class(name, recorded) for name in request["classes"]),
        *(of_value(name, recorded, typed=name in typed) for name in request["values"]),
    ]
    answer(
        request,
        {
            "proposals": [_plain(each) for each in found],
            "failed": recorded.failed,
            "read": opened.read,
            "written": sorted(opened.written),
        },
    )


def _plain(proposal: Proposal) -> dict[str, Any]:
    return {
        name: sorted(value) if isinstance(value, set) else value for name, value in dataclasses.asdict(proposal).items()
    }


_WRITING: Final = os.O_WRONLY | os.O_RDWR
_NO_DATA: Final = (".py", ".pyc", ".ipynb", ".so")


class OpenedFiles:
    """Hears of every file below the current folder that this process opens, from now on."""

    def __init__(self) -> None:
        self._folder = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118  # it is heard while pathlib works
        self._read: dict[str, None] = {}
        self.written: set[str] = set()
        """Their relative paths."""
        sys.addaudithook(self._heard)

    @property
    def read(self) -> list[str]:
        """Return the relative paths of files that the code has read or imported and has not written itself."""
        data = [path for path in self._read if not path.endswith(_NO_DATA) and Path(self._folder, path).is_file()]
        found = [path for path in [*self._modules(), *data] if path not in self.written]
        return [path for path in found if not self._is_installed(path)]

    def _modules(self) -> list[str]:
        """Return the files of modules that were found in the folder itself."""
        found = []
        for name, module in sorted(sys.modules.items()):
            inner = self._inner(str(getattr(module, "__file__", None) or ""))
            if inner in (f"{name.replace('.', '/')}.py", f"{name.replace('.', '/')}/__init__.py"):
                found.append(inner)
        return found

    def _is_installed(self, path: str) -> bool:
        """Return whether a file belongs to an environment that lies in the folder, as `venv` often does."""
        whole = Path(self._folder, path)
        return "site-packages" in whole.parts or any(whole.is_relative_to(p) for p in (sys.prefix, sys.base_prefix))

    def _heard(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, str) and (inner := self._inner(path)):
                if isinstance(flags, int) and flags & _WRITING:
                    self.written.add(inner)
                else:
                    self._read[inner] = None

    def _inner(self, path: str) -> str:
        """Return the path relative to the folder; an empty text for one that is not below it."""
        whole = os.path.abspath(path)  # noqa: PTH100
        return whole.removeprefix(self._folder).replace(os.sep, "/") if whole.startswith(self._folder) else ""


if __name__ == "__main__":
    main()
