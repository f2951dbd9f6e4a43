"""Check what a command prints that runs in the sandbox, next to the submission's files."""

import re
from typing import Any, Final, Literal

from viva.compare.show import show

_SHOWN: Final = 300
# Plugins of pytest that are installed with viva cannot be imported in a box.
_SHELL: Final = """
import os, sys
os.environ.update(PYTHON=sys.executable, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
os.execvp("sh", ["sh", "-c", sys.argv[1]])
"""
_COMMANDS: Final = """
python() { "$PYTHON" "$@"; }
python3() { "$PYTHON" "$@"; }
pytest() { "$PYTHON" -m pytest "$@"; }
"""
"""The interpreter of the box and its pytest need not be on the shell's path."""

Comparison = Literal["contains", "exact", "regex"]


def check_command(
    submission: Any,
    command: str,
    *,
    setup: str = "",
    stdin: str = "",
    expected: str | None = None,
    comparison: Comparison = "contains",
    timeout_s: float = 60.0,
) -> None:
    """Run a shell command and compare its standard output with what is expected; space around both is ignored.

    The output is compared outside the sandbox. The exit status is the program's own word: a submission can end any
    command that runs its code with status 0, so a command without `expected` can be passed by a dishonest program.

    Args:
        submission: the fixture.
        command: a line for the shell.
        setup: a line that runs first, such as a compiler's.
        stdin: the command's standard input.
        expected: what it prints; None compares nothing, and the command must only end with status 0.
        comparison: whether the output contains `expected`, equals it, or matches it as a regular expression.
        timeout_s: seconds that each of the two may take.

    Raises:
        AssertionError: the command fails or prints something else; the message says what.
    """
    if setup:
        _run(submission, setup, "", timeout_s)
    printed = _run(submission, command, stdin, timeout_s)
    if expected is None or _agrees(printed, _trimmed(expected), comparison):
        return
    wanted = {"contains": "output that contains", "exact": "the output", "regex": "output that matches"}[comparison]
    given = f" for the input {show(stdin, _SHOWN)}" if stdin.strip() else ""
    found = show(printed, _SHOWN) if printed else "nothing"
    raise AssertionError(f"`{command}` printed {found}{given}; expected {wanted} {show(_trimmed(expected), _SHOWN)}.")


def _run(submission: Any, command: str, stdin: str, timeout_s: float) -> str:
    ran = submission.run(["python", "-c", _SHELL, _COMMANDS + command], stdin=stdin, timeout_s=timeout_s)
    code, printed, errors = (ran.get(name) for name in ("returncode", "stdout", "stderr"))
    if code is None:
        raise AssertionError(f"`{command}` did not end within {timeout_s:g} s.")
    printed = _trimmed(printed if isinstance(printed, str) else "")
    if code != 0:
        last = _trimmed(errors if isinstance(errors, str) else "") or printed
        said = f": {show(last.splitlines()[-1], _SHOWN)}" if last else ""
        raise AssertionError(f"`{command}` ended with exit status {code}{said}.")
    return printed


def _agrees(printed: str, expected: str, comparison: Comparison) -> bool:
    if comparison == "regex":
        return re.search(expected, printed) is not None
    return printed == expected if comparison == "exact" else expected in printed


def _trimmed(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
