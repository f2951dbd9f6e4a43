"""Loads a submission into a box whose notebook runs cell by cell: only bytes, nothing runs yet."""

from viva.config import Assignment
from viva.examiner.boxes.load import Ask, Loader, LoadProblem, LoadReport, TimeLeft, put_file, read_file
from viva.model import Submission
from viva.model.errors import GraderError, StudentRaised
from viva.submissions.file_names import CODE
from viva.submissions.notebook_cells import Cell, Notebook, NotebookError, read_notebook


class CellLoader(Loader):
    """Puts the student's files into the box, then the author's over them, and reads the notebooks as data."""

    def __init__(self, submission: Submission, assignment: Assignment) -> None:
        super().__init__(submission, assignment, {})
        self._of = assignment
        self.notebooks: dict[str, Notebook] = {}
        """The runnable files, by path in the submission; a module counts as a notebook of one cell."""

    def load(self, ask: Ask, left_s: TimeLeft) -> LoadReport:
        """Put every file in its place.

        Raises:
            BoxError: the box ended.
            GraderError: the author's files cannot be stored.
        """
        report = LoadReport()
        given = self._put(ask, report)
        self._unpack(ask, report, given)
        self._find_code(ask, report)
        self.notebooks = {}
        for path in self._order([p for p in report.files if p.endswith(CODE)]):
            self._read(ask, report, path, given)
        report.loaded = list(self.notebooks) or [p for p in report.files if p.endswith(".ipynb")]
        try:
            for name, place in zip(self._of.data_names, self._of.data, strict=True):
                put_file(ask, self._of.limits.call_s, name, place.read_bytes())
        except StudentRaised as error:
            raise GraderError(f"The assignment's data cannot be put into the box: {error}") from error
        return report

    def _order(self, paths: list[str]) -> list[str]:
        """Return notebooks before modules; those that are not still the starter first, then those with its names."""

        def rank(path: str) -> tuple[bool, bool, bool, bool, int, str]:
            wanted = self._of.submission.asks_for(path)
            unchanged = self.choice.compare(path).is_unchanged
            name = not self.choice.has_given_name(path)
            return path.endswith(".py"), unchanged, name, not wanted, path.count("/"), path

        return sorted(paths, key=rank)

    def _read(self, ask: Ask, report: LoadReport, path: str, given: dict[str, bytes]) -> None:
        limit_s = self._of.limits.call_s
        try:
            data = given[path] if path in given else read_file(ask, limit_s, path)
            if path.endswith(".py"):
                self.notebooks[path] = Notebook((Cell(1, 1, "code", data.decode("utf-8-sig", "replace")),))
                return
            with self.reading():
                self.notebooks[path] = read_notebook(data)
        except (NotebookError, StudentRaised) as error:
            report.problems.append(LoadProblem(path, str(error)))
            return
        report.notebooks[path] = self.notebooks[path]
        report.notes += [f"{path}: {note}" for note in self.notebooks[path].notes]
