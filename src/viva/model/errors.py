"""Every error that viva raises.

VivaError
├── UsageError            the user's command or course is wrong: one sentence, exit status 1
│   └── CourseError       grader.yaml, assignment.yaml, rubric.yaml
├── StudentRaised         the student's code raised an exception
├── MissingName           the submission does not define what the test asks for
└── GraderError           viva or the course author is at fault: unscored until retried, exit status 2

The sandbox has its own tree (viva/sandbox/errors.py). Three of its errors come from the examiner:

BoxError
├── BoxTimeout
│   ├── TimeSpent         the submission had used up its time; no sandbox was asked
│   └── NotAskedAgain     the same question had gone unanswered several times
└── LoadFailed            loading the submission ended its sandbox, twice; no test can ask anything
"""

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viva.model import untrusted
from viva.sandbox.errors import (
    BoxDied as BoxDied,
)
from viva.sandbox.errors import (
    BoxError as BoxError,
)
from viva.sandbox.errors import (
    BoxTimeout as BoxTimeout,
)
from viva.sandbox.errors import (
    BoxUnavailable as BoxUnavailable,
)
from viva.sandbox.errors import (
    GpuUnavailable as GpuUnavailable,
)
from viva.sandbox.errors import (
    ProtocolViolation as ProtocolViolation,
)
from viva.sandbox.errors import (
    SandboxError,
)


class VivaError(Exception):
    """Base class of all errors but the sandbox's; `str()` of each is one sentence for a person."""


EXPECTED_ERRORS: Final = (VivaError, SandboxError)
"""What a caller reports as one sentence; any other exception is a bug."""


class UsageError(VivaError):
    """The command line or the course is wrong; nothing was graded."""


class CourseError(UsageError):
    """A course file is wrong; the text names file, key and what is allowed."""


class TimeSpent(BoxTimeout):
    """The time of the submission was used up before this test: no box was asked."""


class NotAskedAgain(BoxTimeout):
    """The same question had already gone unanswered several times."""


OF_THE_MACHINE: Final = frozenset(
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "ENOLCK", "ESTALE")
)
"""Numbers of the OSErrors of a machine that is short of something, or broken: no one's code is wrong."""


class LoadFailed(BoxError):
    """Loading the submission ended its box twice; `cause` says how. Raised for every request, reported once."""

    def __init__(self, cause: BoxError) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of the student's traceback."""

    file: str
    line: int
    function: str
    source: str


@dataclass(frozen=True, slots=True)
class MissingAttribute:
    """A name that the student's code uses and the installed version of a library lacks."""

    library: str
    version: str
    name: str

    @classmethod
    def from_wire(cls, value: object) -> "MissingAttribute | None":
        """Build from the `lacking` part of a raised error; None where library or name is missing."""
        parts = untrusted.table(value)
        library, version, name = (untrusted.text(parts.get(part), 100) for part in ("library", "version", "name"))
        return cls(library, version, name) if library and name else None

    @property
    def where(self) -> str:
        """Return library and version: `transformers 5.23.0`."""
        return f"{self.library} {self.version}".rstrip()


class ChangedArgument(AssertionError):
    """The student's function changed what it was called with; the message is for the student."""

    def __init__(self, function: str, names: Sequence[str]) -> None:
        which = " and ".join(_ordinal(name) for name in names)
        super().__init__(
            f"`{function}` changed {which}: whoever called it still needs the old value. Work on a copy instead."
        )


def _ordinal(name: str) -> str:
    ordinals = {"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth"}
    return f"its argument `{name}`" if not name.isdigit() else f"its {ordinals.get(name, name + 'th')} argument"


class StudentRaised(VivaError):
    """The student's code raised: an untrusted value, shown only where its text may be shown."""

    def __init__(
        self,
        type_name: str,
        message: str,
        frames: Sequence[Frame] = (),
        missing_module: str | None = None,
        limit: str | None = None,
        missing_attribute: MissingAttribute | None = None,
    ) -> None:
        super().__init__(f"{type_name}: {message}" if message else type_name)
        self.type_name = type_name
        self.message = message
        self.frames = tuple(frames)
        self.missing_module = missing_module
        self.limit = limit
        """"time", "memory" or "recursion" when a limit of the box was the cause."""
        self.missing_attribute = missing_attribute

    @property
    def environment(self) -> str | None:
        """Return how the environment differs from the one that the code expects, in words that can be counted."""
        if self.missing_attribute is not None:
            return f"{self.missing_attribute.where} lacks {self.missing_attribute.name}"
        return f"{self.missing_module} is not installed" if self.missing_module else None

    @classmethod
    def from_wire(cls, raised: Mapping[str, object]) -> "StudentRaised":
        """Build from the `raised` part of a reply; anything of the wrong type becomes text."""
        frames = [
            Frame(
                untrusted.text(file, 200),
                untrusted.number(line),
                untrusted.text(function, 200),
                untrusted.text(source, 500),
            )
            for file, line, function, source in (
                frame for frame in map(untrusted.rows, untrusted.rows(raised.get("frames"))) if len(frame) == 4
            )
        ]
        return cls(
            untrusted.text(raised.get("type"), 100) or "Exception",
            untrusted.text(raised.get("message")),
            frames[:12],
            untrusted.text(raised.get("missing_module"), 100) or None,
            untrusted.text(raised.get("limit"), 20) or None,
            MissingAttribute.from_wire(raised.get("lacking")),
        )


class MissingName(VivaError):
    """The submission does not define a name; carries the closest names it does define, or why it is missing."""

    def __init__(self, name: str, close: Sequence[str] = (), *, why: str = "") -> None:
        hint = f" (did you mean {', '.join(f'`{c}`' for c in close)}?)" if close else ""
        super().__init__(f"`{name}` is not defined in your submission{f': {why}' if why else hint}.")
        self.name = name
        self.close = tuple(close)


class NotAnswered(MissingName):
    """A name that still has the value with which the starter leaves it to the student: `...`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.args = (f"`{name}` is still `...`: write your answer in its place.",)


class GraderError(VivaError):
    """Viva or the course author is at fault."""
