"""The student's process from its start until it serves requests: it applies every isolation layer, in order."""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
from typing import TYPE_CHECKING, Callable, Dict, List, NoReturn, Tuple

from ..lockdown import (
    clean_environment,
    descriptors,
    escape_probes,
    file_modes,
    identity,
    kernel_namespaces,
    landlock,
    rlimits,
    seccomp,
)
from ..transport.optional_layers import OPTIONAL_LAYERS
from . import preload
from .box_plan import BoxPlan, allowed_calls

if TYPE_CHECKING:
    from ..transport.message_types import Policy

Step = Tuple[str, Callable[[BoxPlan, int], str]]
EXIT_NOT_LOCKED = 70
_FOR_CUDA: List[landlock.Rule] = [
    # cuInit writes the names of its threads, else error 304; /proc/self is this process, not its children.
    ("/proc/self/task", landlock.READ | landlock.WRITE_FILE | landlock.TRUNCATE),
    *[(path, landlock.READ) for path in ("/proc/driver/nvidia", "/proc/devices", "/sys/bus/pci", "/sys/devices")],
]
_STUDENT_ID = 60001
"""The user inside a user namespace; outside it is the user who grades."""


def enter(plan: BoxPlan, rpc: int, parent: int) -> NoReturn:
    """Lock this freshly forked process, send the ready message, and serve; never returns.

    Its signal handlers are the defaults except for SIGINT, which pid 1 ignores.

    Args:
        plan: the plan of the box.
        rpc: the descriptor of the connection to the examiner.
        parent: the pid of the process that must outlive this one, as this process sees it.
    """
    try:
        identity.die_with_parent(parent)
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _lock(plan, rpc)
        identity.die_with_parent(parent)  # `become` cleared it
        _serve(plan, rpc)
    except BaseException as error:
        _give_up(error)


def enter_fresh(request: int, rpc: int) -> NoReturn:
    """Do the same in a newly executed interpreter, which reads the plan from a file and imports the libraries."""
    try:
        with open(request, "rb") as file:
            plan = BoxPlan(**json.loads(file.read()))
        identity.die_with_parent(os.getppid())
    except BaseException as error:
        _give_up(error)
    become(plan, rpc)


def become(plan: BoxPlan, rpc: int) -> NoReturn:
    """Lock a newly executed interpreter, import the libraries in it, and serve; never returns."""
    try:
        parent = os.getppid()
        clean_environment.default_signals()
        _lock(plan, rpc)
        if plan.tier != "T0":
            identity.die_with_parent(parent)
        preload.import_all(plan.preload)
        plan.versions.update(preload.versions())
        _serve(plan, rpc)
    except BaseException as error:
        _give_up(error)


def _lock(plan: BoxPlan, rpc: int) -> None:
    for name, step in _STEPS[plan.tier]:
        try:
            plan.layers[name] = step(plan, rpc)
        except Exception as error:
            raise RuntimeError(f"the layer `{name}` could not be raised: {error}") from error


def _serve(plan: BoxPlan, rpc: int) -> NoReturn:
    worker = importlib.import_module("viva_box.process.worker")

    ready_message = {
        "tier": plan.tier,
        "layers": plan.layers,
        "probes": escape_probes.run(plan.canary if plan.isolates_sockets else {**plan.canary, "unix": ""}, plan.tier),
        "missing": plan.missing,
        "versions": plan.versions,
    }
    policy: Policy = {**plan.policy, "work": plan.work, "scratch": plan.scratch}
    worker.serve(socket.socket(fileno=rpc), ready_message, policy)
    os._exit(0)


def _give_up(error: BaseException) -> NoReturn:
    """Write one sentence to the output pipe, which the examiner shows, and exit: a box is never half locked."""
    text = str(error) if isinstance(error, RuntimeError) else f"{type(error).__name__}: {error}"
    try:
        os.write(2, text.encode(errors="replace") + b"\n")
    finally:
        os._exit(EXIT_NOT_LOCKED)


def _descriptors(plan: BoxPlan, rpc: int) -> str:
    kept = [rpc, plan.lifeline] if plan.lifeline >= 0 else [rpc]
    descriptors.close_all_but(kept)
    return descriptors.check_only(kept)


def _environment(plan: BoxPlan, rpc: int) -> str:
    gpu = plan.policy.get("gpu")
    return clean_environment.replace(
        plan.work, plan.scratch, clean_environment.for_gpu(gpu["visible"]) if gpu else None
    )


