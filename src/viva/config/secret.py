"""The course secret: from an environment variable or a file that only its owner can read."""

import math
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from viva.model.errors import CourseError

LEAST: Final = 16
"""Bytes. A shorter secret could be found by trying, and with it every hidden input."""

STRONG: Final = 128
"""Bits: no one can guess a secret with this much entropy."""
_FEW: Final = 8
_KINDS: Final = (
    (frozenset(b"0123456789"), 10),
    (frozenset(b"0123456789abcdef"), 16),
    (frozenset(b"0123456789ABCDEF"), 16),
    (frozenset(b"abcdefghijklmnopqrstuvwxyz"), 26),
    (frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789"), 36),
    (frozenset(range(0x20, 0x7F)), 64),
)
"""Sets of characters, and the most choices for each character; base64 has 64."""

_MAKE_VARIABLE: Final = "make one with: export {name}=\"$(python3 -c 'import secrets; print(secrets.token_hex(32))')\""
_MAKE_FILE: Final = "make one with: (umask 077; python3 -c 'import secrets; print(secrets.token_hex(32))' > {path})"
_KEEP: Final = "keep it for the whole term: a different secret changes the hidden test inputs"


def resolve(source: str, environ: Mapping[str, str], root: Path) -> bytes:
    """Return the bytes that `env:NAME` or `file:PATH` (relative to `root`) refers to, without surrounding white space.

    Raises:
        CourseError: it is missing, too short, or a file that others can read.
    """
    kind, _, where = source.partition(":")
    if kind == "env":
        return _from_environment(where, environ)
    return _from_file(file_of(source, root))


def file_of(source: str, root: Path) -> Path:
    """Return the file that `file:PATH` refers to."""
    return root / Path(source.partition(":")[2]).expanduser()


def resolve_or_public(source: str, environ: Mapping[str, str], root: Path, title: str) -> bytes:
    """Return the secret, or a well-known value where there is none; one that is there but wrong stays an error."""
    kind, _, where = source.partition(":")
    absent = not environ.get(where) if kind == "env" else not (root / Path(where).expanduser()).exists()
    return f"viva: no secret: {title}".encode() if absent else resolve(source, environ, root)


def weakness(secret: bytes) -> str:
    """Return a sentence if the secret could be guessed, and with it every hidden input; else an empty text.

    What it counts is the most that a secret of such characters can hold. Words hold less.
    """
    used = set(secret)
    kinds = next((size for characters, size in _KINDS if used <= characters), 256)
    bits = int(len(secret) * math.log2(len(used) if len(used) < _FEW else kinds))
    if bits >= STRONG:
        return ""
    return (
        f"the course's secret has {bits} bits at most, so that hidden inputs could be guessed; {STRONG} are safe: make "
        "one with python3 -c 'import secrets; print(secrets.token_hex(32))' before the first submission is graded"
    )


def _from_environment(name: str, environ: Mapping[str, str]) -> bytes:
    value = environ.get(name, "").strip()
    how = f"{_MAKE_VARIABLE.format(name=name)}; {_KEEP}"
    if not value:
        raise CourseError(f"The course's secret is not set (environment variable {name}); {how}.")
    return _long_enough(value.encode("utf-8", "surrogateescape"), f"the environment variable {name}", how)


def _from_file(path: Path) -> bytes:
    how = f"{_MAKE_FILE.format(path=path)}; {_KEEP}"
    try:
        value = path.read_bytes()
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise CourseError(f"The course's secret does not exist ({path}); {how}.") from None
    except OSError as error:
        raise CourseError(
            f"The course's secret cannot be read ({path}: {error.strerror}); let the user who grades read it, and do "
            f"not replace it: {_KEEP.partition(': ')[2]}."
        ) from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise CourseError(f"The course's secret can be read by other users; run: chmod 600 {path}")
    return _long_enough(value.strip(), str(path), how)


def _long_enough(value: bytes, where: str, how: str) -> bytes:
    if len(value) < LEAST:
        raise CourseError(f"The course's secret in {where} has {len(value)} bytes, and {LEAST} are the least; {how}.")
    return value
