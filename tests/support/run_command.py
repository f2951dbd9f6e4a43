"""Commands as programs: their command line, what they said, and the processes below them."""

import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viva.cli.shared.options import UNSAFE
from viva.formats.results_json import load_results

Viva = Callable[..., "Ran"]
Process = tuple[int, str]
"""Process number and start time, which together name one process for good."""


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    status: int
    out: str
    err: str

    def sentence(self) -> str:
        """The one line on standard error that says what is wrong; nothing else may be said there."""
        lines = self.err.strip().splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("viva: ") and "Traceback" not in self.out + self.err
        return lines[0]


def program(command: str, *arguments: Any) -> list[str]:
    """The command line of a command as a program of its own."""
    given = [str(a) for a in arguments]
    return [sys.executable, "-m", "viva", command, *given, *best_tier(command, given)]


def best_tier(command: str, arguments: Sequence[Any]) -> list[str]:
    """The option that lets a command run on every host: the best isolation there is."""
    takes = command in ("grade", "regrade", "verify", "explain", "shell")
    return ["--tier", "best"] if takes and not {"--tier", "--help"} & {str(a) for a in arguments} else []


def one_examiner(command: str, arguments: Sequence[Any]) -> list[str]:
    """The option that keeps a command on this machine from starting an examiner for each core."""
    takes = command in ("grade", "regrade", "verify")
    return ["--workers", "1"] if takes and not {"--workers", "--on", "--help"} & {str(a) for a in arguments} else []


WAITS = re.compile(r"^viva: .*waiting until (?:other tests|the test of another submission).*\n", re.MULTILINE)


def without_warning(said: str) -> str:
    """Standard error without what depends on the host: a line about weak isolation, and how long a test waits.

    Tests that run at the same time wait for one another where one has to be asked alone.
    """
    return WAITS.sub("", said.replace(f"viva: isolation T0: {UNSAFE}.\n", ""))


def scores_in(folder: str | Path) -> dict[str, float | None]:
    """The score of every result below a folder, by the name of its submission."""
    return {path.parent.name: load_results(path).score for path in sorted(Path(folder).rglob("results.json"))}


def below(parent: int) -> set[Process]:
    """A process and everything that descends from it, as far as it runs (Linux)."""
    table = _table()
    found = {parent}
    while more := {pid for pid, (above, _, _) in table.items() if above in found} - found:
        found |= more
    return {(pid, table[pid][1]) for pid in found if pid in table}


def still_there(processes: set[Process], within_s: float) -> set[Process]:
    """Those of the processes that have not ended after so many seconds."""
    deadline = time.monotonic() + within_s
    while True:
        running = {(pid, started) for pid, (_, started, state) in _table().items() if state not in "ZX"}
        if not (left := processes & running) or time.monotonic() > deadline:
            return left
        time.sleep(0.02)


def _table() -> dict[int, tuple[int, str, str]]:
    """Parent, start time and state of every process."""
    table = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = Path(entry.path, "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            table[int(entry.name)] = int(fields[1]), fields[19], fields[0]
    return table
