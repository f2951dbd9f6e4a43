"""What the system is asked for, and that a system which offers it is never served by the way around it."""

import socket
import sys
from pathlib import Path

import pytest

from tests.support.words_course import SECRET, hand_in, write_course
from viva.config import load_course
from viva.model import Limits, Tier, system
from viva.model.grade_request import GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.guest.transport import loopback
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.levels.detect_levels import TierReport
from viva.submissions import open_submission

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="what Linux offers")


@LINUX
def test_linux_offers_everything() -> None:
    offered = {name: value for name, value in vars(system).items() if name.isupper() and isinstance(value, bool)}
    assert len(offered) == 7 and all(offered.values()), offered
    assert system.NO_LINK and system.NOT_INHERITED


@pytest.mark.long
@LINUX
def test_nobody_listens_on_linux(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_arguments: object) -> None:
        raise AssertionError("a listener")

    monkeypatch.setattr(loopback.Listener, "__init__", refuse)
    course = load_course(write_course(tmp_path))
    with ExaminerProcess(course, course.assignment("words"), SECRET.encode(), BoxOptions(Tier.T0)) as examiner:
        request = GradeRequest(open_submission(hand_in(tmp_path / "mine"), "mine"))
        assert examiner.grade(request).score.earned > 0
    for forks in (True, False):
        with ForkServer.start(Tier.T0, preload=[], with_fork_server=forks) as server, server.spawn(Limits()) as box:
            assert box.alive and box._socket.family == socket.AF_UNIX


def test_only_a_system_without_limits_has_none() -> None:
    """Limits that exist and cannot be set are not a reason to grade without them."""
    assert not TierReport.from_trial(Tier.T0, {"resource limits": "failed: not permitted"}, cgroup=False).available
    without = TierReport.from_trial(Tier.T0, {"limits of the system": "failed: it has none"}, cgroup=False)
    assert without.available and "it has none" in without.sentence and len(without.advice) == len(without.missing)
