"""The live kernel answers the examiner's questions, one at a time, while `viva.check` waits for the score."""

import builtins
import platform
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any, Final

import viva.sandbox.guest.loading.namespaces as namespaces
import viva.sandbox.guest.loading.sources as sources
import viva.sandbox.guest.process.alarm as alarm
import viva.sandbox.guest.process.seeding as seeding
import viva.sandbox.guest.process.worker as worker
import viva.sandbox.guest.transport.wire as wire
from viva.config import Assignment, Course
from viva.model import Tier
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.launch import Launched, environment, new_log
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.selfcheck.channels import launch
from viva.plugins.selfcheck.file_overlay import FileOverlay
from viva.plugins.selfcheck.live_notebook import LiveNotebook
from viva.sandbox.guest.process.counted_time import CountedTime, of_process

SPACE: Final = "notebook"
"""The name of the kernel's namespace among files; no test asks for a file of this name."""
_LIBRARIES: Final = ("numpy", "torch", "transformers")

_BROKEN: Final = {
    "type": "RuntimeError",
    "message": "the code replaced functions that are built into Python",
    "frames": [],
}


class Kernel:
    """This process, asked as a box is asked."""

    def __init__(self, live: LiveNotebook) -> None:
        """Make the names of the notebook callable; files that tests put go into a temporary folder."""
        for filename, name in live.cells().items():
            sources.remember_code(filename, name)
        self.file_overlay = FileOverlay(live.folder)
        names = namespaces.Namespaces()
        names.add(SPACE, live.namespace)
        self._worker = worker.Worker(names, {"put": self.file_overlay.put, "files": self.file_overlay.listed})
        self._builtins: dict[str, object] = {}
        self.called: set[str] = set()
        """The student's names that were called since the set was last cleared."""

    def begin(self) -> None:
        """Take the process's settings as those with which every test begins, and remember the builtins."""
        seeding.remember_defaults()
        self._builtins = dict(vars(builtins))

    def answer(self, sock: socket.socket) -> None:
        """Receive one question and send its answer.

        Raises:
            EOFError: the examiner ended.
            OSError: the connection failed.
            wire.WireError: the message is not a question.
        """
        refs = self._worker.refs
        request = wire.receive(sock, found=refs.mention)
        if request.get("op") == "call" and request.get("space") not in (None, namespaces.INSIDE):
            self.called.add(str(request.get("name")))
        try:
            parts = self._worker.answer(request)
        except Exception:  # the worker needs some of them itself
            self._repair_builtins()
            alarm.off()
            parts = wire.dump({"raised": _BROKEN})
        self._repair_builtins()
        wire.transmit(sock, parts)

    def _repair_builtins(self) -> None:
        """Immediately restore the builtins that a called function replaced, because the whole kernel needs them."""
        names = vars(builtins)
        for name, value in self._builtins.items():
            if names.get(name) is not value:
                names[name] = value


class Interruption:
    """Ctrl-C during an answer: the answer would report it as the student's error, so it is raised again afterwards."""

    def __init__(self) -> None:
        self.wanted = False

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Notice Ctrl-C within the block; the handler is restored with the rest of the process's state."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._interrupt)
        yield

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self.wanted = True
        raise KeyboardInterrupt


class LiveExaminer(ExaminerProcess):
    """An examiner whose questions this process answers; it is reused for the next check."""

    def __init__(
        self, course: Course, assignment: Assignment, secret: bytes, *, by_loopback: bool | None = None
    ) -> None:
        """Prepare the examiner; see ExaminerProcess.

        Args:
            course: the course of the assignment.
            assignment: the assignment to check.
            secret: the secret of the course.
            by_loopback: how it is connected; None for what this system needs.
        """
        super().__init__(course, assignment, secret, BoxOptions(Tier.T0))
        self.settings = replace(self.settings, versions=_versions())
        self._course, self._by_loopback = course, by_loopback
        self._wire: socket.socket | None = None
        self.kernel: Kernel | None = None
        self.interruption = Interruption()

    def _launch(self) -> Launched:
        with new_log() as log:
            launched = launch(environment(), self._course.root, log, by_loopback=self._by_loopback)
        self._wire = launched.wire
        return Launched(launched.process, launched.control, log)

    def close(self, *, kill: bool = False) -> None:
        """Close the connection, then the process as ExaminerProcess.close does."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        super().close(kill=kill)

    def _new_clock(self) -> CountedTime:
        """Return a clock of the examiner, which has no boxes."""
        assert self._process is not None  # open() has started it
        return of_process(self._process.pid)

    def _next(self) -> dict[str, Any] | None:
        """Return the examiner's next message, and answer its questions until it comes.

        What it says about a test comes before the questions of the next one, so it is read first.

        Raises:
            TimeoutError: neither a message nor a question came for as long as a message may take.
            KeyboardInterrupt: Ctrl-C, also while a question was answered.
        """
        while self._sock is not None and self._wire is not None:
            asking = [self._wire] if self.kernel is not None else []
            if self._sock in self._wait(*asking):
                return super()._next()
            assert self.kernel is not None  # otherwise the wire is not among the sockets to wait for
            try:
                self.kernel.answer(self._wire)
            except EOFError:
                return None
            if self.interruption.wanted:
                raise KeyboardInterrupt
        return None


def _versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that are loaded."""
    loaded = {name: getattr(sys.modules.get(name), "__version__", None) for name in _LIBRARIES}
    return {"python": platform.python_version(), **{n: str(v) for n, v in loaded.items() if v is not None}}
