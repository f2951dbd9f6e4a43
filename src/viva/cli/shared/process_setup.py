"""What a command needs around it: three open standard streams, and a locale in which every name can be written."""

import os
import sys


def mend() -> None:
    """Put right what a scheduler or an old machine left wrong; may begin this program anew, with the same arguments."""
    _open_standard_streams()
    if os.name == "posix" and sys.getfilesystemencoding().lower() != "utf-8" and not sys.flags.utf8_mode:
        # Names of students would come out as question marks, in results too; only a new interpreter reads them right.
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    if sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # where ASCII was asked for


def _open_standard_streams() -> None:
    """The number of a closed one would be given to the next file or socket, and what we print would go there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number, which is this one
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
