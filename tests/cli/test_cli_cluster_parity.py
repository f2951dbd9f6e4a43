"""What a class gets on a cluster is what it gets here: results, notebooks, trainings that go on, and regrades."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_cli_checkpoints import ONE_EPOCH, curves, how
from tests.support.cluster_samples import cluster, needs_t1
from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, RIGHT, SECRET, hand_in, hand_in_notebook
from viva.formats.results_json import load_results

pytestmark = [needs_t1, pytest.mark.long, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="T1")]
__all__ = ["how"]


@pytest.fixture
def place(own_course: Path) -> Iterator[str]:
    """A scheduler with two workers, which have the course's secret from their environment."""
    with cluster() as made:
        yield str(made.scheduler_address)


def comparable(folder: Path) -> dict[str, Any]:
    """Every file that was written, without how long things took."""
    found: dict[str, Any] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.name == "results.json":
            plain = json.loads(path.read_text("utf-8"))
            found[name] = [plain["score"], [[t["name"], t.get("score"), t["output"]] for t in plain["tests"]]]
        elif path.suffix == ".ipynb":
            found[name] = [each.get("outputs") for each in json.loads(path.read_text("utf-8"))["cells"]]
        else:
            found[name] = path.suffix
    return found


def test_the_same_files_as_on_this_machine(viva: Viva, place: str) -> None:
    hand_in_notebook(Path("class/ada"), "print('hello')", RIGHT)
    hand_in(Path("class/bob"), KEEPS_CASE)
    assert viva("grade", "class/ada", "class/bob", "-o", "here").status == 0
    ran = viva("grade", "class/ada", "class/bob", "-o", "there", "--on", place)
    assert ran.status == 0, ran.err
    assert comparable(Path("there")) == comparable(Path("here"))
    assert any(name.endswith(".ipynb") for name in comparable(Path("there")))


def test_a_training_goes_on_on_the_cluster(viva: Viva, place: str, how: Callable[..., None]) -> None:
    assert viva("grade", "ada", "-o", "whole.json").status == 0
    how(ONE_EPOCH)
    assert viva("grade", "ada", "-o", "out", "--on", place).status == 0
    kept = sorted(Path("out/ada/.checkpoints").iterdir())
    assert len(kept) == 2 and all(path.stat().st_mode & 0o777 == 0o600 for path in kept)
    assert "after 1 of 4 epochs" in load_results(Path("out/ada/results.json")).output
    how(100)
    ran = viva("grade", "ada", "-o", "out", "--on", place)
    assert ran.status == 0 and "goes on after epoch 1 of 4" in ran.err
    assert curves(load_results(Path("out/ada/results.json"))) == curves(load_results(Path("whole.json")))
    assert not Path("out/ada/.checkpoints").exists()


def test_a_regrade_on_the_cluster(viva: Viva, place: str, keeping: Path) -> None:
    for name, source in (("ada", RIGHT), ("bob", KEEPS_CASE)):
        hand_in(Path("class") / name, source)
    assert viva("grade", "class/ada", "class/bob", "-o", "out").status == 0
    tests = keeping / "graders/words/test_words.py"
    tests.write_text(tests.read_text("utf-8").replace('"The cat and the hat"', '"the cat and the dog"'), "utf-8")
    ran = viva("regrade", "words", "--on", place)
    assert ran.status == 0, ran.err
    assert "2 regraded, 1 with a different result; 2 programs were run" in ran.out
    assert viva("regrade", "words", "--apply").status == 0
    assert SECRET not in ran.out + ran.err
