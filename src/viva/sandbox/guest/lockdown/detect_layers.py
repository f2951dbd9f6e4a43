"""Find the isolation layers that this host offers: each is really applied, in a throw-away process."""

from __future__ import annotations

import json
import os
import sys
from typing import Callable, Dict, List, Tuple

from . import identity, kernel_calls, kernel_namespaces, landlock, mounts, rlimits, seccomp, visible_files

Step = Tuple[str, Callable[[], str]]
_TRIAL_UID = 60001
_SITE = "/mnt"
_NEEDED: List[str] = []
_IS_LINUX = hasattr(os, "pidfd_open")


def detect() -> None:
    """Print one line of JSON: tier -> layer -> "ok: ..." or "failed: ..."; layers after a failed one are absent."""
    if _IS_LINUX:
        _NEEDED.extend(visible_files.interpreter_paths())  # while every path can still be looked up
    tiers = {"T3": _T3, "T2": _T2, "T1": _T1, "T0": _T0}
    # Without Linux every tier but T0 fails at its first step, so no process is forked for it.
    attempt = _try_in_fork if _IS_LINUX else _try
    print(json.dumps({tier: attempt(steps) for tier, steps in tiers.items()}))


def _try_in_fork(steps: List[Step]) -> Dict[str, str]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, json.dumps(_try(steps)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    found: Dict[str, str] = json.loads(text or "{}")
    return found


def _try(steps: List[Step]) -> Dict[str, str]:
    found: Dict[str, str] = {}
    for name, step in steps:
        try:
            found[name] = f"ok: {step()}"
        except Exception as error:
            found[name] = f"failed: {error}"
            if name not in _OPTIONAL:
                break
    return found


def _linux() -> str:
    if sys.platform != "linux":
        raise OSError(f"{sys.platform} has none of the mechanisms")
    if not _IS_LINUX:
        raise OSError("this Python cannot watch a process by a descriptor (os.pidfd_open)")
    return os.uname().release


def _root() -> str:
    if os.getuid() != 0:
        raise PermissionError(f"running as user {os.getuid()}, not as root")
    return "uid 0"


def _not_root() -> str:
    """Check that this is an ordinary user: root gets T3, and its user namespace would map root into the box."""
    if os.getuid() == 0:
        raise PermissionError("running as root, which T2 is not for")
    return f"uid {os.getuid()}"


def _user_namespace() -> str:
    kernel_namespaces.enter_user_namespace(0, 0)
    return "made"


def _namespaces() -> str:
    flags = ("NEWNS", "NEWPID", "NEWNET", "NEWIPC", "NEWUTS", "NEWCGROUP")
    kernel_calls.unshare(sum(getattr(kernel_namespaces, flag) for flag in flags))
    return "pid, mnt, net, ipc, uts, cgroup"


def _mounts() -> str:
    mounts.make_private()
    mounts.small_file_system(_site(), size="1m", inodes=10)
    os.mkdir(_site() + "/usr")
    mounts.bind_read_only("/usr", _site() + "/usr")
    return "tmpfs, read-only binds"


def _site() -> str:
    return _SITE if os.path.isdir(_SITE) else "/sys"


def _own_pid_namespace() -> str:
    """Fork pid 1 of a new pid namespace, and check that it can mount its own /proc, or hide it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.mkdir(_site() + "/proc")
            os.write(writer, mounts.processes(_site() + "/proc").encode())
        except OSError as error:
            os.write(writer, f"!{error}".encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    if text.startswith("!"):
        raise OSError(text[1:])
    return f"{text} /proc"


def _identity() -> str:
    return identity.become(_TRIAL_UID)


def _nested_user_namespace() -> str:
    kernel_namespaces.enter_user_namespace(_TRIAL_UID, _TRIAL_UID)
    return identity.drop_capabilities()


def _interpreter_is_readable() -> str:
    unreadable = visible_files.first_unreadable(_TRIAL_UID, _NEEDED)
    if unreadable:
        raise PermissionError(f"{unreadable}, which the interpreter needs, cannot be read by the user of the box")
    return "readable by the box's user"


def _landlock() -> str:
    identity.no_new_privileges()
    return landlock.Ruleset([("/usr", landlock.READ)]).apply()


def _path_sockets() -> str:
    """Check that permissions keep the box from sockets with a path; without a network namespace nothing else does."""
    if path := visible_files.first_open_socket(_TRIAL_UID, sorted(visible_files.sockets())):
        raise OSError(f"every user may connect to {path}")
    return "none that every user may connect to"


def _abstract_sockets() -> str:
    """Check that Landlock isolates abstract sockets; without a network namespace nothing else does."""
    if landlock.abi() < landlock.SCOPE_SINCE:
        raise OSError("those of other programs can be reached")
    return "those of other programs are out of reach"


def _seccomp() -> str:
    identity.no_new_privileges()
    return seccomp.apply(seccomp.program(seccomp.Allowed()))


def _rlimits() -> str:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return "set"


def _no_rlimits() -> str:
    raise OSError("this system has none; the time limits of the examiner hold")


_OPTIONAL = ("Landlock", "abstract sockets", "path sockets", "limits of the system")
_FILTERS: List[Step] = [("Landlock", _landlock), ("seccomp", _seccomp)]
# A system that has such limits must be able to set them; T0 goes without only where there are none.
_T0: List[Step] = [("resource limits", _rlimits) if rlimits.KNOWN else ("limits of the system", _no_rlimits)]
_T1: List[Step] = [
    ("Linux", _linux),
    ("root", _root),
    ("interpreter", _interpreter_is_readable),
    ("path sockets", _path_sockets),
    ("own user", _identity),
    ("abstract sockets", _abstract_sockets),
    *_FILTERS,
]
_T2: List[Step] = [
    ("Linux", _linux),
    ("ordinary user", _not_root),
    ("user namespace", _user_namespace),
    ("namespaces", _namespaces),
    ("mounts", _mounts),
    ("pid namespace", _own_pid_namespace),
    ("own user", _nested_user_namespace),
    *_FILTERS,
]
_T3: List[Step] = [
    ("Linux", _linux),
    ("root", _root),
    ("namespaces", _namespaces),
    ("mounts", _mounts),
    ("pid namespace", _own_pid_namespace),
    ("own user", _identity),
    *_FILTERS,
]
