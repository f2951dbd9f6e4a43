"""The examiner's pytest session: pytest collects the tests once, then its run loop grades each submission it gets."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from viva.config import Assignment
from viva.examiner.answer_source import answers_of
from viva.examiner.boxes.author_helpers import helpers_of
from viva.examiner.boxes.load import Loader
from viva.examiner.boxes.on_gpu import GpuSource
from viva.examiner.catalog import TestFunction, catalog
from viva.examiner.grader import RAISED, Grader
from viva.model.box_source import BoxSource
from viva.model.errors import CourseError
from viva.model.gpu import GpuNeed, Gpus

# Grading needs none of these, and each costs time or writes files next to the course.
_SWITCHED_OFF: Final = (
    "cacheprovider", "doctest", "junitxml", "pastebin", "stepwise", "warnings", "logging", "faulthandler",
    "unraisableexception", "threadexception", "unittest", "nose", "setuponly", "setupplan", "debugging", "capture",
)  # fmt: skip


def arguments(course_root: Path, graders: Path) -> list[str]:
    """Return pytest's command line: it looks for nothing outside the course and reads no configuration."""
    switched_off = [part for name in _SWITCHED_OFF for part in ("-p", f"no:{name}")]
    return [
        "-c", os.devnull, f"--rootdir={course_root}", f"--confcutdir={graders}", "--import-mode=importlib",
        "-p", "viva.examiner.plugin", *switched_off, "-q", "--no-header", "--no-summary", str(graders),
    ]  # fmt: skip


class NotStarted(CourseError):
    """Pytest ended before it collected anything; its last output is in the log of the process."""


class Serving:
    """A pytest plugin whose run loop is `serve`."""

    def __init__(  # noqa: PLR0913  # the parts of a Grader, several of them made only after collection
        self,
        course_root: Path,
        assignment: Assignment,
        source: Callable[[], BoxSource],
        secret: bytes,
        serve: Callable[[Grader], None],
        gpus: Gpus,
        gpu_source: Callable[[], GpuSource],
        loader: type[Loader] = Loader,
    ) -> None:
        self._course_root = course_root
        self._assignment = assignment
        self._source = source
        self._secret = secret
        self._serve = serve
        self._gpus = gpus
        self._gpu_source = gpu_source
        self._loader = loader
        self._broken: list[str] = []
        self._served = False
        self.error: Exception | None = None

    def run(self) -> None:
        """Collect and serve until the requests end.

        Raises:
            CourseError: the graders cannot be collected or the key cannot be loaded.
        """
        graders = self._assignment.graders
        if not graders.is_dir():
            raise CourseError(f"{graders}: the folder of the assignment's tests does not exist.")
        if self._assignment.data_folder is not None:
            # Tests and key open the data, and import modules among them, by the names that students use.
            os.chdir(self._assignment.data_folder)
            sys.path.append(str(self._assignment.data_folder))
        pytest.main(arguments(self._course_root, graders), plugins=[self])
        if self.error is not None:
            raise self.error
        if not self._served:
            raise NotStarted(f"The tests of {self._assignment.name} cannot be collected")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember what could not be collected."""
        if report.failed:
            self._broken.append(f"{report.nodeid}{_where(report)}: {_last_line(report.longreprtext)}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve instead of running the items once."""
        self._served = True
        try:
            self._serve(self._grader(session))
        except Exception as error:  # handed to run(), because pytest would only print it
            self.error = error
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """Keep the exception itself; the formatted report that pytest would build is never read."""
        if call.excinfo is not None and RAISED not in item.stash:
            item.stash[RAISED] = call.excinfo.value
        outcome = "passed" if call.excinfo is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when, duration=call.duration)  # type: ignore[arg-type]

    def _grader(self, session: pytest.Session) -> Grader:
        if self._broken:
            what = f"The tests of {self._assignment.name} cannot be collected: {self._broken[0].rstrip('.')}."
            raise CourseError(f"{what}{_suite_hint(self._assignment.graders)}")
        if not session.items:
            raise CourseError(
                f"{self._assignment.graders}: no test was found; expected functions test_… in files test_….py."
                f"{_suite_hint(self._assignment.graders)}"
            )
        functions: list[TestFunction] = catalog(session.items)
        for function in functions if self._gpus.for_training else ():
            if function.training and function.gpu is None:
                function.gpu = GpuNeed()
        on_gpu = self._gpus.devices and any(function.gpu is not None for function in functions)
        gpu_source = self._gpu_source() if on_gpu else None
        if any("agree_on" in vars(function.items[0].module) for function in functions):
            import hypothesis.strategies  # noqa: F401  # for agree_on; now the fork server imports its libraries
        key, seeds = answers_of(self._assignment, self._course_root, self._secret)
        return Grader(
            assignment=self._assignment,
            source=self._source(),
            key=key,
            seeds=seeds,
            functions=functions,
            inside=helpers_of(self._assignment),
            config=session.config,
            gpus=self._gpus,
            gpu_source=gpu_source,
            loader=self._loader,
        )


def _suite_hint(graders: Path) -> str:
    """Return what to do when the tests are an existing suite."""
    has_suite = any(b"unittest" in path.read_bytes() for path in graders.rglob("test*.py"))
    return " An existing unittest suite is run by `suite: unittest` in assignment.yaml." if has_suite else ""


def _where(report: pytest.CollectReport) -> str:
    """Return ` line 12`: the last place within the file that the traceback names."""
    name = re.escape(Path(report.nodeid.split("::")[0]).name)
    lines = re.findall(rf"{name}(?:\", line |:)(\d+)", report.longreprtext)
    return f" line {lines[-1]}" if lines else ""


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return next(
        (line.removeprefix("E").strip() for line in reversed(lines) if line.startswith("E ")),
        lines[-1] if lines else "",
    )
