"""The first process of a box: starts the student's process, waits, reports how that ended.

It does next to nothing itself, because every page that it writes is copied once more; the process that is to be the
student's makes the private places.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
from typing import List, NoReturn, Optional

from ..lockdown import cgroup, clean_environment, descriptors, identity, kernel_calls, kernel_namespaces
from ..lockdown.root_directory import ENGINE, Jail
from . import descendants, student_process
from .box_plan import MISSING_IN_T0, BoxPlan

EXIT_NO_BOX = 71


@dataclasses.dataclass
class Wires:
    """Descriptors that the examiner sent along with its request."""

    rpc: int
    output: int
    report: int
    cgroups: List[int]


def run(plan: BoxPlan, wires: Wires, jail: Optional[Jail], parent: int) -> NoReturn:
    """Be pid 1 of the box (or its subreaper, where there are no namespaces). Never returns.

    Args:
        plan: completed in the student's process with the layers that need privileges.
        wires: all are closed here but `report`, on which one line of JSON is written at the end.
        jail: the fork server's jail; None in T1 and T0.
        parent: the fork server's pid as seen from here (0 across a pid namespace).
    """
    try:
        identity.die_with_parent(parent)
        clean_environment.default_signals()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # pid 1 hears from inside its namespace only what it handles
        if jail is None:
            identity.adopt_orphans()
        else:
            identity.set_dumpable(False)
        me = os.getpid()
        child = os.fork()
        if child == 0:
            _become_the_student(plan, wires, jail, me)
        descriptors.close_all_but([wires.report])
        for fd in (0, 1, 2):
            os.close(fd)
        _reap(child, wires.report)
    except BaseException as error:
        _give_up(error, wires.output)


def _become_the_student(plan: BoxPlan, wires: Wires, jail: Optional[Jail], parent: int) -> NoReturn:
    try:
        identity.die_with_parent(parent)
        descriptors.standard_streams(wires.output)
        _prepare(plan, wires, jail)
        if not plan.preload:
            student_process.enter(plan, wires.rpc, parent)
        os.setsid()
        identity.set_dumpable(True)
        _execute(plan, wires.rpc)
    except BaseException as error:
        _give_up(error, wires.output)


def _give_up(error: BaseException, output: int) -> NoReturn:
    try:
        os.write(output, f"{error}\n".encode(errors="replace"))
    finally:  # whatever happens: a second fork server must never come of it
        os._exit(EXIT_NO_BOX)


def _prepare(plan: BoxPlan, wires: Wires, jail: Optional[Jail]) -> None:
    """The places and limits of the whole box; what it starts has them too."""
    layers = plan.layers
    if wires.cgroups:
        layers["cgroup"] = cgroup.enter(wires.cgroups)
    else:
        plan.missing.append("a limit on the memory of all processes together (a watchdog polls it instead)")
    if jail is None:
        plan.missing += MISSING_IN_T0 if plan.tier == "T0" else ("namespaces",)
        return
    kernel_calls.unshare(kernel_namespaces.NEWNS | kernel_namespaces.NEWIPC | kernel_namespaces.NEWNET)
    owner = plan.uid if plan.tier == "T3" else 0
    layers["proc"] = jail.furnish(owner, int(plan.policy["disk_mib"]), plan.devices)
    layers["namespaces"] = "pid, mnt, ipc, net, uts, cgroup" + (", user" if plan.tier == "T2" else "")


def _execute(plan: BoxPlan, rpc: int) -> NoReturn:
    """Become a fresh interpreter: for libraries that start threads, which no fork would carry over."""
    request = os.memfd_create("plan")
    with open(request, "wb", closefd=False) as file:
        file.write(json.dumps(dataclasses.asdict(plan)).encode())
    os.lseek(request, 0, os.SEEK_SET)
    for fd in (request, rpc):
        os.set_inheritable(fd, True)
    engine = ENGINE if plan.jailed else plan.engine
    script = os.path.join(engine, "start.py")
    os.execv(sys.executable, [sys.executable, "-s", script, "student", str(request), str(rpc)])


def _reap(child: int, report: int) -> NoReturn:
    """Wait for the student's process, say how it ended, end what it left behind, end."""
    while True:
        pid, status, usage = os.wait4(-1, 0)
        if pid == child:
            break
    line = {"status": status, "cpu_s": usage.ru_utime + usage.ru_stime}
    os.write(report, json.dumps(line).encode() + b"\n")
    if os.getpid() != 1:
        descendants.end_orphans(keep=())
    os._exit(0)
