"""What a command needs before it starts: three open standard streams, and a locale that can write every name."""

import io
import os
import re
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


_COMMAND: Final = re.compile(r"((?:^|[\n\r])\s*):(?=:)")
_OLD_COMMAND: Final = re.compile(r"(##(?:vso)?)\[")


def prepare_process() -> None:
    """Fix standard streams and locale; this may start the program again, with the same arguments."""
    _open_standard_streams()
    if os.name == "posix" and sys.getfilesystemencoding().lower() != "utf-8" and not sys.flags.utf8_mode:
        # Names of students would come out as question marks, in results too; only a new interpreter reads them right.
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  # this same program
    out, err = sys.stdout, sys.stderr
    errors = "backslashreplace" if out.errors == "strict" else out.errors  # where ASCII was asked for
    out_bytes = io.BufferedWriter(io.FileIO(1, "w", closefd=False))
    err_bytes = io.BufferedWriter(_ErrorOutput(2, "w", closefd=False))
    sys.stdout = _Text(out_bytes, out.encoding, errors, line_buffering=out.isatty())
    sys.stderr = _Text(err_bytes, err.encoding, err.errors, line_buffering=True)


class _Text(io.TextIOWrapper):
    """Text of which no line is a command to a CI system: a log holds what students wrote.

    GitHub and Azure obey lines that begin with `::name::`, and those that hold `##[name]`. Commands of viva's own are
    exported as bytes.
    """

    def write(self, text: str, /) -> int:
        """Write text; return how many characters there were."""
        super().write(_OLD_COMMAND.sub(r"\1 [", _COMMAND.sub(r"\1: ", text)))
        return len(text)


class _ErrorOutput(io.FileIO):
    """Standard error that drops what cannot be written: a log on a full disk must not stop a class that is graded."""

    def write(self, text: "ReadableBuffer", /) -> int:
        """Write bytes; return how many there were."""
        try:
            written = super().write(text)
        except OSError:
            written = None
        return memoryview(text).nbytes if written is None else written


def _open_standard_streams() -> None:
    """Open closed streams: their numbers would go to the next file or socket, and output would end up there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003  # takes no keyword
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # stays open
