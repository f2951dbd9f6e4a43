"""The examiner process: `python -I -m viva.pipeline.process.main FD`, or `… tcp PORT` where no descriptor is inherited.

It starts the fork server, a program that gets nothing of its memory, collects the tests once, and grades the
submissions that its parent sends as bytes; it never sees a path of a submission. Its environment is cleared, its
working directory is the course or the folder of the assignment's data. It ends when its parent closes the connection.

What the fork server does not need, such as numpy and pytest, is imported after it has been started: both load their
libraries at the same time.
"""

import dataclasses
import gc
import os
import select
import socket
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import viva.sandbox.guest.transport.loopback as loopback
from viva.config import Assignment, Course, load_course
from viva.hooks import Suite, hooks
from viva.model import system
from viva.model.errors import BoxUnavailable, CourseError
from viva.model.gpu import Gpus
from viva.model.plain import from_plain
from viva.pipeline.process.failures import reporting_failures
from viva.pipeline.process.messages import receive, send
from viva.pipeline.process.settings import BoxOptions, ExaminerSettings
from viva.sandbox.host.fork_server import ForkServer

if TYPE_CHECKING:
    from viva.examiner.pytest_session import Serving
    from viva.pipeline.process.request_loop import AnyGrader
    from viva.sandbox.host.box_pool import Pool
    from viva.sandbox.host.gpu.gpu_boxes import GpuBoxes

ALONE_S: Final = 2.0
"""How long a submission may still be graded after the parent has gone."""


class Boxes:
    """The fork server and its pool, started in their own thread while the main thread collects the tests."""

    def __init__(self, assignment: Assignment, options: BoxOptions, preload: Sequence[str] = ()) -> None:
        """Start the fork server.

        Args:
            assignment: the assignment whose boxes they are.
            options: how they are made.
            preload: modules to import once for all boxes, besides those of assignment and options.
        """
        self._assignment, self._options = assignment, options
        self._python = str(assignment.python) if assignment.python else sys.executable
        self._gpu_boxes: GpuBoxes | None = None
        unused = [f"-{name}" for name in options.unused]
        self._preload = list(dict.fromkeys([*assignment.preload, *options.preload, *preload, *unused]))
        if options.notebooks:
            self._preload.append("IPython?")
        self._done = threading.Event()
        self._fork_server: ForkServer | None = None
        self._pool: Pool | None = None
        self._error: Exception | None = None
        threading.Thread(target=self._live, daemon=True, name="fork_server").start()

    def pool(self) -> "Pool":
        """Return the pool when the fork server is ready.

        Raises:
            BoxUnavailable: this host cannot make boxes of the tier.
        """
        self._done.wait()
        if self._error is not None:
            raise self._error
        assert self._pool is not None  # either this or the error is set before the event
        return self._pool

    def on_gpu(self) -> "GpuBoxes":
        """Return the boxes that have a GPU, from their own fork server; for assignments that ask for one.

        Raises:
            BoxUnavailable: this host cannot make boxes of the tier with a GPU in them.
        """
        from viva.sandbox.host.gpu.gpu_boxes import GpuBoxes

        try:
            self._gpu_boxes = GpuBoxes.start(
                self._options.tier,
                self._assignment.limits,
                self._options.gpus,
                preload=self._preload,
                python=self._python,
                hidden=self._assignment.hidden,
            )
        except BoxUnavailable as error:
            raise BoxUnavailable(f"{error} (a box with a GPU; `--gpu defer` leaves such tests out)") from error
        return self._gpu_boxes

    @property
    def lost(self) -> bool:
        """Return whether a fork server ended unexpectedly, so that no more boxes can be made."""
        return any(server is not None and server.lost for server in (self._fork_server, self._gpu_boxes))

    def close(self) -> None:
        """End boxes and fork servers and wait for them, so that nothing is left and their cost is accounted."""
        if self._gpu_boxes is not None:
            self._gpu_boxes.close()
        self._done.wait()
        if self._pool is not None:
            self._pool.close()
        if self._fork_server is not None:
            self._fork_server.close()

    def _live(self) -> None:
        try:
            self._fork_server = ForkServer.start(
                self._options.tier, preload=self._preload, python=self._python, hidden=self._assignment.hidden
            )
            from viva.sandbox.host.box_pool import Pool

            self._pool = Pool(self._fork_server, self._assignment.limits, ready=self._options.ready)
        except Exception as error:  # raised by `pool`
            self._error = _as_course_error(error, self._assignment)
        self._done.set()


