"""One holder per GPU, whoever it is and however it ends; the next one finds the memory as free as the last one did."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from tests.sandbox.host.conftest import SMALL, offered
from tests.support.boxed_program import Program
from tests.support.gpu_machines import Machine
from viva.model.gpu import NONE_HERE, Gpu, Gpus
from viva.sandbox.errors import GpuUnavailable
from viva.sandbox.host.gpu import gpu_lease
from viva.sandbox.host.gpu.gpu_boxes import GpuBoxes
from viva.sandbox.host.gpu.gpu_lease import GpuLease, lock_file

BUS, OTHER = "0000:01:00.0", "0000:02:00.0"


@pytest.fixture
def machine(open_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Two GPUs, locked in a folder of the test's own."""
    made = Machine(open_path)
    made.add(BUS, 0)
    made.add(OTHER, 1)
    monkeypatch.setenv("PATH", made.install_smi())
    (tmp_path / "locks").mkdir()
    monkeypatch.setattr(gpu_lease, "_FOLDER", tmp_path / "locks")
    return made


@pytest.fixture
def gpu(machine: Machine) -> Gpu:
    return machine.gpus().devices[0]


def test_one_holder_at_a_time(gpu: Gpu) -> None:
    first = GpuLease.take([gpu])
    with pytest.raises(GpuUnavailable, match="in use by others") as raised:
        GpuLease.take([gpu], patience_s=0.3)
    assert str(lock_file(gpu)) in raised.value.reason
    first.give_back()
    first.give_back()
    GpuLease.take([gpu], patience_s=0.3).give_back()


def test_whoever_waits_is_told_and_gets_it_next(gpu: Gpu) -> None:
    first, lines = GpuLease.take([gpu]), list[str]()
    timer = threading.Timer(1.6, first.give_back)
    timer.start()
    second = GpuLease.take([gpu], lines.append)
    timer.join()
    assert lines and lines[0].startswith("waiting for NVIDIA L4, 1 s so far")
    with pytest.raises(GpuUnavailable):
        GpuLease.take([gpu], patience_s=0.1)
    second.give_back()


def test_any_free_gpu(machine: Machine) -> None:
    gpus = machine.gpus().devices
    one, two = GpuLease.take(gpus), GpuLease.take(gpus)
    assert (one.gpu.bus, two.gpu.bus) == (BUS, OTHER)
    one.give_back()
    two.give_back()


HOLD = """
    import pathlib, sys, time
    from viva.sandbox.host.gpu import gpu_lease
    from viva.sandbox.gpu import Gpu
    gpu_lease._FOLDER = pathlib.Path(sys.argv[1])
    lease = gpu_lease.GpuLease.take([Gpu(sys.argv[2], "", "GPU", "", None, "", ())])
    print("held", flush=True)
    time.sleep(60)
"""


