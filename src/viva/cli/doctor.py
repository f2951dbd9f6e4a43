"""`viva doctor`: which isolation this host offers, wall by wall, and what to install for more."""

import importlib.metadata
import os
import platform
import sys

import click

from viva.model import Tier

PROMISES = {
    Tier.T3: "root: namespaces, own user, Landlock, seccomp, limits, cgroup",
    Tier.T2: "user namespaces: as T3 with one user",
    Tier.T1: "root in a container: own user, Landlock, seccomp, limits",
    Tier.T0: "a plain process with limits: the code that is graded can read what you can read",
}


@click.command("doctor")
def command() -> int:
    """Try every wall on this host in a throw-away process and show what stands."""
    from rich.console import Console
    from rich.table import Table

    from viva.box.outside import detect_tiers
    from viva.box.outside.gpus import find_gpus

    console = Console(highlight=False)
    user = "root" if os.geteuid() == 0 else f"user {os.geteuid()}"
    console.print(f"Python {platform.python_version()} ({sys.prefix})")
    console.print(f"{platform.system()} {platform.release()}, {user}")
    console.print(", ".join(f"{name} {_version(name)}" for name in ("numpy", "torch", "IPython", "hypothesis")))
    for gpu in find_gpus(os.environ).devices:
        memory = (
            "memory not known (nvidia-smi does not answer)" if gpu.memory_mib is None else f"{gpu.memory_mib:,} MiB"
        )
        console.print(f"GPU {gpu.name}, {memory}, driver {gpu.driver or 'not known'}, {gpu.device} ({gpu.bus})")
    table = Table(show_lines=True)
    for heading in ("tier", "here", "what it is", "what is missing, and what to do"):
        table.add_column(heading, overflow="fold")
    reports = sorted(detect_tiers(), key=lambda r: r.tier, reverse=True)
    for report in reports:
        lacking = [f"{m}\n  → {a}" for m, a in zip(report.missing, report.advice, strict=False)]
        here = "✓ yes" if report.available else "✗ no"
        table.add_row(str(report.tier), here, PROMISES[report.tier], "\n".join(lacking) or "nothing")
    console.print(table)
    best = next(r for r in reports if r.available)
    console.print(f"The best here is {best.tier}; its walls:")
    for name, text in best.layers.items():
        console.print(f"  {name:<20} {text}")
    if best.tier is Tier.T0:
        console.print("`viva grade` refuses to run here unless told `--tier T0`; `viva check` works.")
    return 0


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"
