"""A GPU changes the plan of a box and the messages to its fork server in what CUDA needs, and without one nothing."""

import dataclasses
from typing import Any

import pytest

from tests.sandbox.host.conftest import SMALL, offered
from viva.sandbox.guest.lockdown import clean_environment, landlock, rlimits
from viva.sandbox.guest.process import student_process
from viva.sandbox.guest.process.box_plan import BoxPlan
from viva.sandbox.guest.transport import control
from viva.sandbox.guest.transport.message_types import Canary
from viva.sandbox.host.fork_server import ForkServer

CANARY: Canary = {"file": "", "folder": "", "tcp": 9, "unix": "", "examiner": 1}


def plan(tier: str, **gpu: Any) -> BoxPlan:
    policy: Any = {**dataclasses.asdict(SMALL), "seed": 1, **gpu}
    folders = ("/box-engine", "/box", "/tmp")
    return BoxPlan(tier, policy, 60001, *folders, ["/usr"], [], CANARY, {}, landlock_abi=7)


@pytest.mark.parametrize("tier", ["T1", "T2", "T3"])
def test_only_a_gpu_changes_the_plan(tier: str) -> None:
    """Without one, limits, rules and environment are those of before; with one, exactly these differ."""
    without, given = plan(tier), plan(tier, gpu={"devices": ["/dev/nvidiactl", "/dev/nvidia3"], "visible": "GPU-3"})
    assert without.devices == [] and given.devices == ["/dev/nvidiactl", "/dev/nvidia3"]
    limits, more = (dict(rlimits.limits_for(p.policy, 5, 7)) for p in (without, given))
    assert limits["RLIMIT_AS"] > 0 and limits["RLIMIT_MEMLOCK"] == 8 << 20
    assert limits == {**more, "RLIMIT_AS": limits["RLIMIT_AS"]} and "RLIMIT_AS" not in more
    (rules, optional), (gpu_rules, gpu_optional) = student_process._rules(without), student_process._rules(given)
    assert gpu_rules == [*rules, ("/dev/nvidiactl", landlock.GPU), ("/dev/nvidia3", landlock.GPU)]
    assert gpu_optional[: len(optional)] == optional
    assert [path for path, rights in gpu_optional[len(optional) :] if rights & landlock.WRITE_FILE] == [
        "/proc/self/task"
    ]
    assert not any("nvidia" in path or path == "/proc/self/task" for path, _ in [*rules, *optional])
    assert clean_environment.for_gpu("GPU-3")["CUDA_VISIBLE_DEVICES"] == "GPU-3"
    assert "CUDA_VISIBLE_DEVICES" not in clean_environment.variables("/box", "/tmp") | clean_environment.for_gpu("")


def test_fork_server_hears_of_no_gpu_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what it is started with nor what a box is asked for names a GPU."""
    said: list[dict[str, Any]] = []
    send = control.send

    def remember(channel: Any, message: dict[str, Any], descriptors: Any = ()) -> None:
        said.append(message)
        send(channel, message, descriptors)

    monkeypatch.setattr(control, "send", remember)
    with ForkServer.start(offered()[0], preload=[]) as fork_server, fork_server.spawn(SMALL, seed=3):
        pass
    settings, request = said
    assert "devices" not in settings
    assert request["policy"] == {**dataclasses.asdict(SMALL), "seed": 3}
