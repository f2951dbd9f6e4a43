"""Find the isolation levels of this host by trying each step in throw-away processes."""

import functools
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from viva.sandbox import system
from viva.sandbox.errors import BoxUnavailable
from viva.sandbox.guest.transport.optional_layers import OPTIONAL_LAYERS
from viva.sandbox.host.launch import START, environment
from viva.sandbox.host.limits.cgroups import CgroupParent
from viva.sandbox.tier import Tier

_ADVICE: Mapping[str, str] = {
    "Linux": "use a Linux host, or the Dockerfile of this project on any other",
    "root": "run as root: directly for T3, in a container for T1",
    "ordinary user": "as root, T3 and T1 take its place",
    "user namespace": "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
    "user.max_user_namespaces above 0, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or run as root",
    "namespaces": "give the container CAP_SYS_ADMIN (docker run --privileged), or stay with T1",
    "mounts": "use Linux 5.12 or newer and let the container mount file systems",
    "pid namespace": "let the container mount /proc or tmpfs",
    "own user": "give the container CAP_SETUID, CAP_SETGID and CAP_SETPCAP (Docker's default has them)",
    "interpreter": "install Python where every user may read it, or open its parent directories (chmod o+x)",
    "seccomp": "use a kernel with CONFIG_SECCOMP_FILTER on x86-64 or aarch64",
    "Landlock": "use Linux 5.13 or newer with Landlock enabled at boot (lsm=landlock,...)",
    "abstract sockets": "use Linux 6.12 or newer (Landlock ABI 6), or set fork: false where no data loader has workers",
    "path sockets": "close it (chmod o-w), or set fork: false in assignment.yaml; else no box is made",
    "limits of the system": "use macOS or Linux; `viva check` works without",
}
_DELEGATE = "let the user make cgroups: systemd-run --user --scope -p Delegate=yes viva grade ..."
_LIMITED_BY: Mapping[Tier, str] = {
    Tier.T3: "mount /sys/fs/cgroup with the memory controller, so that root can make cgroups in it",
    Tier.T2: _DELEGATE,
    Tier.T1: "limit the container as a whole (docker run --memory), or let root write to /sys/fs/cgroup in it",
    Tier.T0: _DELEGATE,
}
"""How the memory of all processes of a box together can be limited."""
_OPTIONAL = frozenset({"Landlock", "abstract sockets", "path sockets", "limits of the system"})
"""Isolation layers without which a tier is still offered; its report names what is missing."""


@dataclass(frozen=True, slots=True)
class TierReport:
    """One tier on this host."""

    tier: Tier
    available: bool
    layers: Mapping[str, str] = field(default_factory=dict)
    """Each isolation layer, tried in a throw-away process: "ok: ..." or "failed: why"."""
    missing: tuple[str, ...] = ()
    """What the tier lacks here: an isolation layer that failed, or a limit that is only polled."""
    advice: tuple[str, ...] = ()
    """What to install, allow or change, one for each of `missing`."""

    @property
    def sentence(self) -> str:
        """Return why the tier is not available or what it lacks; "complete" otherwise."""
        return "; ".join(self.missing) or "complete"

    @property
    def missing_layers(self) -> tuple[str, ...]:
        """Return the optional layers that a sandbox of this tier lacks here, as its ready message names them."""
        names = (text.partition(":")[0] for text in self.missing)
        return tuple(OPTIONAL_LAYERS[name] for name in names if name in OPTIONAL_LAYERS)

    @classmethod
    def from_trial(cls, tier: Tier, layers: Mapping[str, str], *, cgroup: bool) -> "TierReport":
        """Build the report from the result of a trial.

        Args:
            tier: the tier that was tried.
            layers: as the trial printed them; empty if the trial could not even start.
            cgroup: whether a cgroup with a memory limit could be made.
        """
        failed = {name: text.partition(": ")[2] for name, text in layers.items() if text.startswith("failed")}
        available = bool(layers) and not (failed.keys() - _OPTIONAL)
        missing = [f"{name}: {why}" for name, why in failed.items()]
        advice = [_advice(tier, name) for name in failed]
        if available and not cgroup:
            polled = "polled, not limited by the kernel" if system.FORKS_SAFELY else "neither limited nor polled here"
            missing.append(f"cgroup: the memory of all processes together is {polled}")
            advice.append(_LIMITED_BY[tier] if system.FORKS_SAFELY else _ADVICE["Linux"])
        return cls(tier, available, dict(layers), tuple(missing), tuple(advice))


def _advice(tier: Tier, name: str) -> str:
    """Return what to do about a failed layer.

    An ordinary user's namespaces fail at several steps for one reason: the host restricts user namespaces.
    """
    about = "user namespace" if tier == Tier.T2 and name in ("namespaces", "mounts") else name
    return _ADVICE.get(about, "see the operator guide")


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
