"""`viva grade PATH…`: grade one submission or many, show a table, write results."""

import contextlib
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.cluster_options import Elsewhere, cluster_options
from viva.cli.shared.generated_files import open_refreshed_course
from viva.cli.shared.grade_options import (
    ClassPath,
    Machine,
    RecordsUse,
    class_options,
    machine_options,
    records_use_options,
    test_options,
)
from viva.cli.shared.listing import Listing, list_jobs
from viva.cli.shared.options import CourseChoice, course_choice_options
from viva.cli.shared.place import Place
from viva.cli.shared.progress import Progress, show_cached, show_summary, warn
from viva.config import Course
from viva.config.secret import weakness
from viva.formats.atomic_write import sweep_parts
from viva.hooks import hooks
from viva.model.errors import UsageError
from viva.model.grade_request import GradeOptions
from viva.pipeline.jobs import Job, Observer, Pool, always
from viva.pipeline.score_store import StoreRequest, Stores

if TYPE_CHECKING:
    from viva.pipeline.results_writer import ResultsWriter


@click.command("grade")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE|DIR",
    help="Where to write: FILE.json for one submission, DIR/<path>/results.json for several.",
)
@course_choice_options
@machine_options
@test_options
@click.option("--as-student", is_flag=True, help="Show exactly what the student will see.")
@class_options
@records_use_options
@cluster_options
def command(
    paths: tuple[Path, ...],
    output: Path | None,
    course_choice: CourseChoice,
    machine: Machine,
    tests: GradeOptions,
    as_student: bool,
    class_path: ClassPath,
    records_use: RecordsUse,
    elsewhere: Elsewhere,
) -> int:
    """Grade one or many submissions: modules, notebooks, folders, archives.

    Where the course keeps records, what was graded before and has not changed is not graded again; a run that was
    ended in the middle goes on where it was.

    Exit status: 0 graded (whatever the points), 1 the command or the course is wrong, or a file of an export belongs to
    no known student, 2 something went wrong on the grader's side and those tests are not graded yet.
    """
    course = open_refreshed_course(course_choice.course_dir)
    secret = course.secret_or_public(os.environ) if tests.visible_only else course.secret(os.environ)
    if not tests.visible_only and (sentence := weakness(secret)):
        warn(f"{sentence}.")
    place = output if output is not None and output.suffix != ".json" else course.root
    listing = list_jobs(
        course, paths, course_choice.assignment, is_class=class_path.is_class, roster=class_path.roster, place=place
    )
    where = Place.choose(course, (job.assignment for job in listing.jobs), machine, elsewhere)
    if records_use.records_url and not tests.selects_all:
        raise UsageError("--records keeps whole scores: leave out --only and --visible-only.")
    return Grading(course, secret, listing, output, tests, where).run(records_use, as_student=as_student)


@dataclass(frozen=True, slots=True)
class Grading:
    """One run of `viva grade`, after its options have been checked against each other."""

    course: Course
    secret: bytes
    listing: Listing
    output: Path | None
    tests: GradeOptions
    place: Place

    def run(self, records_use: RecordsUse, *, as_student: bool) -> int:
        """Grade, write and show; return the exit status."""
        from viva.pipeline.grading_run import GradingRun
        from viva.pipeline.results_writer import ResultsWriter

        jobs, everything = self.listing.jobs, self.tests.selects_all
        if self.output is not None and self.output.is_dir():
            sweep_parts(self.output)
        writer = ResultsWriter(jobs, self.output, warn=warn)
        off = records_use.no_records or not everything
        with contextlib.ExitStack() as open_:
            progress = open_.enter_context(Progress(jobs))
            run = GradingRun(jobs, writer, progress, keep_messages=as_student or len(jobs) == 1)
            progress.watch(run.summary, writer)
            options = replace(self.tests, notebook=writer.writes_notebooks)
            stores = Stores() if off else open_.enter_context(self._stores(options, records_use))
            run.use_decisions(stores.decisions)
            may_start: Callable[[Job], bool] = always
            if stores.scores is not None:
                options = replace(options, interceptor=stores.scores.interceptor)
                run.use_store(stores.scores)
                may_start = stores.scores.may_start
            summary = run.run(self._pool(options, writer, progress, may_start))
        self.listing.say()
        show_summary(summary, writer, self.place.tier, as_student=as_student)
        show_cached(summary)
        if everything:
            self._check_points(summary.points)
        return max(summary.exit_status, self.listing.exit_status)

    def _stores(self, options: GradeOptions, records_use: RecordsUse) -> AbstractContextManager[Stores]:
        """Return where scores are kept, or people's decisions about them."""
        request = StoreRequest(
            course=self.course,
            secret=self.secret,
            options=options,
            isolation=self.place.isolation,
            has_gpu=self.place.has_gpu,
            url=records_use.records_url,
            output=self.output,
            reason=records_use.reason(),
            again=records_use.again,
        )
        stores: AbstractContextManager[Stores] | None = hooks().viva_score_store(request=request)
        return contextlib.nullcontext(Stores()) if stores is None else stores

    def _pool(
        self, options: GradeOptions, writer: "ResultsWriter", progress: Progress, may_start: Callable[[Job], bool]
    ) -> Pool:
        def prepare() -> None:
            writer.prepare()
            import viva.formats.terminal_table  # noqa: F401  # imported while there is time

        observer = Observer(
            while_waiting=prepare,
            may_start=may_start,
            on_start=writer.start,
            on_entry=writer.entry,
            on_progress=progress.tell,
        )
        return self.place.pool(self.course, self.secret, options, observer)

    def _check_points(self, points: Mapping[str, Fraction]) -> None:
        """Warn about assignments whose tests do not add up to their points."""
        from viva.formats.points_total import points_complaint

        for name, total in points.items():
            if complaint := points_complaint(self.course.assignment(name), total):
                warn(f"{name}: {complaint}.")
