"""`python -m bench.gpu`, without a GPU and on one that is a null device; thresholds are measured without limits."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import gpu as bench
from tests.support.course_of_texts import NAME, best_tier, write_course
from tests.support.gpu_machines import machine_with_gpu
from viva.model.gpu import Gpus
from viva.sandbox.host.gpu import gpus

TESTS = """\
import pytest
from viva.grading import agree, weight
from viva.plugins import training

@weight(1)
def test_before(student):
    agree(student.two(), 2)

@weight(2)
@pytest.mark.training
@pytest.mark.gpu(memory_mib=16_000)
def test_on_it(student):
    for epoch in training.epochs(2, budget_s=9, name="real"):
        epoch.record(loss=3 - epoch.number)
    agree(student.two(), 2)

@weight(4)
@pytest.mark.gpu(memory_mib=40_000)
def test_too_large(student):
    agree(student.two(), 2)
"""
RIGHT, WRONG = "def two(): return 2\n", "def two(): return 3\n"


@pytest.fixture
def offered() -> Iterator[Gpus]:
    with machine_with_gpu(5) as (machine, _):
        yield dataclasses.replace(machine.gpus(), checked=True)


def hand_in(root: Path) -> None:
    for name, text in (("accepted/one", RIGHT), ("accepted/other", WRONG), ("wrong/third", WRONG)):
        folder = root / "fixtures" / NAME / "submissions" / name
        folder.mkdir(parents=True)
        (folder / "solution.py").write_text(text, "utf-8")


def test_bench_without_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(gpus, "find_gpus", lambda environ: Gpus())
    assert bench.main(["-o", str(tmp_path / "gpu")]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("bench.gpu: --gpu require: there is no GPU here")
    assert said.err.count("\n") == 1 and not list(tmp_path.iterdir())


def test_measured_examples_have_scores_and_curves(tmp_path: Path, offered: Gpus) -> None:
    course = write_course(tmp_path, tests=TESTS, key=RIGHT)
    hand_in(tmp_path)
    found = bench.measured(course, [NAME], best_tier(), offered)
    assert json.loads(json.dumps(found)) == found
    assert found["gpu"] == {"name": "NVIDIA L4", "driver": "550.90.07", "memory_mib": 23034}
    one = found["assignments"][NAME]["accepted/one"]
    file = f"test_{tmp_path.name.replace('-', '_')}.py"
    assert (one["earned"], one["points"], one["peak_mib"]) == ("2", "6", 0)
    assert one["curves"] == {"real, loss": [2.0, 1.0]}
    assert one["tests"][f"{file}::test_on_it"]["status"] == "passed" and one["seconds"] > 0
    lost = bench.complaints(found)
    assert len(lost) == 3
    assert (
        f"{NAME}, accepted/one: {file}::test_too_large deferred: Not graded yet: this test needs a GPU with 40,000"
        in lost[0]
    )
    assert f"{NAME}, accepted/other: {file}::test_on_it failed: " in lost[1]


def test_each_part_is_written(
    tmp_path: Path, offered: Gpus, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "checked", lambda *_: (True, []))
    course = write_course(tmp_path / "course", tests=TESTS, key=RIGHT)
    hand_in(tmp_path / "course")
    assert bench.everything(course, [NAME], best_tier(), offered, tmp_path / "gpu") == 1
    assert sorted(path.name for path in (tmp_path / "gpu").iterdir()) == [
        "doctor.json", f"{NAME}.gap.json", f"{NAME}.json",
    ]  # fmt: skip
    found = json.loads((tmp_path / "gpu" / f"{NAME}.json").read_text("utf-8"))["assignments"][NAME]
    assert list(found) == ["accepted/one", "accepted/other", "wrong/third"]
    said = capsys.readouterr()
    assert "accepted/other" in said.err and "wrong/third" not in said.err
    assert f"{NAME}: on NVIDIA L4, 0 of 0 verdicts of 4 example submissions" in said.out
