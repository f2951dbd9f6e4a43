"""`viva doctor`: show which isolation layers this host offers, and what to install for more."""

import functools
import importlib.metadata
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.options import course_option, open_course
from viva.config import load_course
from viva.config.find_course import find_course
from viva.config.secret import weakness
from viva.formats.atomic_write import leftover_parts
from viva.hooks import DoctorCheck, DoctorRequest, hooks
from viva.model import Limits, Tier, system
from viva.model.errors import CourseError, UsageError
from viva.model.extras import EXTRAS, install_command
from viva.submissions.unpacked_classes import UNPACKED

if TYPE_CHECKING:
    from rich.console import Console

PROMISES = {
    Tier.T3: "root: namespaces, own user, Landlock, seccomp, limits, cgroup",
    Tier.T2: "user namespaces: as T3 with one user",
    Tier.T1: "root in a container: own user, Landlock, seccomp, limits",
    Tier.T0: "a plain process with limits: the code that is graded can read what you can read",
}


def _with_checks(function: Callable[..., object]) -> Callable[..., object]:
    """Add an option for each check of a plugin, as the one argument `check`: the one that was chosen, or None."""
    checks = {check.name: check for table in hooks().viva_doctor_checks() for check in table}

    @functools.wraps(function)
    def collected(**arguments: object) -> object:
        chosen = [check for name, check in checks.items() if arguments.pop(name)]
        if len(chosen) + bool(arguments["gpu"]) > 1:
            raise UsageError(f"Say one of {', '.join(f'--{name}' for name in (*checks, 'gpu'))}.")
        return function(check=chosen[0] if chosen else None, **arguments)

    for name, check in checks.items():
        collected = click.option(f"--{name}", name, is_flag=True, help=check.summary)(collected)
    return collected


@click.command("doctor")
@_with_checks
@click.option(
    "--assignment",
    "-a",
    "names",
    multiple=True,
    metavar="NAME",
    help="With --gpu: the limits and the Python of this one; may be repeated.",
)
@click.option("--gpu", is_flag=True, help="Check each GPU in a sandbox of its own; with --assignment, with its limits.")
@course_option
def command(check: DoctorCheck | None, names: tuple[str, ...], gpu: bool, course_dir: Path | None) -> int:
    """Try every isolation layer on this host in a temporary process and show which ones work.

    With --gpu: start CUDA, compare it with the CPU, and check limits, repeatable sums and cleared memory.
    With --records: look for damage in the file that keeps the scores.

    Exit status: 0 shown, 1 a GPU fails its check, there is none, the records are damaged, or the command is wrong.
    """
    if (names and not gpu) or (course_dir and not gpu and check is None):
        raise UsageError("--assignment belongs to --gpu, --course to --gpu or --records.")
    if gpu:
        return _gpu(course_dir, names)
    if check is not None:
        return check.run(DoctorRequest(course_dir))
    return _isolation_layers()


def _gpu(course_dir: Path | None, names: tuple[str, ...]) -> int:
    from viva.sandbox.host.gpu import gpus
    from viva.sandbox.host.gpu.check_all import check_all
    from viva.sandbox.host.levels.detect_levels import detect_tiers

    assignments = [open_course(course_dir).assignment(name) for name in names]
    kinds = [(a.limits, str(a.python or sys.executable)) for a in assignments] or [(Limits(), sys.executable)]
    found = gpus.find_gpus(os.environ)
    tier = next(report.tier for report in detect_tiers() if report.available)
    if not found.devices:
        why = "".join(f" Also, {clause}." for clause in found.refused)
        raise UsageError(f"There is no GPU here that sandboxes can use; `viva grade` defers the tests for one.{why}")
    sound = True
    for limits, python in kinds:
        for checked in check_all(tier, found, limits, python=python, on_wait=lambda line: click.echo(line, err=True)):
            gpu, memory = checked.gpu, f"{limits.memory_mib:,} MiB"
            click.echo(f"GPU {gpu.name} ({gpu.bus}), checked in a sandbox of level {tier} with {memory} of memory:")
            for line in checked.lines():
                click.echo(f"  {line}")
            sound = sound and checked.is_sound
    return 0 if sound else 1


def _isolation_layers() -> int:
    from rich.console import Console
    from rich.table import Table

    from viva.sandbox.host.gpu.gpus import find_gpus
    from viva.sandbox.host.levels.detect_levels import detect_tiers

    console = Console(highlight=False)
    user = _user()
    console.print(f"Python {platform.python_version()} ({sys.prefix})")
    console.print(f"{platform.system()} {platform.release()}, {user}")
    console.print(", ".join(f"{name} {_version(name)}" for name in ("numpy", "torch", "IPython", "hypothesis")))
    found = find_gpus(os.environ)
    for gpu in found.devices:
        memory = (
            "memory not known (nvidia-smi does not answer)" if gpu.memory_mib is None else f"{gpu.memory_mib:,} MiB"
        )
        console.print(f"GPU {gpu.name}, {memory}, driver {gpu.driver or 'not known'}, {gpu.device} ({gpu.bus})")
    for clause in found.refused:
        console.print(f"A GPU is not used: {clause}.", soft_wrap=True)
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
    console.print(f"The best isolation level here is {best.tier}; its isolation layers:")
    for name, text in best.layers.items():
        console.print(f"  {name:<20} {text}")
    if best.tier is Tier.T0:
        console.print("`viva grade` refuses to run here unless told `--tier T0`; `viva check` works.")
    _print_features(console)
    for sentence in _about_the_course_here():
        console.print(f"The course here: {sentence}", markup=False, soft_wrap=True)
    return 0


def _print_features(console: "Console") -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="Optional features", title_justify="left")
    for heading in ("feature", "here", "what it is for", "how to install it"):
        table.add_column(heading, overflow="fold")
    for extra in EXTRAS.values():
        missing = extra.missing()
        here, install = ("✓ yes", "") if missing is None else (f"✗ no `{missing}`", install_command(extra.name))
        table.add_row(*(escape(text) for text in (extra.name, here, extra.purpose, install)))
    console.print(table)


def _about_the_course_here() -> Iterator[str]:
    """Yield what is wrong with the course in this folder; nothing if there is none."""
    try:
        root = find_course(None, os.environ, Path.cwd())
    except (CourseError, OSError):
        return
    try:
        if sentence := weakness(load_course(root).secret(os.environ)):
            yield sentence
    except CourseError as error:
        yield str(error)
    for path in leftover_parts(root / UNPACKED):
        yield f"{path} is what a run that was killed had unpacked; the next `viva grade` of a class removes it"


def _user() -> str:
    if not system.NUMBERS_USERS:
        return "an ordinary user"
    return "root" if os.geteuid() == 0 else f"user {os.geteuid()}"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"
