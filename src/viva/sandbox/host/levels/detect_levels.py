"""Find the isolation levels of this host by trying each step in throw-away processes."""

import functools
import json
import subprocess
import sys
from typing import Final

from viva.sandbox.errors import BoxUnavailable
from viva.sandbox.host.launch import START, environment
from viva.sandbox.host.levels.tiers import TierReport
from viva.sandbox.host.limits.cgroups import CgroupParent
from viva.sandbox.tier import Tier

_TRIAL_S: Final = 60.0


def detect_tiers(python: str = sys.executable) -> list[TierReport]:
    """Return every tier, best first, with what works and what is missing; found once for each interpreter.

    Raises:
        BoxUnavailable: The interpreter cannot be run.
    """
    return _detected(python)


@functools.cache
def _detected(python: str) -> list[TierReport]:
    try:
        trial = subprocess.run(  # noqa: S603  # the operator chose the interpreter; the arguments are constant
            [python, "-s", str(START), "detect"],
            env=environment(),
            cwd="/",
            capture_output=True,
            timeout=_TRIAL_S,
            check=True,
        )
        found = json.loads(trial.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        lines = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()
        why = lines[-1][-300:] if lines else error
        raise BoxUnavailable(f"{python} cannot try the isolation layers: {why}") from error
    cgroup = _has_cgroup()
    return [TierReport.from_trial(tier, found.get(str(tier), {}), cgroup=cgroup) for tier in sorted(Tier, reverse=True)]


def _has_cgroup() -> bool:
    parent = CgroupParent.find() if sys.platform == "linux" else None
    if parent is None:
        return False
    parent.remove()
    return True
