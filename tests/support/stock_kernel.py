"""The stock kernel, outside of viva: a program that reads the sources of cells and writes their outputs, as JSON.

Used in a process of its own, for its libraries leave warnings and threads behind.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SECONDS_A_CELL = 60


def outputs_of(sources: Sequence[str]) -> list[list[dict[str, Any]]]:
    """The outputs of a notebook of these cells, cell by cell."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        own = {"HOME": str(home), "SHELL": "/bin/bash", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [sys.executable, __file__, folder],
            input=json.dumps(list(sources)),
            env={**_environment(), **own},
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
    found: list[list[dict[str, Any]]] = json.loads(done.stdout[done.stdout.index("\x02") + 1 :])
    return found


def _environment() -> dict[str, str]:
    """Ours, without what tells a kernel that it is being tested: it would not look at the descriptors."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "IPYTHON", "JUPYTER"))}


def _main(folder: str) -> None:
    import nbformat
    from nbclient import NotebookClient

    v4: Any = nbformat.v4  # its functions have no types
    cells = [v4.new_code_cell(source) for source in json.load(sys.stdin)]
    python = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = v4.new_notebook(cells=cells, metadata={"kernelspec": python})
    work = f"{folder}/work"
    Path(work).mkdir()
    resources = {"metadata": {"path": work}}
    NotebookClient(notebook, timeout=SECONDS_A_CELL, allow_errors=True, resources=resources).execute()
    # The kernel's programs write to our own output as well.
    print("\x02" + json.dumps([cell.outputs for cell in notebook.cells]))


if __name__ == "__main__":
    _main(sys.argv[1])
