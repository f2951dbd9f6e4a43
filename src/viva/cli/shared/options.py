"""Options that several commands share, and the course, assignment and tier that they choose."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from viva.cli.shared.option_groups import option_group
from viva.config import Assignment, Course, find_course, load_course
from viva.model import Submission, Tier
from viva.model.errors import UsageError
from viva.model.gpu import Gpus
from viva.submissions import recognize_assignment

UNSAFE = "the key and other submissions are readable by the code you grade"


def course_option(function: Callable[..., object]) -> Callable[..., object]:
    """Add `--course DIR`."""
    return click.option(
        "--course", "course_dir", type=click.Path(path_type=Path), metavar="DIR",
        help="The course's folder (default: $VIVA_COURSE, or where grader.yaml is found from here upwards).",
    )(function)  # fmt: skip


def assignment_option(function: Callable[..., object]) -> Callable[..., object]:
    """Add `--assignment NAME`."""
    return click.option(
        "--assignment", "-a", metavar="NAME", help="The assignment (default: recognised from the submission)."
    )(function)


class _TierChoice(click.Choice[str]):
    """Takes t3 for T3, and still lists the levels as they are written everywhere."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        """Return the choice as it is listed; other texts as they are."""
        return next((listed for listed in self.choices if listed.casefold() == str(choice).casefold()), str(choice))


def tier_option(function: Callable[..., object]) -> Callable[..., object]:
    """Add `--tier T`."""
    return click.option(
        "--tier", "tier_name", metavar="TIER",
        type=_TierChoice(["T0", "T1", "T2", "T3", "best"]),
        help="The isolation to use: T0 to T3, or `best` for whatever this host offers, T0 included.",
    )(function)  # fmt: skip


def training_option(default: bool) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Add `--training/--no-training` with a default."""
    return click.option(
        "--training/--no-training", default=default, show_default=True,
        help="Run tests that train a model, which takes long; left out, their points stay open.",
    )  # fmt: skip


def gpu_option(default: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Add `--gpu WISH`."""
    return click.option(
        "--gpu", "gpu_wish", type=click.Choice(["auto", "require", "defer"]), default=default, show_default=True,
        help="Tests that need a GPU: run them where there is one, refuse to work without one, or leave them out.",
    )  # fmt: skip


def choose_gpus(wish: str) -> Gpus:
    """Return the GPUs that tests may use.

    Raises:
        UsageError: one is required and there is none.
    """
    if wish == "defer":
        return Gpus()
    from viva.sandbox.host.gpu import gpus

    found = gpus.find_gpus(os.environ)
    if wish == "require" and not found.devices:
        why = "".join(f" Also, {clause}." for clause in found.refused)
        raise UsageError(
            "--gpu require: there is no GPU here that boxes could be given: no /dev/nvidia0 or its like that "
            f"/proc/driver/nvidia/gpus names and CUDA_VISIBLE_DEVICES, if it is set, allows.{why}"
        )
    return Gpus.offer(found)


@dataclass(frozen=True, slots=True)
class CourseChoice:
    """`--course` and `--assignment`."""

    course_dir: Path | None
    assignment: str | None

    def open(self) -> Course:
        """Open the course of the command; see `open_course`."""
        return open_course(self.course_dir)


course_choice_options = option_group("course_choice", CourseChoice, assignment_option, course_option)
"""Add `--assignment` and `--course`, as the one argument `course_choice`."""


def open_course(course_dir: Path | None, *, released: bool = False) -> Course:
    """Return the course of the command, which is never looked for inside a submission; this changes nothing.

    Args:
        course_dir: the course's folder; None looks for it.
        released: whether a released course is accepted too, for what students do themselves.

    Raises:
        CourseError: there is none, or it has an error.
    """
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise UsageError("The folder in which the command was started does not exist any more; change it.") from None
    return load_course(find_course(course_dir, os.environ, here, released=released))


def choose_assignment(course: Course, name: str | None, submission: Submission) -> Assignment:
    """Return the named assignment, or else the one that the submission looks like.

    Raises:
        UsageError: there is no such assignment, or it cannot be recognised.
    """
    return course.assignment(name) if name else recognize_assignment(course, submission)


def choose_tier(wanted: str | None, min_tier: Tier | None) -> Tier:
    """Return the tier to use: the one asked for, or else the host's best, never silently below T1 or `min_tier`.

    Raises:
        UsageError: the host does not offer it, or it is below `min_tier`.
    """
    from viva.sandbox.host.levels.detect_levels import detect_tiers

    reports = detect_tiers()
    offered = [r.tier for r in reports if r.available]
    best = max(offered, default=Tier.T0)
    least = Tier.T1 if min_tier is None else min_tier
    if wanted is None or wanted.lower() == "best":
        if best < least and not (wanted and min_tier is None):
            why = next((f" ({r.tier}: {r.sentence})" for r in reports if not r.available and r.tier >= least), "")
            raise UsageError(
                f"Grading needs isolation {least} or better, and this host offers {best}{why}. Run as root "
                f"or in a container (see `viva doctor`), or say `--tier T0`: then {UNSAFE}."
            )
        return best
    tier = Tier[wanted.upper()]
    if tier not in offered:
        names = ", ".join(str(t) for t in sorted(offered))
        raise UsageError(
            f"This host does not offer isolation {tier}; it offers {names}. `viva doctor` says what is missing."
        )
    if min_tier is not None and tier < min_tier:
        raise UsageError(f"The course asks for isolation {min_tier} or better (min_tier); {tier} was asked for.")
    return tier
