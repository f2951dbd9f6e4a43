"""Which tiers this machine can offer, by itself or disguised as another host, and one examiner in each."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from hostile_course import KEY, OTHER, RESULTS, SECRET_FILE, TESTS, HostileCourse
from hostile_programs import Program

from viva.box.outside import detect_tiers
from viva.examine.messages import score_from_plain
from viva.model import Score, Tier

HERE: Final = Path(__file__).parent
_OTHER_HOSTS: Final = HERE.parent / "box" / "outside" / "hosts.py"
_SETTLE_S: Final = 8.0


def offered() -> dict[Tier, list[str]]:
    """Each tier with the words that a command must be prefixed by to find itself on a host of that tier.

    A root who may make namespaces can play all other hosts. T0 is always played by an ordinary user: run by root it
    would give every hostile program this machine.
    """
    native = {report.tier: [] for report in detect_tiers() if report.available}
    if os.geteuid() != 0:
        return native
    if Tier.T3 not in native:
        return {tier: prefix for tier, prefix in native.items() if tier is not Tier.T0}
    elsewhere = [sys.executable, str(_OTHER_HOSTS)]
    return {
        Tier.T3: [],
        Tier.T2: [*elsewhere, "unprivileged"],
        Tier.T1: [*elsewhere, "container"],
        Tier.T0: [*elsewhere, "unprivileged"],
    }


class Unavailable(Exception):
    """The tier cannot be had here after all; says why."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came back from one grading."""

    score: Score
    everything: str
    """All of it as text: entries, notes, what was asked and answered, the record of the walls."""
    examiner: int
    wall_s: float

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
    heard: list[str]
    examiner_ended: bool
    growth_mib: float
    """Resident memory of the examiner, compared with before."""
    peak_mib: float


class GradingHost:
    """One examiner on a host of one tier, and the means to see what it leaves behind."""

    def __init__(self, tier: Tier, prefix: list[str], course: HostileCourse) -> None:
        self.tier, self.course = tier, course
        self.listener = Listener()
        self._process = subprocess.Popen(
            [*prefix, sys.executable, str(HERE / "grading_host.py")],
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
        self.base, self.pid, self.examiner = told["base"], told["pid"], told["examiner"]
        self.rested = 0
        """Processes below the host when nothing is graded."""
        self.settle()

    def settle(self) -> None:
        """Learn how many processes a resting examiner has: count until the number stays."""
        seen: list[int] = []
        deadline = time.monotonic() + _SETTLE_S
        while time.monotonic() < deadline and (len(seen) < 10 or len(set(seen[-10:])) > 1):
            seen.append(len(descendants(self.pid)))
            time.sleep(0.02)
        self.rested = seen[-1]

    def grade(self, name: str, files: Mapping[str, str]) -> Result:
        """Grade files as one submission."""
        told = self._ask({"name": name, "files": dict(files)})
        self.examiner = told["examiner"] or self.examiner
        return Result(score_from_plain(told["score"]), json.dumps(told), told["examiner"], told["wall_s"])

    def try_out(self, program: Program, turn: int = 0) -> Trial:
        """Grade a hostile program, with its tools and all it could know, and see what is left of us."""
        examiner, before_mib = self.examiner, self.memory_mib()[0]
        result = self.grade(program.name, program.files(self.targets(turn)))
        survivors, ended = self.survivors(), result.examiner != examiner
        after_mib, peak_mib = (before_mib, 0.0) if ended else self.memory_mib()
        tampered, heard = self.tampered(), self.listener.heard()
        honest = self.grade("honest", {"solution.py": self.course.honest()})
        return Trial(result, honest, survivors, tampered, heard, ended, after_mib - before_mib, peak_mib)

    def tampered(self) -> list[str]:
        """Files of the course, the class and the results that are not as they were."""
        return [
            path for path, text in self.course.files().items() if Path(self.base, path).read_bytes() != text.encode()
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
            "port": self.listener.port,
            "turn": turn,
        }

    def survivors(self) -> list[str]:
        """Processes that grading left behind, by command line; waits for those that are on their way out."""
        deadline = time.monotonic() + _SETTLE_S
        while len(found := descendants(self.pid)) > self.rested and time.monotonic() < deadline:
            time.sleep(0.02)
        return [_command(pid) for pid in found] if len(found) > self.rested else []

    def memory_mib(self) -> tuple[float, float]:
        """Resident memory of the examiner, now and at its peak."""
        lines = Path(f"/proc/{self.examiner}/status").read_text().splitlines()
        values = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
        return int(values["VmRSS"]) / 1024, int(values["VmHWM"]) / 1024

    def close(self) -> list[str]:
        """End it; returns what is still running of it afterwards."""
        below = descendants(self._process.pid)
        with contextlib.suppress(OSError):
            self._process.communicate(timeout=30)
        self.listener.close()
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


class Listener:
    """Ports of the grading host that no program may reach: TCP and UDP under one number, on every local address."""

    def __init__(self) -> None:
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        for listener in (self._tcp, self._udp):
            listener.setblocking(False)

    def heard(self) -> list[str]:
        """What has arrived since the last look."""
        found = []
        with contextlib.suppress(BlockingIOError):
            self._tcp.accept()[0].close()
            found.append("a TCP connection")
        with contextlib.suppress(BlockingIOError):
            found.append(f"UDP: {self._udp.recv(100)!r}")
        return found

    def close(self) -> None:
        """Stop listening."""
        self._tcp.close()
        self._udp.close()


def descendants(pid: int) -> list[int]:
    """Living processes below `pid`, which must adopt orphans for this to be all; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat") if sys.platform == "linux" else ():
        with contextlib.suppress(OSError):
            state, parent = entry.read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(int(entry.parent.name))
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return sorted(found)


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return f"{pid}: {Path(f'/proc/{pid}/cmdline').read_bytes().replace(bytes(1), b' ').decode('utf-8', 'replace')}"
    return f"{pid}: gone"


def _lives(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] != "Z"
    return False