def main() -> None:
    """Serve one parent until it closes the connection."""
    gc.disable()  # imports leave hardly any garbage; `Memory` enables it before the first submission
    sock = _connected(sys.argv[1:])
    kept = None if system.TELLS_OF_HANGING_UP else loopback.keep_input()
    threading.Thread(target=_end_with_parent, args=(sock, kept), daemon=True, name="parent").start()
    message = receive(sock)
    if message is None:
        return
    with reporting_failures(sock):
        _serve_parent(sock, from_plain(ExaminerSettings, message))
    os._exit(0)  # threads that wait forever must not keep the process alive


def _connected(arguments: list[str]) -> socket.socket:
    """Return the connection to the parent: an inherited descriptor, or else a port."""
    if arguments[0] != loopback.TCP:
        return socket.socket(fileno=int(arguments[0]))
    return loopback.connect(int(arguments[1]), loopback.read_token())


def _end_with_parent(sock: socket.socket, kept: int | None) -> None:
    """End this process when its parent is gone, also in the middle of a submission that hangs.

    Args:
        sock: the connection to the parent.
        kept: standard input, on systems where a closed connection is noticed only by reading.
    """
    if kept is None:
        waiting = select.poll()
        waiting.register(sock, select.POLLHUP)
        waiting.poll()
    else:
        loopback.wait_for_end(kept)
    time.sleep(ALONE_S)  # between two submissions the main thread notices it too, and cleans up
    os._exit(1)


def _as_course_error(error: Exception, assignment: Assignment) -> Exception:
    """Return a course error for a module that the assignment preloads and that is not installed; else the error."""
    missing = next(
        (name for name in assignment.preload if f"No module named '{name.split('.')[0]}" in str(error)), None
    )
    if missing is None or not isinstance(error, BoxUnavailable):
        return error
    python = assignment.python or sys.executable
    return CourseError(
        f"{assignment.folder / 'assignment.yaml'}: preload: {python} has no module `{missing.split('.')[0]}`; "
        "install it there, or take it off the list."
    )


def _serve_parent(sock: socket.socket, settings: ExaminerSettings) -> None:
    course = load_course(settings.course)
    os.chdir(course.root)
    assignment = dataclasses.replace(
        course.assignment(settings.assignment),
        limits=settings.limits,  # a small machine gives less memory
    )
    if settings.boxes.none:
        _serve_without_boxes(sock, settings, course, assignment)
    else:
        _serve_with_boxes(sock, settings, course, assignment)


def _serve_without_boxes(
    sock: socket.socket, settings: ExaminerSettings, course: Course, assignment: Assignment
) -> None:
    from viva.examiner.pytest_session import Serving
    from viva.model.box_source import NoBoxes
    from viva.pipeline.process.request_loop import serve_requests

    serve_all = partial(serve_requests, sock)
    _run(sock, Serving(course.root, assignment, NoBoxes, settings.secret, serve_all, Gpus(), NoBoxes))


def _serve_with_boxes(sock: socket.socket, settings: ExaminerSettings, course: Course, assignment: Assignment) -> None:
    options, secret = settings.boxes, settings.secret
    suite = None if assignment.suite is None else _suite_of(assignment)
    boxes = Boxes(assignment, options, () if suite is None else suite.preload)

    from viva.examiner.pytest_session import Serving
    from viva.pipeline.process.request_loop import serve_requests

    def serve(grader: "AnyGrader") -> None:
        serve_requests(sock, grader, lambda: boxes.lost)

    try:
        if suite is not None:
            serve(suite.start(assignment, boxes.pool(), secret))
        else:
            gpus = options.gpus
            _run(sock, Serving(course.root, assignment, boxes.pool, secret, serve, gpus, boxes.on_gpu))
    finally:
        boxes.close()


def _suite_of(assignment: Assignment) -> Suite:
    suite: Suite | None = hooks().viva_suite_grader(assignment=assignment)
    if suite is None:
        raise CourseError(f"{assignment.name}: no plugin of this installation runs the suite {assignment.suite!r}.")
    return suite


def _run(sock: socket.socket, serving: "Serving") -> None:
    # Its fixture would otherwise import it in the middle of a class, when descriptors may be few.
    import viva.examiner.fixtures.submission_fixture  # noqa: F401  # imported for its effect on sys.modules
    from viva.examiner.pytest_session import NotStarted

    try:
        serving.run()
    except NotStarted as error:
        send(sock, {"event": "fatal", "kind": "not started", "text": str(error)})


if __name__ == "__main__":
    main()