def _rlimits(plan: BoxPlan, rpc: int) -> str:
    _prefer_for_oom_killer()
    limits = rlimits.limits_for(plan.policy, plan.data_bytes, plan.address_bytes)
    result = rlimits.apply(limits)
    if result == rlimits.NONE:
        plan.missing.append("limits on processor time and files (the examiner's own time limits hold)")
    if plan.devices:
        rlimits.lift_locked_memory(dict(limits)["RLIMIT_DATA"])
    return result


def _processes(plan: BoxPlan, rpc: int) -> str:
    if plan.tier == "T2" and not os.path.exists("/proc/self/uid_map"):
        return "watched"  # a limit that all boxes of the user share would let one box stop the others
    return rlimits.limit_processes(int(plan.policy["processes"]))


def _own_user_namespace(plan: BoxPlan, rpc: int) -> str:
    """Enter a second user namespace, so that the kernel counts the processes of this box alone."""
    if not os.path.exists("/proc/self/uid_map"):
        plan.missing.append("a count of processes for each box (the host hides /proc; a watchdog counts instead)")
        return identity.drop_capabilities()
    identity.set_dumpable(dumpable=True)  # else /proc/self belongs to root and the maps cannot be written
    kernel_namespaces.enter_user_namespace(_STUDENT_ID, _STUDENT_ID)
    return f"uid {_STUDENT_ID} in a user namespace, {identity.drop_capabilities()}"


def _landlock(plan: BoxPlan, rpc: int) -> str:
    if not plan.isolates_sockets:
        plan.missing.append(OPTIONAL_LAYERS["abstract sockets"])
    if not plan.landlock_abi:
        plan.missing.append(OPTIONAL_LAYERS["Landlock"])
        return "missing"
    rules, optional = _rules(plan)
    return landlock.Ruleset(rules, optional=optional).apply()


def _rules(plan: BoxPlan) -> Tuple[List[landlock.Rule], List[landlock.Rule]]:
    """Return the Landlock rules: for paths that must exist, and for paths that may be absent on this host."""
    shared = landlock.CHANGE if plan.has_namespaces else landlock.SHARED_MEMORY
    rules: List[landlock.Rule] = [(plan.work, landlock.CHANGE), (plan.scratch, landlock.CHANGE)]
    for path in [*plan.view, plan.engine]:
        rules += landlock.split_around(path, plan.hidden)
    optional = [(f"/dev/{name}", landlock.DEVICE) for name in ("null", "zero", "full", "random", "urandom")]
    optional += [(f"/proc/{name}", landlock.READ) for name in ("cpuinfo", "meminfo", "stat")]
    if not plan.has_namespaces:
        optional += landlock.own_process()
    if plan.fork or plan.has_namespaces:
        optional.append(("/dev/shm", shared))  # noqa: S108  # a rule; no file is made there
    if plan.devices:
        rules += [(path, landlock.GPU) for path in plan.devices]
        optional += _FOR_CUDA
    return rules, optional


def _seccomp(plan: BoxPlan, rpc: int) -> str:
    allowed = allowed_calls(plan.tier, fork=plan.fork, gpu=bool(plan.devices))
    if not allowed.shared_files:
        file_modes.keep_files_private()
    return seccomp.apply(seccomp.program(allowed))


def _privacy(plan: BoxPlan, rpc: int) -> str:
    """Let the watchdog read the memory use if no cgroup limits it; else forbid it."""
    dumpable = "cgroup" not in plan.layers
    identity.set_dumpable(dumpable=dumpable)
    return "readable by the watchdog" if dumpable else "not dumpable"


def _prefer_for_oom_killer() -> None:
    """Make the kernel kill boxes first, and never the examiner, when the host runs out of memory."""
    try:
        file = os.open("/proc/self/oom_score_adj", os.O_WRONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            os.write(file, b"1000")
        finally:
            os.close(file)
    except OSError:
        pass  # /proc is hidden, or this is not Linux; the other limits still apply


_PROCESS: List[Step] = [("environment", _environment), ("descriptors", _descriptors), ("rlimits", _rlimits)]
_FILTERS: List[Step] = [
    ("memory", _privacy),
    ("no_new_privs", lambda plan, rpc: identity.no_new_privileges()),
    ("landlock", _landlock),
    ("seccomp", _seccomp),
]
_ROOT: List[Step] = [
    *_PROCESS,
    ("processes", _processes),
    ("identity", lambda plan, rpc: identity.become(plan.uid)),
    *_FILTERS,
]
_STEPS: Dict[str, List[Step]] = {
    "T0": _PROCESS,
    "T1": _ROOT,
    # The kernel counts processes per user namespace, so the namespace comes first.
    "T2": [*_PROCESS, ("identity", _own_user_namespace), ("processes", _processes), *_FILTERS],
    "T3": _ROOT,
}
