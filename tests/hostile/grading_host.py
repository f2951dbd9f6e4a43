"""A course on disk and its examiner, in a process of its own; told what to grade by lines of JSON on standard input.

Run by `hosts.py` of the box's tests it finds itself on another kind of host: an ordinary user, a container. It adopts
every process that anything below it leaves behind, so that whoever looks at its descendants sees all survivors.
"""

import ctypes
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from viva.course import load_course
from viva.examine.messages import score_to_plain
from viva.examine.parent import ExaminerProcess, Wanted
from viva.intake import open_submission
from viva.model import Tier
from viva.model.errors import VivaError

_ADOPT_ORPHANS = 36


class Host:
    """The folder that a grading person has: a course, other students' submissions, results."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="viva-hostile-")).resolve()
        self.count = 0
        for path, text in order["files"].items():
            self.write(path, text)
        (self.base / order["secret_file"]).chmod(0o600)
        course = load_course(self.base / "course")
        secret = (self.base / order["secret_file"]).read_bytes()
        self.examiner = ExaminerProcess(course, course.assignment(order["assignment"]), Tier[order["tier"]], secret)

    def write(self, path: str, text: str) -> None:
        """One file below the folder."""
        target = self.base / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", "surrogateescape")

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
            self.write(f"{folder}/{path}", text)
        submission = open_submission(self.base / folder, order["name"])
        graded = self.examiner.grade(submission, Wanted(record=True))
        return {
            "score": score_to_plain(graded.score),
            "questions": graded.questions,
            "examiner": self.pid,
            "wall_s": time.monotonic() - started,
        }

    def close(self) -> None:
        """End the examiner, remove the folder."""
        self.examiner.close()
        shutil.rmtree(self.base, ignore_errors=True)


def main() -> None:
    """Serve until standard input ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    host = None

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        host = Host(json.loads(sys.stdin.readline()))
        host.examiner.open()
        answer({"base": str(host.base), "examiner": host.pid, "pid": os.getpid()})
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
