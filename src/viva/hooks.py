"""Hooks: what a plugin can add to viva, each with an example.

A plugin is a module with functions that have the names of hooks and are marked with `hookimpl`. A distribution names
its module in the entry points of its `pyproject.toml`:

    [project.entry-points.viva]
    my_plugin = "my_package.my_hooks"

Keep such a module small, and import inside its functions: viva imports all of these modules to find out what there is.
"""

import functools
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pluggy

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from viva.config import Assignment, Course
    from viva.examiner.catalog import TestFunction
    from viva.examiner.interceptor import Interceptor
    from viva.model.box_source import BoxSource
    from viva.pipeline.remote_place import RemotePlace, RemoteRequest
    from viva.pipeline.score_store import StoreRequest, Stores
    from viva.submissions.class_export import CohortReader

NAME: Final = "viva"
"""The name of the project for pluggy, and the group of the entry points."""
OWN: Final = (
    "viva.plugins.authoring.hooks",
    "viva.plugins.verify.hooks",
    "viva.plugins.suites.hooks",
    "viva.plugins.release.hooks",
    "viva.plugins.selfcheck.hooks",
    "viva.plugins.cluster.hooks",
    "viva.plugins.cohorts.hooks",
    "viva.plugins.records.hooks",
    "viva.plugins.report.hooks",
    "viva.plugins.review.hooks",
    "viva.plugins.ci.hooks",
)
"""Modules of viva's own plugins, in the order of their commands in `viva --help`. They are names, so that the core
imports none of them."""

hookimpl: Final = pluggy.HookimplMarker(NAME)
"""Marks a function of a plugin's module as the implementation of the hook of its name."""
_all: Final = pluggy.HookspecMarker(NAME)
"""Marks a hook that returns the results of all plugins, as a list."""
_first: Final = pluggy.HookspecMarker(NAME)(firstresult=True)
"""Marks a hook that returns the first result that is not None. Other people's plugins are asked before viva's own."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of `viva`."""

    name: str
    module: str
    """The module that is imported when the command runs; its `command` is a click command."""
    summary: str
    """One sentence for `viva --help`."""
    group: str
    """The heading below which `viva --help` lists it."""


@_all
def viva_commands() -> Sequence[Command]:
    """Return commands, which are imported only when they run.

    @hookimpl
    def viva_commands():
        return [Command("tutor", "my_package.tutor", "Show who needs help.", "Look")]
    """
    return ()


@_all
def viva_before_grading(course: "Course") -> bool | None:
    """Make generated files of a course again where their source has changed.

    `viva grade`, `viva verify` and `viva release` call this before they read anything else of the course.

    @hookimpl
    def viva_before_grading(course):
        return copy_shared_handouts(course.root)

    Returns:
        Whether settings have changed, so that viva reads the course again.
    """


@dataclass(frozen=True, slots=True)
class Suite:
    """How the examiner runs a suite of tests that were written for another tool."""

    preload: tuple[str, ...]
    """Modules to import once for all boxes."""
    start: "Callable[[Assignment, BoxSource, bytes], Any]"
    """Reads the suite with boxes and the course's secret; returns what grades, as viva.examiner.grader.Grader does."""


@_first
def viva_suite_grader(assignment: "Assignment") -> Suite | None:
    """Return how to run the suite that an assignment names (`suite:` in assignment.yaml).

    @hookimpl
    def viva_suite_grader(assignment):
        return Suite((), start_doctests) if assignment.suite == "doctest" else None
    """


@_first
def viva_interceptor(name: str, data: bytes, tests: "Sequence[TestFunction]") -> "Interceptor | None":
    """Return the interceptor of that name, which stands between the examiner and what it asks: boxes and key.

    The examiner calls this for each submission whose `GradeOptions.interceptor` is not empty.

    @hookimpl
    def viva_interceptor(name, data, tests):
        return TimedBoxes() if name == "times" else None

    Args:
        name: as in the options.
        data: `GradeRequest.interceptor_input` of the submission.
        tests: all tests of the assignment, in their order.
    """


@_first
def viva_pool(request: "RemoteRequest") -> "AbstractContextManager[RemotePlace] | None":
    """Return the place that `--on PLACE` names, if the plugin knows such places; it is closed when the command ends.

    @hookimpl
    def viva_pool(request):
        return ssh_place(request) if request.place.startswith("ssh:") else None
    """


@_first
def viva_score_store(request: "StoreRequest") -> "AbstractContextManager[Stores] | None":
    """Return where `viva grade` keeps scores, and where it reads what people decided about them.

    @hookimpl
    def viva_score_store(request):
        return sheet_of(request) if (request.url or "").startswith("sheet:") else None
    """


@_first
def viva_cohort_reader() -> "CohortReader":
    """Return what reads the export of a whole class for `viva grade`; the plugin `cohorts` does.

    @hookimpl
    def viva_cohort_reader():
        from my_package import campus_archive  # with the functions of CohortReader

        return campus_archive
    """
    raise NotImplementedError


@_all
def viva_export_format() -> Any:
    """Return a reader of one more kind of export: viva.plugins.cohorts.exports.export_format.ExportFormat.

    @hookimpl
    def viva_export_format():
        from my_package.ilias import Ilias

        return Ilias()
    """


@dataclass(frozen=True, slots=True)
class GradeWriter:
    """A format of `viva grades --to NAME`."""

    name: str
    module: str
    """The module that is imported to write. Its `write_grades(grades, assignment)` takes the grades as
    viva.plugins.cohorts.grade_files.returned_grade.ReturnedGrade and returns the bytes of the file."""


@_all
def viva_grade_writer() -> Sequence[GradeWriter]:
    """Return formats in which grades can be written.

    @hookimpl
    def viva_grade_writer():
        return [GradeWriter("ilias", "my_package.ilias_grades")]
    """
    return ()


@dataclass(frozen=True, slots=True)
class ResultExporter:
    """A format of `viva export --to NAME`."""

    name: str
    summary: str
    """What it is for, for `viva export --help`."""
    export: Callable[[Sequence[Any]], bytes]
    """Takes reports, which hold only what students may see (`viva.plugins.ci.public_view.Report`), and returns the
    bytes of a file."""


@_all
def viva_result_exporter() -> Sequence[ResultExporter]:
    """Return formats in which results can be exported.

    @hookimpl
    def viva_result_exporter():
        return [ResultExporter("tap", "Test Anything Protocol.", to_tap)]
    """
    return ()


@dataclass(frozen=True, slots=True)
class DoctorRequest:
    """The options of `viva doctor` that belong to a check."""

    course_dir: "Path | None"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """A check that `viva doctor --NAME` runs."""

    name: str
    summary: str
    """What it does, for `viva doctor --help`."""
    run: Callable[[DoctorRequest], int]
    """Prints what it finds and returns the exit status."""


@_all
def viva_doctor_checks() -> Sequence[DoctorCheck]:
    """Return checks of an installation or a course.

    @hookimpl
    def viva_doctor_checks():
        return [DoctorCheck("licenses", "Look for the campus licenses.", find_licenses)]
    """
    return ()


@functools.cache
def hooks() -> Any:
    """Return the hooks with the implementations of all plugins: `hooks().viva_pool(…)` calls one by its name."""
    manager = pluggy.PluginManager(NAME)
    manager.add_hookspecs(importlib.import_module(__name__))
    for module in OWN:
        manager.register(importlib.import_module(module))
    manager.load_setuptools_entrypoints(NAME)
    return manager.hook
