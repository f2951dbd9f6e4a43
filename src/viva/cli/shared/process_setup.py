"""What a command needs before it starts: three open standard streams, and a locale that can write every name."""

import os
import sys


def prepare_process() -> None:
    """Fix standard streams and locale; this may start the program again, with the same arguments."""
    _open_standard_streams()
    if os.name == "posix" and sys.getfilesystemencoding().lower() != "utf-8" and not sys.flags.utf8_mode:
        # Names of students would come out as question marks, in results too; only a new interpreter reads them right.
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  # this same program
    if sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # where ASCII was asked for


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
