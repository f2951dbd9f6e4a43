"""Run the author's own code in another Python process: send a request as JSON, and receive an answer as JSON.

The process is not isolated. It only protects this process from what the code does to its own, such as ending it.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

_ANSWER = "answer_file"


class NoAnswer(Exception):
    """The process ended without an answer; its message is the last line that it wrote to stderr, or its status."""

    def __init__(self, status: int, stderr: str) -> None:
        self.status, self.stderr = status, stderr
        super().__init__((stderr.strip().splitlines() or [f"the process ended with status {status}"])[-1])


def ask_child(module: str, request: Mapping[str, Any], *, timeout_s: float, cwd: Path | None = None) -> Any:
    """Run `python -m module` with a request, and return its answer.

    Args:
        module: calls `read_request` and `answer` of this module.
        request: what JSON can hold.
        timeout_s: wall seconds until it is ended.
        cwd: its current folder.

    Raises:
        TimeoutError: it did not end in time.
        NoAnswer: it ended without an answer.
    """
    with tempfile.TemporaryDirectory(prefix="viva-child-") as folder:
        file = Path(folder) / "answer.json"
        try:
            ran = subprocess.run(  # noqa: S603  # a module of viva
                [sys.executable, "-P", "-m", module],
                input=json.dumps({**request, _ANSWER: str(file)}),
                cwd=cwd,
                env=os.environ | {"MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"no answer within {timeout_s:g} s") from error
        if not file.is_file():
            raise NoAnswer(ran.returncode, ran.stderr)
        return json.loads(file.read_text("utf-8"))


def read_request() -> dict[str, Any]:
    """Return the request that this process was started with; from now on, modules of the current folder are found.

    Any earlier, a file of the author called `types.py` or `random.py` would take the place of Python's own.
    """
    request: dict[str, Any] = json.loads(sys.stdin.read())
    sys.path.insert(0, "")
    return request


def answer(request: Mapping[str, Any], value: object) -> NoReturn:
    """Answer the request, and end the process at once, whatever threads the author's code has left."""
    file = Path(request[_ANSWER])
    part = file.with_suffix(".part")
    part.write_text(json.dumps(value), "utf-8")
    part.replace(file)
    os._exit(0)
