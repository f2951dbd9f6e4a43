"""Which tiers this machine can offer, by itself or disguised as another host, and one examiner in each."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from tests.support.hostile_course import KEY, OTHER, RESULTS, SECRET_FILE, TESTS, HostileCourse
from tests.support.hostile_programs import Content, Program
from viva.model import Score, Tier
from viva.model.plain import from_plain
from viva.sandbox.guest.transport.control import FOLDER_PREFIX
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.sandbox.host.limits.uids import FIRST_UID

HERE: Final = Path(__file__).parent
_OTHER_HOSTS: Final = HERE / "other_hosts.py"
_SETTLE_S: Final = 8.0
_RESTLESS_MIB: Final = 30.0
_TEMPORARY: Final = ["/tmp", "/var/tmp", "/dev/shm"]


def offered() -> dict[Tier, list[str]]:
    """Each tier with the words that a command must be prefixed by to find itself on a host of that tier.

    A root who may make namespaces can play all other hosts. T0 is always played by an ordinary user: run by root it
    would give every hostile program this machine.
    """
    native: dict[Tier, list[str]] = {report.tier: [] for report in detect_tiers() if report.available}
    if os.geteuid() != 0:
        return native
    if Tier.T3 not in native:
        return {tier: prefix for tier, prefix in native.items() if tier is not Tier.T0}
    elsewhere = [sys.executable, str(_OTHER_HOSTS)]
    return {
        Tier.T3: [*elsewhere, "root", "--apart"],
        Tier.T2: [*elsewhere, "unprivileged", "--apart"],
        Tier.T1: [*elsewhere, "container", "--apart"],
        Tier.T0: [*elsewhere, "unprivileged", "--apart"],
    }


class Unavailable(Exception):
    """The tier cannot be had here after all; says why."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came back from one grading."""

    score: Score
    everything: str
    """All of it as text: entries, notes, what was asked and answered, the record of the isolation layers."""
    examiner: int
    wall_s: float
    heard: list[str]
    """What has reached the ports of the host."""

    def shown(self) -> str:
        """What the student may read."""
        parts = [*self.score.notes]
        for entry in self.score.entries:
            parts += [entry.name, entry.message, *(case.label for case in entry.cases)]
        return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class Trial:
    """All that is known after one hostile program was graded once, and an honest one after it."""

    result: Result
    honest: Result
    survivors: list[str]
    tampered: list[str]
    left_behind: list[str]
    """Files that were not there before, wherever the host's programs may write."""
    heard: list[str]
    sent_bytes: int
    """What the host's network has carried meanwhile; 0 where it is not the host's alone."""
    examiner_ended: bool
    growth_mib: float
    """Resident memory of the examiner, compared with when it had graded nothing but an honest program."""
    host_growth_mib: float
    """The same of the process that asked it to grade."""
    peak_mib: float


