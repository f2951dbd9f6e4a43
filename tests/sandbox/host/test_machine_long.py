"""The promises on kernels that this machine does not run: in virtual machines, with cgroups of both versions or none,
without Landlock, without user namespaces.

Where the processor helps (KVM) each takes a minute; emulated, up to a quarter of an hour. virtual_machine.py says what
must be there.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support import virtual_machine
from tests.support.virtual_machine import Machine

HERE = Path(__file__).parent
PROMISES = HERE / "conformance"
WITHOUT_LANDLOCK = "lsm=lockdown,yama,apparmor,bpf"
LONGEST_S = 2400.0

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(virtual_machine.missing() is not None, reason=virtual_machine.missing() or ""),
]


def run_in_machine(machine: Machine, kind: str, arguments: Sequence[str], **environment: str) -> str:
    """What Python printed in a machine, on a host of some kind there ("root": as it is there); must succeed."""
    host = [] if kind == "root" else [sys.executable, str(HERE.parents[1] / "support" / "other_hosts.py"), kind]
    kept = {name: value for name, value in os.environ.items() if name == "PYTHONPATH"}
    done = virtual_machine.run(
        [*host, sys.executable, *arguments], machine, environment={**kept, **environment}, timeout_s=LONGEST_S
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    return done.stdout


def files(names: str) -> list[str]:
    """Paths of the conformance suite."""
    return [str(PROMISES / f"test_{name}.py") for name in names.split()]


EVERYTHING = "escapes bombs endings lifecycle environment neighbours resources"
USING_TOO_MUCH = "bombs resources"
REACHING_OUT = "escapes environment neighbours"
NOT_PROMISED = "the result says under `missing` that this is not prevented"
OF_STRONGER_LEVELS = "got empty parameter set for (fork_server)"
CASES = {
    # what is run, in which tier, and why tests may be skipped
    "cgroup v2": (Machine(), "root", "T3", EVERYTHING, ()),
    "cgroup v1": (Machine(cgroups="v1"), "root", "T3", USING_TOO_MUCH, ()),
    "no cgroup": (Machine(cgroups="none"), "root", "T3", USING_TOO_MUCH, ()),
    "delegated cgroup": (Machine(cgroups="delegated"), "unprivileged", "T2", USING_TOO_MUCH, ()),
    "ordinary user": (Machine(), "unprivileged", "T2", REACHING_OUT, ()),
    "container": (Machine(), "container", "T1", f"{REACHING_OUT} {USING_TOO_MUCH}", (NOT_PROMISED, OF_STRONGER_LEVELS)),
    "root without Landlock": (Machine(kernel_arguments=WITHOUT_LANDLOCK), "root", "T3", REACHING_OUT, ()),
    "container without Landlock": (
        Machine(kernel_arguments=WITHOUT_LANDLOCK),
        "container",
        "T1",
        REACHING_OUT,
        (NOT_PROMISED, OF_STRONGER_LEVELS),
    ),
}


def collected(names: str, tier: str) -> int:
    """How many tests these files have for a tier, on any machine."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "--collect-only", *files(names)],
        env={**os.environ, "VIVA_TEST_TIER": tier},
        capture_output=True,
        text=True,
        check=True,
    )
    counted = re.search(r"(\d+) tests collected", done.stdout)
    assert counted, done.stdout
    return int(counted[1])


@pytest.mark.parametrize("case", CASES)
def test_every_promise_holds(case: str) -> None:
    """Every test of the level passes there, but for those whose reason is known."""
    machine, kind, tier, names, reasons = CASES[case]
    pytest_quietly = ["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *files(names)]
    printed = run_in_machine(machine, kind, pytest_quietly, VIVA_TEST_TIER=tier)
    passed = re.search(r"(\d+) passed", printed)
    skipped = re.findall(r"SKIPPED \[(\d+)\] \S+: (.*)", printed)
    print(f"{case}: {passed and passed[0]}, skipped: {skipped}")
    assert passed and int(passed[1]) + sum(int(count) for count, _ in skipped) == collected(names, tier), printed
    assert all(any(reason in why for reason in reasons) for _, why in skipped), printed


LOOK = """
import json, os
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.limits import Limits
found = {str(report.tier): [report.available, report.sentence, list(report.advice)] for report in detect_tiers()}
best = next(report.tier for report in detect_tiers() if report.available)
with ForkServer.start(best, preload=[]) as fork_server, fork_server.spawn(Limits()) as box:
    found["box"] = [dict(box.ready_message.layers), list(box.ready_message.missing), bool(box.resources.cgroup)]
print(json.dumps([os.uname().release, found]))
"""


def look(machine: Machine, kind: str) -> dict[str, list[object]]:
    """Return which tiers are available in the machine, and what the best box reports about itself."""
    release, found = json.loads(run_in_machine(machine, kind, ["-c", LOOK]).splitlines()[-1])
    print(release, json.dumps(found))
    return dict(found)


@pytest.mark.parametrize(
    "switched_off",
    [{"kernel.unprivileged_userns_clone": "0"}, {"user.max_user_namespaces": "0"}],
    ids=lambda settings: next(iter(settings)),
)
def test_without_user_namespaces(switched_off: dict[str, str]) -> None:
    found = look(Machine(sysctls=switched_off), "unprivileged")
    assert [tier for tier in ("T3", "T2", "T1", "T0") if found[tier][0]] == ["T0"]
    assert "user namespace" in str(found["T2"][1]) and next(iter(switched_off)) in str(found["T2"][2])


def test_root_needs_no_user_namespaces() -> None:
    found = look(Machine(sysctls={"user.max_user_namespaces": "0"}), "root")
    assert found["T3"][:2] == [True, "complete"]


@pytest.mark.parametrize(
    ("cgroups", "kind", "has_cgroup"),
    [
        ("v2", "root", True),
        ("v1", "root", True),
        ("none", "root", False),
        ("delegated", "unprivileged", True),
        ("v2", "unprivileged", False),
    ],
)
def test_box_gets_cgroup(cgroups: str, kind: str, has_cgroup: bool) -> None:
    _, missing, got = look(Machine(cgroups=cgroups), kind)["box"]
    assert got is has_cgroup
    assert ("memory of all processes" in str(missing)) is not has_cgroup


@pytest.mark.parametrize("kind", ["root", "container"])
def test_box_without_landlock(kind: str) -> None:
    found = look(Machine(kernel_arguments=WITHOUT_LANDLOCK), kind)
    layers, missing, _ = found["box"]
    assert isinstance(layers, dict) and layers["landlock"] == "missing"
    assert "Landlock (Linux 5.13" in str(missing) and "Landlock" in str(found["T3" if kind == "root" else "T1"][1])
