"""`viva grade -o` keeps trainings next to the results, goes on with them when it is run again, and takes them away.

The same, and the same results, on a cluster.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster_samples import cluster, needs_t1
from tests.support.run_command import Viva
from tests.support.wait_until import wait_until
from tests.support.words_course import KEEPS_CASE, RIGHT, SECRET, TESTS_FILE, edit, hand_in, hand_in_notebook
from viva.formats.results_json import Results, load_results
from viva.model import Tier
from viva.sandbox.host.levels.detect_levels import detect_tiers

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="boxes of a tier above T0"),
    pytest.mark.skipif(not any(r.available and r.tier > Tier.T0 for r in detect_tiers()), reason="nothing kept in T0"),
]
Start = Callable[..., "subprocess.Popen[str]"]

TESTS = '''\
import os
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from viva.grading import number, training

HOW = Path(__file__).parents[2] / "how"  # beside the graders, for a changed test would be another test


@number("1")
@pytest.mark.training
def test_it_walks(student, inside):
    """It walks."""
    budget_s, pause_s = map(float, (HOW / "times").read_text().split())
    for seed in (1, 2):
        walk, order = inside.start.keep(student.step, seed), np.random.default_rng(seed)
        epochs = training.epochs(
            4, budget_s=budget_s, name=f"walk {seed}", save=partial(inside.snapshot, walk),
            load=partial(inside.restore, walk), rng=order, seed=seed,
        )
        for epoch in epochs:
            epoch.record(place=inside.train(walk) + order.random())
            time.sleep(pause_s)


@number("2")
def test_ours(student):
    """May be our fault."""
    assert not (HOW / "fault").exists() or missing_name
    assert student.step(2) == 1


@number("3")
@pytest.mark.training
@pytest.mark.gpu(memory_mib=10_000_000)
def test_elsewhere(student):
    """Is asked on no machine."""
'''
INSIDE = """\
import random


class Walk:
    place = 0.0


def start(step, seed):
    random.seed(seed)
    walk = Walk()
    walk.step = step
    return walk


def train(walk):
    walk.place = walk.step(walk.place) + random.random()
    return walk.place


def snapshot(walk):
    return [walk.place, random.getstate()]


def restore(walk, state):
    walk.place = state[0]
    random.setstate(state[1])
"""
STEP = "def step(place):\n    return place / 2\n"
OUT = Path("out/ada/results.json")
KEPT = Path("out/ada/.checkpoints")


@pytest.fixture
def how(own_course: Path) -> Callable[[float, float], None]:
    """`how(budget_s, pause_s)`: how long a training and its epochs may take, in a course whose only test trains."""
    for path in (own_course / "graders/words").glob("test_*.py"):
        path.write_text(TESTS, "utf-8")
    (own_course / "graders/words/inside.py").write_text(INSIDE, "utf-8")
    (own_course / "how").mkdir()
    Path("ada").mkdir()
    Path("ada/solution.py").write_text(STEP, "utf-8")

    def write(budget_s: float, pause_s: float = 0.0) -> None:
        (own_course / "how/times").write_text(f"{budget_s} {pause_s}", "utf-8")

    write(100)
    return write


def curves(result: Results) -> dict[str, list[float]]:
    return {curve.name: list(curve.values) for curve in result.extra_data.curves or ()}


def checkpoints(folder: Path = KEPT) -> list[Path]:
    return sorted(folder.glob("*.checkpoint"))


ONE_EPOCH = 1e-9  # an epoch counts 0.004 of its wall time or more, and takes more than a microsecond


@pytest.mark.long
def test_checkpoint_goes_with_a_whole_training(viva: Viva, how: Callable[..., None], own_course: Path) -> None:
    """It stays where the training was not asked, or a test is open through our fault."""
    how(ONE_EPOCH)
    viva("grade", "ada", "-o", "ada.json", "--only", "1")
    folder = Path(".ada.checkpoints")
    (folder / "of a changed submission.checkpoint").write_bytes(b"x")
    how(100)
    viva("grade", "ada", "-o", "ada.json", "--only", "2")
    assert len(checkpoints(folder)) == 3  # it did not ask for any training
    viva("grade", "ada", "-o", "ada.json", "--no-training")
    assert len(checkpoints(folder)) == 3
    (own_course / "how/fault").touch()
    assert viva("grade", "ada", "-o", "ada.json").status == 2 and len(checkpoints(folder)) == 3
    (own_course / "how/fault").unlink()
    ran = viva("grade", "ada", "-o", "ada.json", "--only", "1")
    assert "goes on" in ran.err and not folder.exists()
    again = viva("grade", "ada", "-o", "ada.json", "--only", "1")
    assert "goes on" not in again.err and len(curves(load_results(Path("ada.json")))["walk 1, place"]) == 4


@pytest.mark.parametrize("options", [["-o", "out", "--tier", "T0"], []], ids=["T0", "no -o"])
def test_nothing_is_kept(options: list[str], viva: Viva, how: Callable[..., None]) -> None:
    """Neither where a sandbox could write, nor where there is no folder."""
    how(ONE_EPOCH)
    assert viva("grade", "ada", *options).status == 0
    assert not list(Path.cwd().rglob("*.checkpoint")) and not KEPT.exists()


def test_damaged_checkpoint_is_told_to_staff(viva: Viva, how: Callable[..., None]) -> None:
    how(ONE_EPOCH)
    viva("grade", "ada", "-o", "out")
    for path in checkpoints():
        path.write_bytes(path.read_bytes()[:100])
    ran = viva("grade", "ada", "-o", "out")
    assert ran.status == 0
    assert "viva: ada: test_words.py::test_it_walks[]: walk 1: its checkpoint was not used: it was changed" in ran.err
    assert "checkpoint" not in OUT.read_text("utf-8")


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_run_goes_on(number: signal.Signals, start: Start, viva: Viva, how: Callable[..., None]) -> None:
    how(100, 0)
    assert viva("grade", "ada", "-o", "whole").status == 0
    how(100, 4)  # an examiner whose command was killed goes on for two seconds: not to the last epoch
    process = start("grade", "ada", "-o", "out")
    wait_until(checkpoints)
    os.killpg(process.pid, number)
    process.communicate(timeout=600)
    assert not load_results(OUT).extra_data.complete
    assert len(checkpoints()) == 1 and checkpoints()[0].stat().st_mode & 0o777 == 0o600
    how(100, 0)
    ran = viva("grade", "ada", "-o", "out")
    assert ran.status == 0 and "walk 1, goes on after epoch " in ran.err
    result, whole = load_results(OUT), load_results(Path("whole/ada/results.json"))
    assert result.extra_data.complete and curves(result) == curves(whole)
    assert [(t.name, t.score, t.output) for t in result.tests] == [(t.name, t.score, t.output) for t in whole.tests]
    assert not KEPT.exists()


# --- on a cluster


@pytest.fixture
def scheduler(own_course: Path) -> Iterator[str]:
    """A scheduler with two workers, which have the course's secret from their environment."""
    with cluster() as local:
        yield str(local.scheduler_address)