class GradingHost:
    """One examiner on a host of one tier, and the means to see what it leaves behind."""

    def __init__(self, tier: Tier, prefix: list[str], course: HostileCourse) -> None:
        self.tier, self.course = tier, course
        self._is_apart = "--apart" in prefix
        self._process = subprocess.Popen(
            [*prefix, sys.executable, str(HERE / "hostile_grading_host.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "VIVA_TEST_MARK": course.marks["environment"], "PYTHONDONTWRITEBYTECODE": "1"},
            start_new_session=True,
        )
        order = {"tier": str(tier), "assignment": "small", "files": course.files(), "secret_file": SECRET_FILE}
        try:
            told = self._ask(order)
        except BaseException:
            self.close()
            raise
        self.base, self.pid, self.examiner, self.port = told["base"], told["pid"], told["examiner"], told["port"]
        self._root = Path(f"/proc/{self.pid}/root" if self._is_apart else "/")
        """Where the host's own view of the disk begins."""
        self.rested = 0
        """Processes below the host when nothing is graded."""
        self.grade("honest", {"solution.py": course.honest()})
        self.settle()
        self._first_mib = {pid: _memory_mib(pid)[0] for pid in (self.pid, self.examiner)}
        self._files, self._rooms = self._listed()

    def settle(self) -> None:
        """Learn how many processes a resting examiner has: count until the number stays."""
        seen: list[int] = []
        deadline = time.monotonic() + _SETTLE_S
        while time.monotonic() < deadline and (len(seen) < 10 or len(set(seen[-10:])) > 1):
            seen.append(len(descendants(self.pid)))
            time.sleep(0.02)
        self.rested = seen[-1]

    def grade(self, name: str, files: Mapping[str, Content], only: str = "") -> Result:
        """Grade files as one submission, or `only` one of them."""
        told = self._ask({"name": name, "files": dict(files), "only": only})
        self.examiner = told["examiner"] or self.examiner
        heard = told.pop("heard")
        return Result(from_plain(Score, told["score"]), json.dumps(told), told["examiner"], told["wall_s"], heard)

    def try_out(self, program: Program, turn: int = 0) -> Trial:
        """Grade a hostile program, with its tools and all it could know, and see what is left of us."""
        examiner, carried = self.examiner, self.carried_bytes()
        result = self.grade(program.called, program.files(self.targets(turn)), program.only)
        survivors, ended = self.survivors(), result.examiner != examiner
        tampered, left_behind = self.tampered(), self.left_behind()
        sent_bytes = self.carried_bytes() - carried
        growth = {} if ended else self._growth_mib()
        peak_mib = 0.0 if ended else _memory_mib(self.examiner)[1]
        honest = self.grade("honest", {"solution.py": self.course.honest()})
        if ended:
            self._first_mib[self.examiner] = _memory_mib(self.examiner)[0]
        return Trial(
            result,
            honest,
            survivors,
            tampered,
            left_behind,
            result.heard + honest.heard,
            sent_bytes,
            ended,
            growth_mib=growth.get(self.examiner, 0.0),
            host_growth_mib=growth.get(self.pid, 0.0),
            peak_mib=peak_mib,
        )

    def _growth_mib(self) -> dict[int, float]:
        """How much more the examiner and its parent hold than at first; it is given back after the score is told."""
        deadline = time.monotonic() + _SETTLE_S
        while True:
            found = {pid: _memory_mib(pid)[0] - self._first_mib[pid] for pid in (self.pid, self.examiner)}
            if max(found.values()) < _RESTLESS_MIB or time.monotonic() > deadline:
                return found
            time.sleep(0.02)

    def left_behind(self) -> list[str]:
        """Files that are new, and rooms of boxes beyond those of a resting examiner; waits for those on their way out.

        They are removed: where there are no isolation layers, a program may fill the disk of all that come after it.
        """
        deadline = time.monotonic() + _SETTLE_S
        while True:
            files, rooms = self._listed()
            new = sorted(files - self._files)
            if (not new and rooms <= self._rooms) or time.monotonic() > deadline or self.tier is Tier.T0:
                break
            time.sleep(0.02)
        for path in new:
            with contextlib.suppress(OSError):
                path.unlink() if path.is_symlink() or not path.is_dir() else shutil.rmtree(path, ignore_errors=True)
        return [str(path) for path in new] + ["rooms of boxes"] * (rooms > self._rooms)

    def _listed(self) -> tuple[set[Path], int]:
        """All there is where programs may write, but for what we put there ourselves; and how many rooms boxes have."""
        files, rooms = set[Path](), 0
        for place in dict.fromkeys([*_TEMPORARY, str(Path(self.base).parent), self.base, f"{self.base}/course"]):
            for path in (self._root / place.lstrip("/")).glob("*"):
                if path.name.startswith(FOLDER_PREFIX):
                    with contextlib.suppress(OSError):
                        rooms += len(list(path.iterdir()))
                elif path.name != "submissions" and (self._is_apart or _is_of_a_box(path) or place == self.base):
                    files.add(path)
        return files, rooms

    def carried_bytes(self) -> int:
        """What the network devices of the host have sent so far, if no other program can send there."""
        lines = [line.split(":") for line in Path(f"/proc/{self.pid}/net/dev").read_text().splitlines()[2:]]
        if [name.strip() for name, _ in lines] != ["lo"] or (self._is_apart and self.tier is Tier.T1):
            return 0
        return sum(int(counts.split()[8]) for _, counts in lines)

    def tampered(self) -> list[str]:
        """Files of the course, the class and the results that are not as they were."""
        return [
            path
            for path, text in self.course.files().items()
            if (self._root / self.base.lstrip("/") / path).read_bytes() != text.encode()
        ]

    def targets(self, turn: int) -> dict[str, Any]:
        """What we tell the attackers; `turn` counts how often the same program has been graded."""
        places = {"key": KEY, "tests": TESTS, "secret": SECRET_FILE, "other": OTHER, "results": RESULTS}
        return {
            "tier": str(self.tier),
            "base": self.base,
            **{name: f"{self.base}/{path}" for name, path in places.items()},
            "examiner": self.examiner,
            "host": self.pid,
            "port": self.port,
            "turn": turn,
        }

    def survivors(self) -> list[str]:
        """Processes that grading left behind, by command line; waits for those that are on their way out."""
        deadline = time.monotonic() + _SETTLE_S
        while len(found := descendants(self.pid)) > self.rested and time.monotonic() < deadline:
            time.sleep(0.02)
        return [_command(pid) for pid in found] if len(found) > self.rested else []

    def close(self) -> list[str]:
        """End it; returns what is still running of it afterwards."""
        below = descendants(self._process.pid)
        with contextlib.suppress(OSError):
            self._process.communicate(timeout=30)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        return [_command(pid) for pid in below if _lives(pid)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _ask(self, order: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise Unavailable(f"the host of tier {self.tier} ended (exit status {self._process.wait()})")
        told: dict[str, Any] = json.loads(line)
        if "unavailable" in told:
            raise Unavailable(told["unavailable"])
        assert "failed" not in told, told["failed"]
        return told


def descendants(pid: int) -> list[int]:
    """Living processes below `pid`, which must adopt orphans for this to be all; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    names = os.listdir("/proc") if sys.platform == "linux" else []  # noqa: PTH208  # asked every 20 ms: paths cost more
    for one in map(int, filter(str.isdecimal, names)):
        with contextlib.suppress(OSError), open(f"/proc/{one}/stat", "rb") as file:  # noqa: PTH123  # as above
            state, parent = file.read().rpartition(b")")[2].split()[:2]
            if state != b"Z":
                children.setdefault(int(parent), []).append(one)
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return sorted(found)


def _memory_mib(pid: int) -> tuple[float, float]:
    """Resident memory of a process, now and at its peak."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    values = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
    return int(values["VmRSS"]) / 1024, int(values["VmHWM"]) / 1024


def _is_of_a_box(path: Path) -> bool:
    """Whether a file belongs to a user that boxes have."""
    with contextlib.suppress(OSError):
        return path.lstat().st_uid >= FIRST_UID
    return False


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return f"{pid}: {Path(f'/proc/{pid}/cmdline').read_bytes().replace(bytes(1), b' ').decode('utf-8', 'replace')}"
    return f"{pid}: gone"


def _lives(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] != "Z"
    return False
