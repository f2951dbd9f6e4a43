"""A course on disk and its examiner, in a process of its own; told what to grade by lines of JSON on standard input.

Run by `other_hosts.py` it finds itself on another kind of host: an ordinary user, a container. It adopts every process
that anything below it leaves behind, so that whoever looks at its descendants sees all survivors.
"""

import base64
import contextlib
import json
import os
import shutil
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from viva.config import load_course
from viva.model import Tier
from viva.model.errors import VivaError
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.model.plain import to_plain
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.guest.lockdown import kernel_calls
from viva.submissions import open_submission


class Host:
    """The folder that a grading person has: a course, other students' submissions, results."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="hostile-")).resolve()
        self.count = 0
        self.listener = Listener()
        for path, text in order["files"].items():
            write(self.base / path, text)
        (self.base / order["secret_file"]).chmod(0o600)
        self.course = course = load_course(self.base / "course")
        secret = (self.base / order["secret_file"]).read_bytes()
        self.examiner = ExaminerProcess(
            course, course.assignment(order["assignment"]), secret, BoxOptions(Tier[order["tier"]])
        )

    @property
    def pid(self) -> int:
        """The examiner's process."""
        process = self.examiner._process
        return process.pid if process is not None else 0

    def grade(self, order: dict[str, Any]) -> dict[str, Any]:
        """Write the submission, read it through intake, grade it."""
        started = time.monotonic()
        self.count += 1
        folder = f"submissions/{self.count}"
        for path, text in order["files"].items():
            write(self.base / folder / path, text)
        only = order.get("only")
        place = self.base / folder / only if only else self.base / folder
        submission = open_submission(place, order["name"], withheld=self.course.withheld)
        graded = self.examiner.grade(GradeRequest(submission, GradeOptions(questions=True)))
        shutil.rmtree(self.base / folder, ignore_errors=True)  # the next program finds a class of one, not of hundreds
        return {
            "score": to_plain(graded.score),
            "questions": graded.questions,
            "examiner": self.pid,
            "heard": self.listener.heard(),
            "wall_s": time.monotonic() - started,
        }

    def close(self) -> None:
        """End the examiner, remove the folder."""
        self.examiner.close()
        self.listener.close()
        shutil.rmtree(self.base, ignore_errors=True)


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
            while True:
                self._tcp.accept()[0].close()
                found.append("a TCP connection")
        with contextlib.suppress(BlockingIOError):
            while True:
                found.append(f"UDP: {self._udp.recv(100)!r}")
        return found

    def close(self) -> None:
        """Stop listening."""
        self._tcp.close()
        self._udp.close()


def _make_socket(target: Path, _: str) -> None:
    here = os.open(target.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{here}/{target.name}")
    os.close(here)


def _make_program(target: Path, text: str) -> None:
    target.write_text(text)
    target.chmod(0o4755)


def _make_sparse(target: Path, size: str) -> None:
    with target.open("wb") as file:
        file.truncate(int(size))


_MAKE: dict[str, Callable[[Path, str], object]] = {
    "bytes": lambda target, what: target.write_bytes(base64.b64decode(what)),
    "link": lambda target, what: target.symlink_to(what),
    "hard link": lambda target, what: os.link(what, target, follow_symlinks=False),
    "pipe": lambda target, _: os.mkfifo(target),
    "socket": _make_socket,
    "sparse": _make_sparse,
    "program": _make_program,
}
"""What a folder may hold besides texts."""


def write(target: Path, content: str | dict[str, str]) -> None:
    """One file: its text, or how to make it if it is anything else."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        target.write_text(content, "utf-8", "surrogateescape")
        return
    ((how, what),) = content.items()
    _MAKE[how](target, what)


def main() -> None:
    """Serve until standard input ends."""
    if sys.platform == "linux":
        kernel_calls.prctl(kernel_calls.PR_SET_CHILD_SUBREAPER, 1)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    host = None

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        host = Host(json.loads(sys.stdin.readline()))
        host.examiner.open()
        answer({"base": str(host.base), "examiner": host.pid, "pid": os.getpid(), "port": host.listener.port})
        for line in sys.stdin:
            try:
                answer(host.grade(json.loads(line)))
            except Exception:
                answer({"failed": traceback.format_exc()})
    except VivaError as error:
        answer({"unavailable": str(error)})
    finally:
        if host is not None:
            host.close()


if __name__ == "__main__":
    main()
