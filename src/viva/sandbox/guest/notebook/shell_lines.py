"""Shell lines of notebooks, `!command`: IPython runs them in a terminal of their own, and a box has none."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import Any

_INSTALLS = re.compile(r"""\s*(?:\S*python[\d.]*["']?\s+-m\s+)?pip[\d.]*\s+(?:-\S+\s+)*install\b[^;&|]*$""")
"""Half of all notebooks begin with it: starting pip, only to fail without a network, costs more than to grade them."""
NOT_INSTALLED = "Nothing is installed while a notebook is graded: the course's libraries are here already.\n"


def run(shell: Any, line: str) -> None:
    """What the command writes goes to the cell, line by line; standard input is empty.

    Args:
        shell: IPython's; our caller is the function that stands for its `system`, for names in the line are looked
            up where that is called.
        line: the command, with names of Python in braces or behind a dollar sign.
    """
    command: str = shell.var_expand(line, depth=2)
    if _INSTALLS.match(command):
        sys.stdout.write(NOT_INSTALLED)
        shell.user_ns["_exit_code"] = 1
        return
    process = subprocess.Popen(
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
