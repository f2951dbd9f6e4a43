"""How boxes end, what is said about it, and that nothing of them is left."""

import os
import time
from pathlib import Path

import pytest

from tests.support.boxed_program import IS_OPEN, Program
from viva.sandbox.errors import BoxDied, BoxTimeout, ProtocolViolation
from viva.sandbox.guest.transport.control import FOLDER_PREFIX
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.limits import processes
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier

FIND_WIRE = (
    IS_OPEN
    + """
import os, signal, sys, time
def wire():
    return next(fd for fd in range(3, 512) if is_open(fd))
"""
)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("os._exit(3)", "exit status 3"),
        ("os._exit(0)", "exit status 0"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"signal 11 \(SIGSEGV\)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", r"signal 9 \(SIGKILL\)"),
        ("os.abort()", r"signal 6 \(SIGABRT\)"),
    ],
)
def test_ending_in_words(program: Program, statement: str, reason: str) -> None:
    program.load(FIND_WIRE + f"\ndef end(): {statement}")
    with pytest.raises(BoxDied, match=reason) as caught:
        program.call("end")
    assert not program.box.alive
    with pytest.raises(BoxDied, match=reason):
        program.call("end")
    assert caught.value.reason


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "time.sleep(1000)",
        "[signal.signal(n, signal.SIG_IGN) for n in range(1, 32) if n not in (9, 19)] and time.sleep(1000)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "sum(range(10 ** 12))",
    ],
)
def test_hang_costs_its_time_limit(program: Program, body: str) -> None:
    program.load(FIND_WIRE + f"\ndef hang():\n    {body}")
    began = time.monotonic()
    with pytest.raises(BoxTimeout, match=r"0\.4 s"):
        program.call("hang", timeout_s=0.4)
    assert not program.box.alive
    program.box.close()
    assert time.monotonic() - began < 60  # what sleeps has four times as long


@pytest.mark.parametrize(
    "body",
    [
        "os.write(wire(), b'garbage that is no frame, and more of it than one header could ever hold')",
        "os.write(wire(), b'\\x00' * 64)",
        "os.write(wire(), b'\\xff' * 64)",
    ],
)
def test_noise_on_wire_ends_box(program: Program, body: str) -> None:
    program.load(FIND_WIRE + f"\ndef disturb(): {body}")
    with pytest.raises(ProtocolViolation):
        program.call("disturb", timeout_s=5)
    with pytest.raises(BoxDied, match="protocol violation"):
        program.call("disturb", timeout_s=5)


def test_closed_wire_ends_box(program: Program) -> None:
    program.load(FIND_WIRE + "\ndef leave():\n    os.close(wire())\n    time.sleep(1000)")
    with pytest.raises(BoxDied, match="closed the connection"):
        program.call("leave", timeout_s=20)


def test_trickled_reply_keeps_limit(program: Program) -> None:
    program.load(
        FIND_WIRE
        + """
def trickle():
    frame = b''.join([b'viva'] * 400)
    for byte in frame:
        os.write(wire(), bytes([byte]))
        time.sleep(0.05)
"""
    )
    began = time.monotonic()
    with pytest.raises((BoxTimeout, ProtocolViolation)):
        program.call("trickle", timeout_s=0.5)
    assert time.monotonic() - began < 40


DAEMON = """
import os, time
def daemonise():
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writer, b'x')
            for fd in range(3, 64):
                try: os.close(fd)
                except OSError: pass
            while True:
                time.sleep(1)
        os._exit(0)
    os.read(reader, 1)
    return os.getpid()
def end(): os._exit(0)
def hang(): time.sleep(60)
"""


def family_of(program: Program) -> list[int]:
    """All processes of a box, as this host numbers them."""
    return processes.family(program.box.resources.first)


def assert_gone(pids: list[int]) -> None:
    """A pid may be reused, but not by a child of this process within this moment."""
    assert [pid for pid in pids if processes.tasks([pid])] == []


