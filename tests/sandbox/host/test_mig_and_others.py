"""MIG slices are found and lent like GPUs; GPUs that sandboxes cannot use are refused by name."""

import platform
import shutil
import sys
from pathlib import Path

import pytest

from tests.sandbox.host.conftest import SMALL, offered
from tests.support.boxed_program import Program
from tests.support.gpu_machines import Machine
from viva.model.gpu import Gpus
from viva.model.plain import from_plain, to_plain
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.gpu import gpus as finding
from viva.sandbox.host.gpu.gpu_lease import lock_file
from viva.sandbox.host.gpu.gpus import used_mib
from viva.sandbox.host.gpu.mig import parse_list, parse_report
from viva.sandbox.tier import Tier

BUS, OTHER = "0000:01:00.0", "0000:02:00.0"
LISTED = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f)
  MIG 3g.20gb     Device  0: (UUID: MIG-c7384736-a75d-5afc-978f-d2f1294409fd)
  MIG 1g.5gb      Device  1: (UUID: MIG-GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f/9/0)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-00000000-d268-c3f3-1b07-005d5ae1dc3f)
"""


@pytest.fixture
def machine(open_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """One GPU with two slices, and a whole one."""
    made = Machine(open_path)
    monkeypatch.setenv("PATH", made.install_smi())
    made.add(BUS, 0, "NVIDIA A100-SXM4-40GB", "40960")
    made.add(OTHER, 1)
    made.divide(BUS, 0, {"1/0": 30, "9/0": 102})
    return made


def test_list_of_slices() -> None:
    gpu = "GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f"
    slices = parse_list(LISTED)
    assert {key: (one.profile, one.uuid) for key, one in slices.items()} == {
        (gpu, 0): ("3g.20gb", "MIG-c7384736-a75d-5afc-978f-d2f1294409fd"),
        (gpu, 1): ("1g.5gb", f"MIG-{gpu}/9/0"),
    }


@pytest.mark.parametrize("text", ["", "no XML", "<nvidia_smi_log/>", "<nvidia_smi_log><gpu/></nvidia_smi_log>"])
def test_report_without_slices(text: str) -> None:
    assert parse_report(text) == {}


def test_slice_has_own_files_and_memory(machine: Machine) -> None:
    first, second, whole = machine.gpus().devices
    assert (first.slice, second.slice, whole.slice) == ("1/0", "9/0", "")
    assert first.name == "NVIDIA A100-SXM4-40GB MIG 1g.10gb" and first.memory_mib == 9856
    assert first.uuid.startswith("MIG-0000001e") and second.uuid.startswith("MIG-00000066")
    assert [Path(path).name for path in first.files] == [
        "nvidiactl", "nvidia-uvm", "nvidia0", "nvidia-cap30", "nvidia-cap31",
    ]  # fmt: skip
    machine.use(BUS, "500", number=1)
    assert (used_mib(first), used_mib(second), used_mib(whole)) == (12, 500, 4)
    assert len({lock_file(gpu) for gpu in (first, second, whole)}) == 3
    assert from_plain(Gpus, to_plain(machine.gpus())) == machine.gpus()


@pytest.mark.parametrize(
    ("wish", "slices"),
    [
        ("0", ["1/0"]),
        ("1", [""]),
        ("GPU-00000000", ["1/0"]),
        ("MIG-00000066-1111-5222-8333-000000000000", ["9/0"]),
        ("MIG-00000066,MIG-0000001e", ["9/0", "1/0"]),
        ("MIG-0", []),
    ],
)
def test_cuda_visible_devices_names_slices(machine: Machine, wish: str, slices: list[str]) -> None:
    assert [gpu.slice for gpu in machine.gpus(CUDA_VISIBLE_DEVICES=wish).devices] == slices


def test_device_files_in_a_container(machine: Machine) -> None:
    """The container's runtime covers /proc/driver/nvidia, so that it has no capabilities."""
    expected = [gpu.capabilities for gpu in machine.gpus().devices]
    shutil.rmtree(machine.driver / "capabilities")
    assert [gpu.slice for gpu in machine.gpus().devices] == [""]
    listed = machine.driver.parent / "nvidia-caps" / "mig-minors"
    listed.parent.mkdir()
    lines = (
        "config 1",
        "gpu0/gi1/access 30",
        "gpu0/gi1/ci0/access 31",
        "gpu0/gi9/access 102",
        "gpu0/gi9/ci0/access 103",
    )
    listed.write_text("\n".join(lines) + "\n", "utf-8")
    assert [gpu.capabilities for gpu in machine.gpus().devices] == expected and len(expected[0]) == 2


def test_divided_gpu_without_slice(machine: Machine) -> None:
    (machine.dev / "nvidia-caps" / "nvidia-cap31").unlink()
    (machine.dev / "nvidia-caps" / "nvidia-cap102").unlink()
    (machine.dev / "nvidia1").unlink()
    gpus = machine.gpus()
    assert gpus.devices == ()
    assert gpus.reason_unavailable(0) == (
        "Not graded yet: this test needs a GPU, and NVIDIA A100-SXM4-40GB (0000:01:00.0) is in MIG mode and has no "
        "slice that can be used."
    )


def test_other_makers_are_refused_by_name(open_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(open_path / "machine")
    (machine.dev / "kfd").touch()
    amd = "this machine has an AMD GPU (/dev/kfd), which viva does not support"
    assert machine.gpus().reason_unavailable(0) == f"Not graded yet: this test needs a GPU, and {amd}."
    machine.add(BUS, 0)
    assert len(machine.gpus().devices) == 1 and machine.gpus().refused == (amd,)
    (machine.dev / "kfd").unlink()
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert finding.other_makers(machine.dev) == ["Apple GPU (mps)"]


LOOK = """
import os
def there(path):
    return os.path.exists(path) and os.access(path, os.R_OK)
def variable(name):
    return os.environ.get(name)
"""


@pytest.mark.parametrize("tier", [tier for tier in offered() if tier > Tier.T0], ids=str)
def test_box_sees_own_slice_only(machine: Machine, tier: Tier) -> None:
    first, second, _ = machine.gpus().devices
    files = dict.fromkeys((*first.files, *second.files))
    with ForkServer.start(tier, preload=[], devices=[*files]) as server, server.spawn(SMALL, gpu=second) as box:
        program = Program(box, tier)
        program.load(LOOK)
        folder = str(machine.dev) if tier is Tier.T1 else "/dev"
        seen = {n: program.call("there", f"{folder}/nvidia-caps/nvidia-cap{n}") for n in (30, 31, 102, 103)}
        assert (seen[102], seen[103]) == (True, True)
        if tier is not Tier.T1:
            assert (seen[30], seen[31]) == (False, False)
        assert program.call("variable", "CUDA_VISIBLE_DEVICES") == second.uuid
