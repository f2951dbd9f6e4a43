"""Name a grader in the records, so that others on the same machine can tell whether it still runs."""

import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

_UNKNOWN: Final = "-"


@dataclass(frozen=True, slots=True)
class Grader:
    """A process that grades."""

    host: str
    place: str
    """Identifies what its number counts in: this start of the machine, and the container."""
    pid: int
    started: str
    """When it started, as the kernel counts: its number may later be that of another process."""
    token: str

    @classmethod
    def this_process(cls) -> Self:
        """Return a new name for this process; two runs in one process have different ones."""
        pid = os.getpid()
        return cls(socket.gethostname() or _UNKNOWN, _place(), pid, _started(pid), secrets.token_hex(8))

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        """Return what `str` wrote; None for anything else."""
        match text.split():
            case [host, place, pid, started, token] if pid.isdecimal():
                return cls(host, place, int(pid), started, token)
        return None

    def __str__(self) -> str:
        return f"{self.host} {self.place} {self.pid} {self.started} {self.token}"

    @property
    def shown(self) -> str:
        """Return the name for people."""
        return f"process {self.pid} on {self.host}"

    @property
    def has_ended(self) -> bool:
        """Return whether it is known to have ended; of another machine, nothing is known."""
        return self.place == _place() != _UNKNOWN and _started(self.pid) != self.started


def _place() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return _UNKNOWN


def _started(pid: int) -> str:
    """Return when a process started; `-` if there is none, or it is only waited for."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return _UNKNOWN
    return _UNKNOWN if fields[0] in "ZX" else fields[19]
