"""What grading a right submission uses: runs the harness on the packed course and measures its processes.

Memory of mapped files (libraries) is not counted: the kernel reclaims it when memory is short.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from viva.model import Submission
from viva.plugins.release.gradescope.platform_paths import PlatformPaths
from viva.plugins.release.released_folder import write_files
from viva.sandbox.host.limits import processes
from viva.sandbox.host.limits.uids import FIRST_UID

_EVERY_S: Final = 0.1
_MIB: Final = 1 << 20
_LIMIT_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one run of the harness used."""

    results: Mapping[str, Any]
    wall_s: float
    rest_mib: int
    """The most memory that all processes but those of boxes took together."""
    box_mib: int
    """The most that boxes took."""


def measure(files: Mapping[str, bytes], submission: Submission, root: Path) -> Measurement:
    """Lay everything out below an empty folder as the platform does, and run the harness.

    Args:
        files: what the zip holds, by path.
        submission: the submission to grade.
        root: an empty folder.
    """
    paths = PlatformPaths(root)
    write_files(paths.source, files)
    write_files(paths.submission, {file.path: file.data for file in submission.files})
    paths.results.parent.mkdir(parents=True)
    started = time.monotonic()
    options = ["--root", str(root), "--deadline", str(_LIMIT_S)]
    harness = subprocess.Popen(  # noqa: S603  # this interpreter and a module of ours, without a shell
        [sys.executable, "-I", "-m", "viva.plugins.release.gradescope.harness", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    sampler = MemorySampler(harness.pid)
    try:
        harness.wait()
    finally:
        harness.kill()
        harness.wait()
        sampler.stop()
    wall_s = time.monotonic() - started
    return Measurement(json.loads(paths.results.read_bytes()), wall_s, _mib(sampler.rest), _mib(sampler.box))


class MemorySampler(threading.Thread):
    """Samples the memory of a process and all its descendants."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._ended = threading.Event()
        self.rest = self.box = 0
        self.start()

    def run(self) -> None:
        """Sample until stopped."""
        while not self._ended.wait(_EVERY_S):
            family = processes.family(self._pid)
            boxes = [pid for pid in family if _user(pid) >= FIRST_UID]
            box = processes.proportional_memory(boxes, None).total
            rest = processes.proportional_memory([pid for pid in family if pid not in boxes], None).total
            self.rest, self.box = max(self.rest, rest), max(self.box, box)

    def stop(self) -> None:
        """Stop sampling memory."""
        self._ended.set()
        self.join()


def _user(pid: int) -> int:
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return 0


def _mib(size: int) -> int:
    return -(-size // _MIB)
