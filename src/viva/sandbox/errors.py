"""Every error that a sandbox raises; `str()` of each is one sentence for a person.

SandboxError
├── BoxError              a sandbox ended or misbehaved
│   ├── BoxUnavailable    no sandbox can be made on this host at the requested level
│   ├── BoxTimeout        the time limit passed and the sandbox was killed
│   ├── BoxDied           the program ended: exit, signal, memory, output
│   └── ProtocolViolation the reply was not a message of the protocol; the sandbox was killed
└── GpuUnavailable        the GPU cannot be used now
"""

from typing import Final


class SandboxError(Exception):
    """Base class of all errors of the sandbox."""


class BoxError(SandboxError):
    """A sandbox ended or misbehaved; go on in a fresh one."""


class BoxUnavailable(BoxError):
    """This host cannot make a sandbox at the requested level; the text says why and what to install."""


class BoxTimeout(BoxError):
    """The time limit passed; the sandbox was killed from outside."""


BY_A_LIMIT: Final = frozenset(
    (
        *("memory limit", "processor time limit", "disk limit", "too much output", "too many processes"),
        *("too many files", "a process that cannot be looked into"),
    )
)
"""Why a sandbox ended that went beyond one of its limits."""


class BoxDied(BoxError):
    """The program ended by itself or by a limit; `reason` says which in words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    @property
    def by_limit(self) -> bool:
        """Return whether it went beyond a limit; nothing else on the machine can be the cause."""
        return self.reason in BY_A_LIMIT


class ProtocolViolation(BoxError):
    """The bytes from the sandbox were not a message of the protocol; the sandbox was killed."""


class GpuUnavailable(SandboxError):
    """The GPU is in use, or not in the state in which the last sandbox found it; `reason` is for staff."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text)
        self.reason = reason
