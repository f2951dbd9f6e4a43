"""The examiner of a live notebook: `python -I -m viva.plugins.selfcheck.live_examiner fd CONTROL WIRE`, or `tcp PORT`.

It works as viva.pipeline.process.main does, but asks the student's kernel at the other end of the wire. Nothing is
loaded, because everything is there already. The key and the tests stay in this process, which ends when the kernel
closes the connection.
"""

import os
import socket
import sys
from typing import Final, NoReturn

from viva.examiner.boxes.load import Ask, Loader, LoadReport, TimeLeft
from viva.model.errors import CourseError, UsageError
from viva.model.gpu import Gpus
from viva.model.hand_grading import NOT_GRADED_YET
from viva.model.plain import from_plain
from viva.pipeline.process.failures import reporting_failures
from viva.pipeline.process.messages import receive, send
from viva.pipeline.process.request_loop import serve_requests
from viva.pipeline.process.settings import ExaminerSettings
from viva.plugins.selfcheck.channels import connect
from viva.plugins.selfcheck.kernel_box import KernelSource, LiveReadyMessage
from viva.sandbox.guest.process.counted_time import of_process
from viva.submissions.notebook_cells import NotebookError, read_notebook

NO_GPU: Final = f"{NOT_GRADED_YET}: this test needs a GPU, and such tests are not run in a live notebook."
LIVE: Final = "your notebook"


class LiveLoader(Loader):
    """Loads the author's files into the kernel; the student's own part is there already."""

    def load(self, ask: Ask, left_s: TimeLeft) -> LoadReport:
        """Load the author's data and helpers; read notebooks only for their prose.

        Raises:
            BoxError: the kernel did not answer.
            GraderError: the author's own helpers or data cannot be loaded.
        """
        report = LoadReport(loaded=[LIVE])
        self._prepare(ask)
        report.files = {**self._listed(ask, report), **{f.path: len(f.data) for f in self.submission.files}}
        self._read_answers_file(ask, report, {f.path: f.data for f in self.submission.files})
        for file in self.submission.files:
            if file.path.endswith(".ipynb"):
                try:
                    report.notebooks[file.path] = read_notebook(file.data)
                except NotebookError as error:
                    report.notes.append(f"{file.path} was not read for answers in words: {error}.")
        return report

    def others(self, report: LoadReport) -> list[str]:
        """Return no files: what the student has not imported is not part of the kernel."""
        return []


def main() -> None:
    """Serve one kernel until it closes the connection."""
    control, questions = connect(sys.argv[1:])
    with reporting_failures(control):
        message = receive(control)
        if message is not None:
            _serve(control, questions, from_plain(ExaminerSettings, message))
    os._exit(0)  # threads that wait forever must not hold the process


def _serve(control: socket.socket, questions: socket.socket, settings: ExaminerSettings) -> None:
    import viva.examiner.fixtures.submission_fixture  # noqa: F401  # otherwise imported by the first fixture that needs it
    from viva.config import load_course
    from viva.examiner.pytest_session import NotStarted, Serving

    course = load_course(settings.course)
    assignment = course.assignment(settings.assignment)
    if assignment.suite is not None:
        raise UsageError(
            f"{assignment.title} is graded by a unittest suite, which cannot question a live notebook: save "
            "it, and run `viva check` on the file."
        )
    source = KernelSource(questions, LiveReadyMessage(settings.versions), of_process(os.getppid()))

    def no_gpu() -> NoReturn:
        raise CourseError("a live notebook offers no GPU")

    serving = Serving(
        course.root, assignment, lambda: source, settings.secret, lambda grader: serve_requests(control, grader),
        Gpus(why_none=NO_GPU), no_gpu, LiveLoader,
    )  # fmt: skip
    try:
        serving.run()
    except NotStarted as error:
        send(control, {"event": "fatal", "kind": "not started", "text": str(error)})


if __name__ == "__main__":
    main()
