"""Kills examiners at random moments: `python tests/faults/kills.py KILLS [SEED]`; `make kills` kills a hundred.

Each time a class of two is graded, whose right scores are known; one examiner is killed once, somewhere between its
start and its end. Whatever the moment, both scores must be right in the end, and nothing may be left behind.
"""

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / name) for name in ("faults", "cli", "helpers")]

from tests.support.faulty_host import (
    COMMAND_S,
    RIGHT_POINTS,
    WRONG_POINTS,
    class_of_two,
    examiners,
    nothing_left,
    patient_course,
    result,
    start,
)
from tests.support.run_command import without_warning
from tests.support.wait_until import wait_until
from tests.support.words_course import SECRET

NEVER_S = 3600.0


def kill_one(folder: Path, moment_s: float) -> tuple[bool, float]:
    """Grade the class in `folder`; kill its examiner when so many seconds have passed since it was there.

    Returns:
        Whether it still lived, and for how many seconds the command went on since then in all.
    """
    shutil.rmtree(folder / "graded", ignore_errors=True)
    process = start(folder / "class", "-o", folder / "graded", "--workers", "1")
    wait_until(lambda: examiners(process.pid) or process.poll() is not None)
    born = time.monotonic()
    while time.monotonic() < born + moment_s and process.poll() is None:
        time.sleep(0.001)
    living = examiners(process.pid)
    for pid in living:
        os.kill(pid, signal.SIGKILL)
    out, said = process.communicate(timeout=COMMAND_S)
    lived_s = time.monotonic() - born
    assert process.returncode == 0, out + said
    assert "Traceback" not in out + said
    assert not without_warning(said) or "the examiner ended; a fresh one graded this from the start" in said
    for name, points in {"ada": RIGHT_POINTS, "bob": WRONG_POINTS}.items():
        (path,) = (folder / "graded").rglob(f"{name}/results.json")
        assert result(path).extra_data.complete and result(path).score == points
    assert not list((folder / "graded").rglob(".*"))
    return bool(living), lived_s


def kill(times: int, seed: int) -> int:
    """Kill so many examiners; returns how many runs that took."""
    rng, runs, killed, life_s = random.Random(seed), 0, 0, NEVER_S
    with tempfile.TemporaryDirectory(prefix="kills-") as there:
        folder, scratch = Path(there), Path(there, "scratch")
        scratch.mkdir()
        class_of_two(folder / "class")
        course = patient_course(folder / "course")
        settings = {"VIVA_COURSE": str(course), "VIVA_SECRET": SECRET, "TMPDIR": str(scratch)}
        before = {name: os.environ.get(name) for name in settings}
        os.environ.update(settings)
        try:
            while killed < times:
                with nothing_left(scratch):
                    hit, lived_s = kill_one(folder, NEVER_S if life_s == NEVER_S else rng.uniform(0, life_s))
                life_s = life_s if hit else lived_s  # the first run is left alone, to see how long an examiner lives
                runs, killed = runs + 1, killed + hit
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
    return runs


if __name__ == "__main__":
    wanted, chosen = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(f"{wanted} examiners killed in {kill(wanted, chosen)} runs (seed {chosen}): every score right, nothing left")
