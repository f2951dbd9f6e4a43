"""Options of commands that grade: which tests, on which machine, and where the scores go."""

from dataclasses import dataclass
from pathlib import Path

import click

from viva.cli.shared.option_groups import option_group
from viva.cli.shared.options import gpu_option, tier_option, training_option
from viva.cli.shared.record_options import BY, WHY, WhoAndWhy, records_option
from viva.model.grade_request import GradeOptions


def _tests(only: tuple[str, ...], visible_only: bool, training: bool) -> GradeOptions:
    return GradeOptions(only=only or None, visible_only=visible_only, training=training)


test_options = option_group(
    "tests",
    _tests,
    click.option("--only", multiple=True, metavar="TEST", help="Ask only this test (number or name); may be repeated."),
    click.option(
        "--visible-only", is_flag=True,
        help="Ask only tests that students can see: needs no secret, for places that students control.",
    ),
    training_option(default=True),
)  # fmt: skip
"""Add `--only`, `--visible-only` and `--training`, as the one argument `tests`: GradeOptions."""


@dataclass(frozen=True, slots=True)
class Machine:
    """`--tier`, `--workers` and `--gpu`: how submissions are graded on this machine or on a cluster."""

    tier_name: str | None
    workers: int | None
    gpu_wish: str


machine_options = option_group(
    "machine",
    Machine,
    tier_option,
    click.option(
        "--workers", type=click.IntRange(min=1), metavar="N", help="Submissions at once (default: one per core)."
    ),
    gpu_option(default="auto"),
)
"""Add `--tier`, `--workers` and `--gpu`, as the one argument `machine`."""


@dataclass(frozen=True, slots=True)
class ClassPath:
    """`--class` and `--roster`: whether the path is what a platform exported, and who is in the class."""

    is_class: bool
    roster: Path | None


class_options = option_group(
    "class_path",
    ClassPath,
    click.option(
        "--class",
        "is_class",
        is_flag=True,
        help="PATH is what a platform exported for a whole class (known by itself, unless it is an archive).",
    ),
    click.option(
        "--roster", type=click.Path(path_type=Path), metavar="FILE",
        help="The roster as CSV: joins submissions to students, and shows who has not submitted.",
    ),
)  # fmt: skip
"""Add `--class` and `--roster`, as the one argument `class_path`."""


@dataclass(frozen=True, slots=True)
class RecordsUse(WhoAndWhy):
    """`--records`, `--no-records` and `--again`, with `--by` and `--why`: what is kept, and what counts."""

    records_url: str | None
    no_records: bool
    again: bool


records_use_options = option_group(
    "records_use",
    RecordsUse,
    records_option,
    click.option("--no-records", is_flag=True, help="Keep no records, and use none of earlier runs."),
    click.option("--again", is_flag=True, help="Grade again what was graded before, too."),
    BY,
    WHY,
)  # fmt: skip
"""Add `--records`, `--no-records`, `--again`, `--by` and `--why`, as the one argument `records_use`."""
