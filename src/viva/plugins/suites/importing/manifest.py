"""What was made from a master notebook, and from which state of it."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import viva

MANIFEST: Final = ".made"
"""In the folder of the graders."""
AUTOTEST_TEMPLATES: Final = ("autotests.yml", "tests.yml")
"""nbgrader's file of test templates, and its name in nbgrader 0.9.0: the assignment's own, or the course's."""


def manifest(master: Path, data: Iterable[str], files: Mapping[str, bytes]) -> bytes:
    """Return the contents of the manifest.

    Args:
        master: the notebook or folder.
        data: files next to it that go with the assignment.
        files: what was made, by its path in the course.
    """
    made = {path: digest(content) for path, content in files.items()}
    return (json.dumps({"master": state(master, data), "files": made}, indent=1, sort_keys=True) + "\n").encode()


def read_manifest(path: Path) -> tuple[str, dict[str, str]]:
    """Return the state of the master and the digests of what was made; nothing of a file that is not a manifest."""
    try:
        found = json.loads(path.read_bytes())
        files = {str(name): str(known) for name, known in found["files"].items()}
        return str(found["master"]), files
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "", {}


def digest(content: bytes) -> str:
    """Return a hash of a file."""
    return hashlib.sha256(content).hexdigest()


def state(master: Path, data: Iterable[str]) -> str:
    """Return what changes when the master, a file next to it or viva itself changes; no file is read for it."""
    beside = master.parent if master.is_file() else master
    paths = [master, *(beside / name for name in data), *(master.parent.parent / name for name in AUTOTEST_TEMPLATES)]
    if master.is_dir():
        paths += [Path(at, name) for at, _, names in os.walk(master) for name in names]
    seen = [viva.__version__]
    for path in sorted(set(paths)):
        if path.is_file():
            status = path.stat()
            seen.append(f"{os.path.relpath(path, beside)} {status.st_size} {status.st_mtime_ns}")
    return digest("\n".join(seen).encode())
