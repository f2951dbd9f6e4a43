"""Shell lines of notebooks, `!command`: IPython runs them in a pseudo-terminal, and a box has none."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import Any

_INSTALLS = re.compile(r"""\s*(?:\S*python[\d.]*["']?\s+-m\s+)?pip[\d.]*\s+(?:-\S+\s+)*install\b[^;&|]*$""")
"""Half of all notebooks begin with it: starting pip, only to fail without a network, takes longer than grading."""
NOT_INSTALLED = "Nothing is installed while a notebook is graded: the course's libraries are here already.\n"


def run(shell: Any, line: str) -> None:
    """Run a command, and print its output in the cell line by line; standard input is empty.

    Args:
        shell: IPython's shell. The caller must be the replacement of its `system`, because names in the line are
            looked up in the frame that calls that.
        line: the command, with Python names in braces or after a dollar sign.
    """
    command: str = shell.var_expand(line, depth=2)
    if _INSTALLS.match(command):
        sys.stdout.write(NOT_INSTALLED)
        shell.user_ns["_exit_code"] = 1
        return
    process = subprocess.Popen(  # noqa: S602  # the student's own command, in the box
        command,
        shell=True,
        executable=shutil.which("bash", path="/bin:/usr/bin"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="backslashreplace",
    )
    with process:
        try:
            for text in process.stdout or ():
                sys.stdout.write(text)
        except BaseException:
            process.kill()
            raise
    shell.user_ns["_exit_code"] = process.returncode