@pytest.mark.parametrize("ending", ["close", "kill", "exit", "timeout"])
def test_daemons_end_with_their_box(program: Program, ending: str) -> None:
    program.load(DAEMON)
    program.call("daemonise")
    pids = family_of(program)
    assert len(pids) >= 3  # the first process, the student's, the daemon
    if ending == "kill":
        program.box.kill()
    elif ending == "exit":
        with pytest.raises(BoxDied, match="exit status 0"):
            program.call("end")
    elif ending == "timeout":
        with pytest.raises(BoxTimeout):
            program.call("hang", timeout_s=0.1)
    program.box.close()
    assert_gone(pids)


def test_nothing_is_left_after_many_boxes(fork_server: ForkServer, limits: Limits) -> None:
    def held() -> tuple[int, set[str]]:
        ours = f"{FOLDER_PREFIX}{os.getpid()}-"
        folders = [entry.name for entry in os.scandir("/dev/shm") if entry.name.startswith(ours)]
        return len(list(Path("/proc/self/fd").iterdir())), set(folders)

    with fork_server.spawn(limits):
        pass
    before = held()
    for _ in range(20):
        with fork_server.spawn(limits) as box:
            box.ask("put", timeout_s=5, path="file", data=b"x")
    assert held() == before


def test_boxes_live_side_by_side(fork_server: ForkServer, limits: Limits) -> None:
    boxes = [fork_server.spawn(limits) for _ in range(6)]
    try:
        programs = [Program(box, fork_server.tier) for box in boxes]
        for index, program in enumerate(programs):
            program.load(f"import os\ndef who(): return {index}, os.getuid()")
        answers = [program.call("who") for program in programs]
        assert [answer[0] for answer in answers] == list(range(6))
        if fork_server.tier in (Tier.T1, Tier.T3):
            assert len({answer[1] for answer in answers}) == 6
        boxes[0].kill()
        assert programs[5].call("who")[0] == 5
    finally:
        for box in boxes:
            box.close()


COMPUTING = r"""
import subprocess, sys, time
SPIN = "import time; end = time.process_time() + {}\nwhile time.process_time() < end: pass"
def compute(seconds): exec(SPIN.format(seconds))
def compute_elsewhere(seconds): subprocess.run([sys.executable, "-S", "-c", SPIN.format(seconds)])
def rest(seconds): time.sleep(seconds)
"""


@pytest.mark.parametrize(
    ("function", "seconds", "least", "most"), [("compute", 0.6, 0.55, 0.7), ("rest", 1.2, 0.25, 0.5)]
)
def test_counted_time(program: Program, function: str, seconds: float, least: float, most: float) -> None:
    program.load(COMPUTING)
    before = program.box.counted_s
    program.call(function, seconds)
    time.sleep(0.5)  # between requests, nothing counts
    assert least <= program.box.counted_s - before <= most


@pytest.mark.parametrize(
    ("function", "slept"), [("rest", True), ("compute", False), ("compute_elsewhere", False), ("nothing", False)]
)
def test_program_only_slept(program: Program, function: str, slept: bool) -> None:
    program.load(f"{COMPUTING}\ndef nothing(seconds): pass")
    program.call(function, 1.0)
    assert program.box.slept == slept
    if function != "nothing":
        with pytest.raises(BoxTimeout):
            program.call(function, 1000, timeout_s=0.5)
        assert program.box.slept == slept


def test_large_request_to_stopped_box(program: Program) -> None:
    program.load(FIND_WIRE + "\ndef stop(): os.kill(os.getpid(), signal.SIGSTOP)")
    began = time.monotonic()
    with pytest.raises(BoxTimeout):
        program.call("stop", timeout_s=0.3)
    with pytest.raises(BoxDied):
        program.box.ask("put", timeout_s=1, path="x", data=bytes(50 << 20))
    assert time.monotonic() - began < 40


def test_ready_message(fork_server: ForkServer, limits: Limits) -> None:
    with fork_server.spawn(limits) as box:
        ready_message = box.ready_message
    assert ready_message.tier == str(fork_server.tier)
    assert len(ready_message.probes) == 6 and {"python", "numpy", "kernel"} <= set(ready_message.versions)
    if fork_server.tier >= Tier.T1:
        assert not ready_message.open_probes
        assert {"identity", "no_new_privs", "landlock", "seccomp", "rlimits"} <= set(ready_message.layers)
    if fork_server.tier >= Tier.T2:
        assert ready_message.layers["proc"] in ("own", "hidden")
