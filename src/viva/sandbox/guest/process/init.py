"""The first process of a box: it starts the student's process, waits, and reports how that ended.

It does almost nothing itself, because every page that it writes is copied once more. The process that becomes the
student's makes the private mounts.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
from typing import List, NoReturn, Optional

from ..lockdown import clean_environment, descriptors, identity, kernel_calls, kernel_namespaces
from ..lockdown.root_directory import ENGINE, RootDirectory
from ..transport.optional_layers import OPTIONAL_LAYERS
from . import descendants, student_process
from .box_plan import MISSING_IN_T0, BoxPlan

EXIT_NO_BOX = 71


@dataclasses.dataclass
class Connections:
    """The descriptors that the examiner sent with its request."""

    rpc: int
    output: int
    report: int
    cgroups: List[int]


def run(plan: BoxPlan, connections: Connections, root: Optional[RootDirectory], parent: int) -> NoReturn:
    """Run as pid 1 of the box, or as its subreaper if there are no namespaces; never returns.

    Args:
        plan: the student's process adds the layers that need privileges.
        connections: all are closed here except `report`, to which one line of JSON is written at the end.
        root: the root directory of boxes; None in T1 and T0.
        parent: the fork server's pid as this process sees it (0 across a pid namespace).
    """
    try:
        identity.die_with_parent(parent)
        clean_environment.default_signals()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # from its namespace, pid 1 gets only signals that it handles
        if root is None:
            identity.adopt_orphans()
        else:
            identity.set_dumpable(dumpable=False)
        me = os.getpid()
        child = os.fork()
        if child == 0:
            _become_the_student(plan, connections, root, me)
        descriptors.close_all_but([connections.report])
        for fd in (0, 1, 2):
            os.close(fd)
        _reap(child, connections.report)
    except BaseException as error:
        _give_up(error, connections.output)


def _become_the_student(
    plan: BoxPlan, connections: Connections, root: Optional[RootDirectory], parent: int
) -> NoReturn:
    try:
        identity.die_with_parent(parent)
        descriptors.standard_streams(connections.output)
        _prepare(plan, connections, root)
        if not plan.preload:
            student_process.enter(plan, connections.rpc, parent)
        os.setsid()
        identity.set_dumpable(dumpable=True)
        _execute(plan, connections.rpc)
    except BaseException as error:
        _give_up(error, connections.output)


def _give_up(error: BaseException, output: int) -> NoReturn:
    try:
        os.write(output, f"{error}\n".encode(errors="replace"))
    finally:  # in any case: this process must never continue as a second fork server
        os._exit(EXIT_NO_BOX)


def _prepare(plan: BoxPlan, connections: Connections, root: Optional[RootDirectory]) -> None:
    """Set up the mounts and limits of the whole box, which all its processes inherit."""
    layers = plan.layers
    if connections.cgroups:
        _enter_cgroups(connections.cgroups)
        layers["cgroup"] = "entered"
    else:
        plan.missing.append(OPTIONAL_LAYERS["cgroup"])
    if root is None:
        plan.missing += MISSING_IN_T0 if plan.tier == "T0" else ("namespaces",)
        return
    kernel_calls.unshare(kernel_namespaces.NEWNS | kernel_namespaces.NEWIPC | kernel_namespaces.NEWNET)
    owner = plan.uid if plan.tier == "T3" else 0
    layers["proc"] = root.mount_private(owner, int(plan.policy["disk_mib"]), plan.devices)
    layers["namespaces"] = "pid, mnt, ipc, net, uts, cgroup" + (", user" if plan.tier == "T2" else "")


def _enter_cgroups(descriptors_of_procs: List[int]) -> None:
    """Move this process by writing "0" to each inherited `cgroup.procs`; this needs no path of the host."""
    for fd in descriptors_of_procs:
        os.write(fd, b"0")
        os.close(fd)


def _execute(plan: BoxPlan, rpc: int) -> NoReturn:
    """Execute a fresh interpreter, for libraries that start threads: threads do not survive a fork."""
    request = os.memfd_create("plan")
    with open(request, "wb", closefd=False) as file:
        file.write(json.dumps(dataclasses.asdict(plan)).encode())
    os.lseek(request, 0, os.SEEK_SET)
    for fd in (request, rpc):
        os.set_inheritable(fd, True)  # noqa: FBT003  # a positional-only parameter
    engine = ENGINE if plan.has_namespaces else plan.engine
    script = os.path.join(engine, "start.py")
    os.execv(  # noqa: S606  # the interpreter of the fork server itself
        sys.executable, [sys.executable, "-s", script, "student", str(request), str(rpc)]
    )


def _reap(child: int, report: int) -> NoReturn:
    """Wait for the student's process, report how it ended, end what it left behind, and exit."""
    while True:
        pid, status, usage = os.wait4(-1, 0)
        if pid == child:
            break
    line = {"status": status, "cpu_s": usage.ru_utime + usage.ru_stime}
    os.write(report, json.dumps(line).encode() + b"\n")
    if os.getpid() != 1:
        descendants.end_orphans(keep=())
    os._exit(0)