def test_lock_dies_with_its_holder(machine: Machine, gpu: Gpu) -> None:
    command = [sys.executable, "-c", textwrap.dedent(HOLD), str(gpu_lease._FOLDER), BUS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(GpuUnavailable):
            GpuLease.take([gpu], patience_s=0.1)
        machine.use(BUS, "5000")
        os.kill(holder.pid, signal.SIGKILL)
    with pytest.raises(GpuUnavailable, match="still held the memory of an earlier program") as raised:
        GpuLease.take([gpu], settle_s=0.2)
    assert "has 5,000 MiB in use, and had 4 MiB" in raised.value.reason
    timer = threading.Timer(0.7, machine.use, [BUS, "60"])
    timer.start()
    GpuLease.take([gpu]).give_back()
    timer.join()
    assert lock_file(gpu).read_bytes() == b""


def test_lease_waits_for_free_memory(machine: Machine, gpu: Gpu) -> None:
    lease = GpuLease.take([gpu])
    machine.use(BUS, "900")
    lease.give_back(settle_s=0.1)
    with pytest.raises(GpuUnavailable):
        GpuLease.take([gpu], settle_s=0.1)
    machine.use(BUS, str(4 + gpu_lease.TOLERANCE_MIB))
    GpuLease.take([gpu], settle_s=0.1).give_back()


def test_lease_ignores_memory_of_others(machine: Machine, gpu: Gpu) -> None:
    """A desktop that draws with the GPU: more or less of it from run to run."""
    for used in ("700", "1500", "300"):
        machine.use(BUS, used)
        GpuLease.take([gpu], settle_s=0.1).give_back(settle_s=0.1)


def test_peak_memory_is_remembered(machine: Machine, gpu: Gpu) -> None:
    lease = GpuLease.take([gpu])
    machine.use(BUS, "2052")
    deadline = time.monotonic() + 20
    while lease.use.peak_mib != 2048 and time.monotonic() < deadline:
        time.sleep(0.05)
    machine.use(BUS, "4")
    lease.give_back()
    assert (lease.use.name, lease.use.driver, lease.use.memory_mib, lease.use.peak_mib) == (
        "NVIDIA L4", "550.90.07", 23034, 2048,
    )  # fmt: skip


def test_lease_without_nvidia_smi(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    lease = GpuLease.take([gpu])
    with pytest.raises(GpuUnavailable):
        GpuLease.take([gpu], patience_s=0.1)
    lease.give_back()
    assert lease.use.peak_mib is None and lock_file(gpu).read_bytes() == b""


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe", b"{}", b"[]", b'{"baseline_mib": "much"}', b"null", b"[" * 5000, b'{"baseline_mib": 1e999}'],
)
def test_meaningless_lease_file(gpu: Gpu, content: bytes) -> None:
    lock_file(gpu).write_bytes(content)
    GpuLease.take([gpu]).give_back()
    assert lock_file(gpu).read_bytes() == b""


def test_lock_link_is_not_followed(gpu: Gpu, tmp_path: Path) -> None:
    lock_file(gpu).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GpuUnavailable, match="in use") as raised:
        GpuLease.take([gpu])
    assert "cannot be locked" in raised.value.reason and not (tmp_path / "elsewhere").exists()
    lock_file(gpu).unlink()
    os.mkfifo(lock_file(gpu))
    with pytest.raises(GpuUnavailable, match="in use") as raised:
        GpuLease.take([gpu])
    assert "is not a regular file" in raised.value.reason


def test_every_user_may_lock(gpu: Gpu) -> None:
    before = os.umask(0o077)
    try:
        GpuLease.take([gpu]).give_back()
    finally:
        os.umask(before)
    assert lock_file(gpu).stat().st_mode & 0o777 == 0o666


def test_box_holds_gpu_to_its_end(machine: Machine, gpu: Gpu) -> None:
    boxes = GpuBoxes.start(max(offered()), SMALL, Gpus((gpu,), checked=True), preload=[], python=sys.executable)
    try:
        box, use = boxes.take(16, lambda _: None)
        program = Program(box, max(offered()))
        program.load("def twice(n): return 2 * n")
        assert program.call("twice", 4) == 8
        with pytest.raises(GpuUnavailable):
            GpuLease.take([gpu], patience_s=0.1)
        box.close()
        assert use().name == "NVIDIA L4"
        again, _ = boxes.take(0, lambda _: None)
        again.close()
    finally:
        boxes.close()


def test_failed_box_returns_gpu(machine: Machine, gpu: Gpu) -> None:
    boxes = GpuBoxes.start(max(offered()), SMALL, Gpus((gpu,), checked=True), preload=[], python=sys.executable)
    boxes.close()
    with pytest.raises(Exception, match="the fork server is closed"):
        boxes.take(0, lambda _: None)
    GpuLease.take([gpu], patience_s=0.1).give_back()


def test_gpu_that_falls_off_the_bus(machine: Machine, gpu: Gpu) -> None:
    """Its memory is unknown from then on, which holds up no one; the other GPU stays."""
    lease = GpuLease.take([gpu])
    machine.remove(BUS)
    lease.give_back(settle_s=0)
    assert lock_file(gpu).read_bytes() == b"", "else the next lease would wait for memory that no one can read"
    again = GpuLease.take([gpu], patience_s=0.1)
    assert again.use.peak_mib is None
    again.give_back()
    assert [one.bus for one in machine.gpus().devices] == [OTHER]


def test_last_gpu_dies(machine: Machine) -> None:
    for bus in (BUS, OTHER):
        machine.remove(bus)
    gpus = machine.gpus()
    assert gpus.devices == () and gpus.reason_unavailable(0) == NONE_HERE
