"""`--gpu auto|require|defer`, with and without a GPU; none is needed for these tests."""

import dataclasses
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.gpu_machines import Machine
from tests.support.run_command import Viva
from tests.support.words_course import ACCEPTED, SETTINGS_FILE, TESTS, TESTS_FILE, edit, hand_in
from viva.sandbox.host.gpu import gpus
from viva.sandbox.host.gpu.gpus import find_gpus

pytestmark = pytest.mark.long

ON_GPU = '''

@number("3.1")
@weight(3)
@pytest.mark.gpu(memory_mib=16_000)
def test_on_a_gpu(student, key):
    """The sum on a GPU."""
    agree(student.total([4, 5]), key.total([4, 5]))
'''
BUS = "fade:fe:1f.0"


@pytest.fixture
def gpu_course(own_course: Path) -> Path:
    (own_course / TESTS_FILE).write_text("import pytest\n" + TESTS + ON_GPU, "utf-8")
    edit(own_course / SETTINGS_FILE, "points: 10", "points: 13")
    hand_in(own_course / "fixtures/words/submissions/accepted/plain", ACCEPTED)
    return own_course


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """What the commands take for this machine; no GPU so far."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    made = Machine(folder)
    monkeypatch.setenv("PATH", made.install_smi())
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    # A null device would fail its check, which has tests of its own.
    found = lambda environ: dataclasses.replace(find_gpus(environ, made.dev, made.driver), checked=True)  # noqa: E731
    monkeypatch.setattr(gpus, "find_gpus", found)
    yield made
    shutil.rmtree(folder)
    Path(f"/tmp/viva-gpu-{BUS.replace(':', '-')}.lock").unlink(missing_ok=True)


def graded(viva: Viva, course: Path, *options: str) -> tuple[dict[str, Any], Any]:
    """The result that was written, and its test for a GPU."""
    target = course.parent / "result.json"
    ran = viva("grade", hand_in(course.parent / "mine"), "-o", target, *options)
    assert ran.status == 0 and ran.err == "", ran.err
    result = json.loads(target.read_text("utf-8"))
    return result, next(t for t in result["tests"] if t["number"] == "3.1")


def test_no_gpu(viva: Viva, gpu_course: Path, machine: Machine) -> None:
    result, test = graded(viva, gpu_course)
    assert "score" not in test and test["output"] == "Not graded yet: this test needs a GPU, and there was none."
    assert (result["score"], result["extra_data"]["still_open"]) == (9, "4") and "gpu" not in result["extra_data"]
    target = gpu_course.parent / "result.json"
    target.unlink()
    ran = viva("grade", hand_in(gpu_course.parent / "mine"), "-o", target, "--gpu", "require")
    assert (ran.status, ran.out) == (1, "") and "--gpu require: there is no GPU here" in ran.sentence()
    assert not target.exists()
    machine.add(BUS, 0)
    assert viva("grade", hand_in(gpu_course.parent / "mine"), "--gpu", "require").status == 0


def test_gpu_is_used_and_written(viva: Viva, gpu_course: Path, machine: Machine) -> None:
    machine.add(BUS, 0)
    result, test = graded(viva, gpu_course)
    assert (test["status"], test["score"], result["score"]) == ("passed", 3, 12)
    assert result["extra_data"]["gpu"] == {
        "name": "NVIDIA L4", "driver": "550.90.07", "memory_mib": 23034, "peak_mib": 0,
    }  # fmt: skip
    result, test = graded(viva, gpu_course, "--gpu", "defer")
    assert test["output"] == "Not graded yet: this test needs a GPU, and tests for a GPU were left out of this run."
    assert "gpu" not in result["extra_data"]


def test_check_and_verify_leave_the_gpu_alone(viva: Viva, gpu_course: Path, machine: Machine) -> None:
    machine.add(BUS, 0)
    assert "7 of 7 points, 4 more pending" in viva("check", hand_in(gpu_course.parent / "mine")).out
    ran = viva("verify", "--no-mutants")
    assert ran.status == 0 and ran.out.endswith("; 1 test for a GPU left out).\n")
    ran = viva("verify", "--no-mutants", "--gpu", "require")
    assert ran.status == 0 and "left out" not in ran.out


def test_device_that_cannot_be_given(
    viva: Viva, gpu_course: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.add(BUS, 0)
    found = dataclasses.replace(find_gpus({}, machine.dev, machine.driver), checked=True)
    monkeypatch.setattr(gpus, "find_gpus", lambda environ: found)
    (machine.dev / "nvidia0").unlink()
    ran = viva("grade", hand_in(gpu_course.parent / "mine"))
    assert ran.status == 1 and "/dev/nvidia0" in ran.sentence()
    assert "`--gpu defer` leaves such tests out" in ran.sentence()


def test_amd_gpu(viva: Viva, gpu_course: Path, machine: Machine) -> None:
    (machine.dev / "kfd").touch()
    amd = "this machine has an AMD GPU (/dev/kfd), which viva does not support"
    assert f"A GPU is not used: {amd}.\n" in viva("doctor").out
    _, test = graded(viva, gpu_course)
    assert test["output"] == f"Not graded yet: this test needs a GPU, and {amd}."
    ran = viva("grade", hand_in(gpu_course.parent / "mine"), "--gpu", "require")
    assert ran.status == 1 and f"Also, {amd}." in ran.sentence()


def test_doctor_shows_and_checks_each_gpu(viva: Viva, gpu_course: Path, machine: Machine) -> None:
    assert "GPU" not in viva("doctor").out
    ran = viva("doctor", "--gpu")
    assert ran.status == 1 and "There is no GPU here that sandboxes can use" in ran.sentence()
    (machine.dev / "kfd").touch()
    assert "has an AMD GPU (/dev/kfd)" in viva("doctor", "--gpu").sentence()
    machine.add(BUS, 0)
    said = " ".join(viva("doctor").out.split())
    assert f"GPU NVIDIA L4, 23,034 MiB, driver 550.90.07, {machine.dev / 'nvidia0'} ({BUS})" in said
    ran = viva("doctor", "--gpu", "-a", "words")
    lines = ran.out.splitlines()
    assert ran.status == 1 and len(lines) == 6
    assert lines[0].startswith(f"GPU NVIDIA L4 ({BUS}), checked in a sandbox of level T")
    assert lines[1].startswith("  ✗ CUDA starts: torch ") and "Install a torch that was built for CUDA" in lines[1]
    assert lines[5] == "  – earlier memory is unreadable: not tried"