def comparable(folder: Path) -> dict[str, Any]:
    """Every file that was written, without how long things took."""
    files: dict[str, Any] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.name == "results.json":
            result = json.loads(path.read_text("utf-8"))
            files[name] = [result["score"], [[t["name"], t.get("score"), t["output"]] for t in result["tests"]]]
        elif path.suffix == ".ipynb":
            files[name] = [each.get("outputs") for each in json.loads(path.read_text("utf-8"))["cells"]]
        else:
            files[name] = path.suffix
    return files


@needs_t1
@pytest.mark.long
def test_cluster_writes_the_same_files(viva: Viva, scheduler: str) -> None:
    hand_in_notebook(Path("class/ada"), "print('hello')", RIGHT)
    hand_in(Path("class/bob"), KEEPS_CASE)
    assert viva("grade", "class/ada", "class/bob", "-o", "here").status == 0
    ran = viva("grade", "class/ada", "class/bob", "-o", "there", "--on", scheduler)
    assert ran.status == 0, ran.err
    assert comparable(Path("there")) == comparable(Path("here"))
    assert any(name.endswith(".ipynb") for name in comparable(Path("there")))


@needs_t1
@pytest.mark.long
def test_training_goes_on_on_the_cluster(viva: Viva, scheduler: str, how: Callable[..., None]) -> None:
    assert viva("grade", "ada", "-o", "whole.json").status == 0
    how(ONE_EPOCH)
    assert viva("grade", "ada", "-o", "out", "--on", scheduler).status == 0
    assert len(checkpoints()) == 2 and all(path.stat().st_mode & 0o777 == 0o600 for path in checkpoints())
    assert "after 1 of 4 epochs" in load_results(OUT).output
    how(100)
    ran = viva("grade", "ada", "-o", "out", "--on", scheduler)
    assert ran.status == 0 and "goes on after epoch 1 of 4" in ran.err
    assert curves(load_results(OUT)) == curves(load_results(Path("whole.json")))
    assert not KEPT.exists()


@needs_t1
@pytest.mark.long
def test_regrade_on_the_cluster(viva: Viva, scheduler: str, keeping: Path, ada_and_bob: Path) -> None:
    assert viva("grade", "class/ada", "class/bob", "-o", "out").status == 0
    edit(keeping / TESTS_FILE, '"The cat and the hat"', '"the cat and the dog"')
    ran = viva("regrade", "words", "--on", scheduler)
    assert ran.status == 0, ran.err
    assert "2 regraded, 1 with a different result; 2 programs were run" in ran.out
    assert viva("regrade", "words", "--apply").status == 0
    assert SECRET not in ran.out + ran.err
