"""GPUs are found by device files, the driver's /proc and nvidia-smi; none of them is needed for the tests."""

from pathlib import Path

import pytest

from tests.support.gpu_machines import FAILED, RTX_3090, TESLA_K80, VERSIONS, Machine
from viva.model.gpu import LEFT_OUT, NONE_HERE, Gpu, Gpus
from viva.sandbox.host.gpu.gpus import parse_information, parse_query, parse_version, used_mib

L4 = "00000000:31:00.0, GPU-a6d5342f-d3d5-a14a-24d0-e92cad8530e8, 23034, 4, 550.90.07, NVIDIA L4\n"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Without GPUs so far, with an nvidia-smi."""
    made = Machine(tmp_path)
    monkeypatch.setenv("PATH", made.install_smi())
    return made


@pytest.mark.parametrize(("text", "version"), VERSIONS.items())
def test_driver_version(text: str, version: str) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("text", "model", "bus"),
    [(RTX_3090, "NVIDIA GeForce RTX 3090", "0000:01:00.0"), (TESLA_K80, "Tesla K80", "0000:00:04.0")],
)
def test_driver_report(text: str, model: str, bus: str) -> None:
    said = parse_information(text)
    assert (said["Model"], said["Bus Location"], said["Device Minor"]) == (model, bus, "0")
    assert said["GPU UUID"].startswith("GPU-")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (L4, [("0000:31:00.0", 23034, 4, "550.90.07", "NVIDIA L4")]),
        (
            "00000000:0F:01.0, GPU-12345678-90ab, [N/A], [N/A], 580.82.09, NVIDIA GB10",
            [("0000:0f:01.0", None, None, "580.82.09", "NVIDIA GB10")],
        ),
        (
            "00000000:01:00.0, [N/A], [Not Supported], [Unknown Error], [N/A], A, with a comma",
            [("0000:01:00.0", None, None, "", "A, with a comma")],
        ),
        ("", []),
        (FAILED, []),
        ("No devices were found\n", []),
        ("Field \"pci.bus_id\" is not a valid field to query.\n", []),
        ("00000000:01:00.0, GPU-1, 10", []),
    ],
)  # fmt: skip
def test_what_nvidia_smi_says_is_read(text: str, expected: list[tuple[object, ...]]) -> None:
    assert [(r.bus, r.memory_mib, r.used_mib, r.driver, r.name) for r in parse_query(text)] == expected


def test_device_files_match_bus(machine: Machine) -> None:
    """The driver numbers them in the order in which it met them, nvidia-smi along the bus."""
    for bus, minor, memory in (("0000:48:00.0", 0, "100"), ("0000:07:00.0", 2, "300"), ("0000:0b:00.0", 3, "400")):
        machine.add(bus, minor, f"NVIDIA {memory}", memory)
    gpus = machine.gpus().devices
    assert [(g.bus, g.device, g.memory_mib, g.name) for g in gpus] == [
        ("0000:07:00.0", str(machine.dev / "nvidia2"), 300, "NVIDIA 300"),
        ("0000:0b:00.0", str(machine.dev / "nvidia3"), 400, "NVIDIA 400"),
        ("0000:48:00.0", str(machine.dev / "nvidia0"), 100, "NVIDIA 100"),
    ]
    assert gpus[0].shared == (str(machine.dev / "nvidiactl"), str(machine.dev / "nvidia-uvm"))
    assert gpus[0].driver == "550.90.07" and gpus[0].uuid.startswith("GPU-00000002")


def test_memory_without_nvidia_smi(machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine.add("0000:01:00.0", 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    (gpu,) = machine.gpus().devices
    assert (gpu.name, gpu.driver, gpu.memory_mib) == ("NVIDIA L4", "384.81", None)
    assert used_mib(gpu) is None
    machine.install_smi(status=9)
    monkeypatch.setenv("PATH", f"{machine.programs}:/usr/bin:/bin")
    assert machine.gpus().devices[0].memory_mib is None and used_mib(gpu) is None


def test_memory_in_use_is_read_anew(machine: Machine) -> None:
    machine.add("0000:01:00.0", 0)
    machine.add("0000:02:00.0", 1, used="77")
    first, second = machine.gpus().devices
    assert (used_mib(first), used_mib(second)) == (4, 77)
    machine.use("0000:01:00.0", "512")
    assert used_mib(first) == 512


def test_machine_without_device_files(machine: Machine) -> None:
    assert machine.gpus() == Gpus(why_none=NONE_HERE)
    machine.add("0000:01:00.0", 0)
    (machine.dev / "nvidia0").unlink()
    assert machine.gpus() == Gpus(why_none=NONE_HERE)
    (machine.dev / "nvidiactl").unlink()
    assert machine.gpus() == Gpus(why_none=NONE_HERE)


def test_unstarted_gpu_has_no_uuid(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.add("0000:01:00.0", 0)
    information = machine.driver / "gpus/0000:01:00.0/information"
    unknown = "GPU-????????-????-????-????-????????????"
    information.write_text(information.read_text("utf-8").replace("GPU-00000000-1111-2222-3333-444444444444", unknown))
    assert machine.gpus().devices[0].uuid == "GPU-00000000-1111-2222-3333-444444444444"
    monkeypatch.setenv("PATH", "/nowhere")
    assert machine.gpus().devices[0].uuid == ""


@pytest.mark.parametrize(
    ("wish", "minors"),
    [
        ("", ""),
        ("-1", ""),
        ("0", "0"),
        ("1,0", "10"),
        ("1,1", "1"),
        ("0,7,1", "0"),
        ("GPU-00000001", "1"),
        ("GPU-0", ""),
        ("MIG-1", ""),
    ],
)
def test_gpus_of_others_are_left_alone(machine: Machine, wish: str, minors: str) -> None:
    machine.add("0000:01:00.0", 0)
    machine.add("0000:02:00.0", 1)
    devices = [gpu.device[-1] for gpu in machine.gpus(CUDA_VISIBLE_DEVICES=wish).devices]
    assert "".join(devices) == minors


def gpu(name: str, memory_mib: int | None) -> Gpu:
    return Gpu("0000:01:00.0", "", name, "550", memory_mib, "/dev/nvidia0", ())


def test_lacking_parts_are_said() -> None:
    small, large, unknown = gpu("NVIDIA T4", 15360), gpu("NVIDIA L4", 23034), gpu("NVIDIA GB10", None)
    assert Gpus().reason_unavailable(0) == LEFT_OUT
    assert Gpus(why_none=NONE_HERE).reason_unavailable(9) == NONE_HERE
    assert (
        Gpus((small,)).reason_unavailable(0)
        == Gpus((small,)).reason_unavailable(15360)
        == Gpus((small, large)).reason_unavailable(20000)
        == ""
    )
    assert Gpus((unknown,)).reason_unavailable(0) == ""
    needs = "Not graded yet: this test needs a GPU with 40,000 MiB of memory, and"
    assert Gpus((small,)).reason_unavailable(40_000) == f"{needs} the one here, NVIDIA T4, has 15,360 MiB."
    assert Gpus((small, large)).reason_unavailable(40_000) == f"{needs} the largest here, NVIDIA L4, has 23,034 MiB."
    assert Gpus((unknown,)).reason_unavailable(40_000) == f"{needs} how much NVIDIA GB10 has is not known."
    assert Gpus((small, large)).large_enough(20_000) == (large,)
