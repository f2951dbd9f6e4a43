"""Run in a container as root: lays out `/autograder` as the platform does and grades there, by `run_autograder` itself.

Prints one JSON object: what each submission got. The environment that setup.sh would install is the one that is bound
into the container.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.support.gradescope_course import HANGS, RIGHT, SECRET, checked, write, write_course
from viva.plugins.release.gradescope.package import Autograder

AUTOGRADER = Path("/autograder")
METADATA = {"created_at": "2026-03-01T12:00:00Z", "users": [{"email": "somebody@example.org", "id": 1, "name": "A B"}]}
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for source in ("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()", RIGHT)
    ],
}
HOSTILE = """
import os, subprocess

WANTED = [
    "/autograder/source/course/secret", "/autograder/source/course/graders/sums/key.py", "/autograder/source",
    "/autograder/source/course/graders/sums/test_sums.py", "/autograder/results/results.json", "/autograder/results",
    "/autograder/submission_metadata.json", "/autograder/submission/solution.py", "/autograder/submission",
    "/autograder/source/gradescope.json", "/run/viva-uids", "/etc/shadow",
]


def opened(path):
    try:
        return os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(20) or True
    except OSError:
        return None


def written(path):
    try:
        open(path, "wb").write(b'{"score": 100}')
        return True
    except OSError:
        return None


def others():
    for pid in range(1, 400):  # /proc itself cannot be listed
        for name in ("environ", "mem", "fd", "cwd", "root/autograder/source/course/secret"):
            if pid not in (os.getpid(), os.getppid()) and opened(f"/proc/{pid}/{name}"):
                yield f"/proc/{pid}/{name}"


def total(numbers):
    found = [path for path in WANTED if opened(path)]
    found += [path for path in ("/autograder/results/results.json", "/autograder/x", "/opt/viva/x") if written(path)]
    found += list(others())
    shell = subprocess.run("cat /autograder/source/course/secret /autograder/*.json", shell=True, capture_output=True)
    found += [shell.stdout.decode()] if shell.stdout else []
    try:
        os.setuid(0)
        found.append("root")
    except OSError:
        pass
    return "found: " + ", ".join(map(str, found)) if found else sum(numbers)
"""


def install(root: Path, course: Path) -> None:
    """The image: the zip is unpacked, and what setup.sh would install lies at its place."""
    made = write_course(course)
    Autograder(made, made.assignment("sums"), SECRET).to(course / "a.zip")
    shutil.rmtree(root / "source", ignore_errors=True)
    with zipfile.ZipFile(course / "a.zip") as archive:
        archive.extractall(root / "source")
    for name in ("submission", "results"):
        (root / name).mkdir(exist_ok=True)
    shutil.copy(root / "source/run_autograder", root / "run_autograder")
    (root / "run_autograder").chmod(0o755)


def graded(root: Path, source: str, command: list[str], name: str = "solution.py") -> dict[str, object]:
    """One run: the results as the platform would read them, and what instructors would."""
    shutil.rmtree(root / "submission")
    write(root / "submission" / name, source)
    write(root / "submission_metadata.json", json.dumps(METADATA))
    done = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    results = checked((root / "results/results.json").read_bytes())
    return {"status": done.returncode, "said": done.stdout + done.stderr, "results": results}


def main() -> None:
    """The whole of it."""
    Path("/opt/viva").mkdir(parents=True)
    Path("/opt/viva/venv").symlink_to(sys.prefix)
    AUTOGRADER.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        install(AUTOGRADER, Path(folder))
    run = [str(AUTOGRADER / "run_autograder")]
    harness = [sys.executable, "-I", "-m", "viva.plugins.release.gradescope.harness"]
    write(AUTOGRADER / "submission_metadata.json", "{}")
    write(AUTOGRADER / "results/results.json", "{}")
    small = Path("/small")
    shutil.copytree(AUTOGRADER, small / "autograder")
    write(small / "sys/fs/cgroup/memory.max", str(200 << 20))
    as_root = f"{HOSTILE}\nprint(total([]))"
    trusted = subprocess.run([sys.executable, "-c", as_root], capture_output=True, text=True, check=True).stdout
    runs = {
        "trusted": {"said": trusted},
        "right": graded(AUTOGRADER, RIGHT, run),
        "again": graded(AUTOGRADER, RIGHT, run),
        "notebook": graded(AUTOGRADER, json.dumps(NOTEBOOK), run, "answers.ipynb"),
        "hostile": graded(AUTOGRADER, HOSTILE, run),
        "hangs": graded(AUTOGRADER, HANGS, [*harness, "--deadline", "15"]),
        "small": graded(small / "autograder", RIGHT, [*harness, "--root", str(small)]),
    }
    print(json.dumps(runs))


if __name__ == "__main__":
    main()
