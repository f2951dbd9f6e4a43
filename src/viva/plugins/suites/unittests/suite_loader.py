"""Loads a submission and a suite into a box together: only bytes, nothing of either runs yet."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from viva.config import Assignment
from viva.examiner.boxes.load import Ask, Loader, LoadReport, TimeLeft, put_file
from viva.model import Submission
from viva.model.errors import GraderError, StudentRaised
from viva.plugins.suites.unittests.suite_files import FOLDER, RUNNER
from viva.sandbox.guest.transport.message_types import BeginSuite, ClearSuite
from viva.submissions.file_names import CODE


class SuiteLoader(Loader):
    """Puts the student's files into the box, then the author's over them; the suite imports both itself."""

    def __init__(self, submission: Submission, assignment: Assignment, files: Mapping[str, bytes], seed: int) -> None:
        super().__init__(submission, assignment, {})
        self._suite_assignment = assignment
        self.files = files
        """The files of the suite, by their path below `tests/`."""
        self._seed = seed
        """Set once, so that a suite that seeds itself, or draws across tests, is not disturbed."""

    def load(self, ask: Ask, left_s: TimeLeft) -> LoadReport:
        """Put every file in its place.

        Raises:
            BoxError: the box ended.
            GraderError: the suite's files cannot be stored.
        """
        report = LoadReport()
        given = self._put(ask, report)
        self._unpack(ask, report, given)
        limits, course = self._suite_assignment.limits, self._suite_assignment
        ours = {name: path.read_bytes() for name, path in zip(course.data_names, course.data, strict=True)}
        ours |= {f"{FOLDER}/{name}": data for name, data in self.files.items()}
        for path in [p for p in report.files if p == FOLDER or p.startswith(f"{FOLDER}/")]:
            del report.files[path]
            report.notes.append(f"{path} was left out: the folder {FOLDER} belongs to the assignment.")
        report.loaded = [p for p in report.files if p.endswith(CODE)]
        main = self._main(report)
        try:
            ask(ClearSuite(FOLDER, sorted(ours)), timeout_s=limits.call_s)
            for path, data in ours.items():
                put_file(ask, limits.call_s, path, data)
            modules = sorted(_modules_in(report, {PurePosixPath(main).parent, PurePosixPath()}))
            ask(BeginSuite(FOLDER, main, modules), timeout_s=limits.call_s, seed=self._seed)
        except StudentRaised as error:
            raise GraderError(f"The suite cannot be put into the box: {error}") from error
        return report

    def _main(self, report: LoadReport) -> str:
        """Return the path of the expected module, which an archive may hold in a folder."""
        wanted = self._suite_assignment.submission.module or RUNNER
        found = [p for p in report.files if PurePosixPath(p).name == wanted]
        return min(found, key=lambda path: (path.count("/"), path), default=wanted)


def _modules_in(report: LoadReport, folders: set[PurePosixPath]) -> set[str]:
    """Return the names that `import` finds in these folders of the submission."""
    names = set()
    for path in map(PurePosixPath, report.files):
        if path.suffix == ".py":
            names |= {path.relative_to(folder).parts[0].removesuffix(".py") for folder in folders & {*path.parents}}
    return names
