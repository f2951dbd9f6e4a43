"""Run each test up to its first call of a student's function while there is no box yet, and keep what it draws.

Many tests draw until a question tells a right answer from common mistakes. A rehearsal does that while the fork server
imports torch, which takes longer. It has a process of its own, so that a test that never ends, that ends its process or
that changes a variable of its module does there no harm; only what functions have drawn once per class comes back.
"""

import itertools
import os
import pickle
import signal
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import RawIOBase
from pathlib import Path
from typing import Any, NoReturn

from viva.compare import hint_evidence
from viva.compare.hint_recording import begin_case
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.catalog import case_label
from viva.examiner.grader import CONTEXT, Context, Grader, run_item
from viva.examiner.pytest_internals import NoVerdict, fresh
from viva.grading.events import Events, collecting
from viva.grading.once_per_class import remembering_in
from viva.model import Submission
from viva.proxies.key_memory import Drawing
from viva.replay.call_log.exchange import FUNCTION


class Nobody:
    """Where boxes come from until there are any."""

    def take(self) -> NoReturn:
        """Raise NoVerdict."""
        raise NoVerdict


class _Rehearsal(BoxSession):
    """Finds every name, as a function that cannot be called."""

    def ask(self, op: str, *, subject: str = "", **fields: Any) -> Any:
        """Return that a name is defined; raise NoVerdict for any other question."""
        if op == "find":
            return FUNCTION
        raise NoVerdict


@contextmanager
def rehearsed(grader: Grader) -> Iterator[None]:
    """Rehearse the tests that neither train nor need a GPU until the block ends; then take over what they have drawn.

    Linux only.

    Args:
        grader: has the tests, the key and the memory for what they draw.
    """
    try:
        copy = _Copy(grader)
    except OSError:  # there are too many processes, or there is too little memory
        yield
        return
    try:
        yield
    finally:
        drawings = copy.end()
    for drawing in drawings:
        grader.memory.take_over(drawing)


class _Copy:
    """A copy of this process that rehearses; it ends when this process does."""

    def __init__(self, grader: Grader) -> None:
        """Start it; raise OSError if that is not possible."""
        with ExitStack() as opened:
            self._drawn = opened.enter_context(os.fdopen(os.memfd_create("drawn"), "w+b", buffering=0))
            _, lifeline = map(opened.enter_context, socket.socketpair())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # if another thread holds a lock, the copy may wait
                self._pid = os.fork()
            if self._pid == 0:
                _run_copy(grader, self._drawn, lifeline)
            self._opened = opened.pop_all()

    def end(self) -> list[Drawing]:
        """End it, and return what its tests have drawn."""
        with self._opened:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            drawings: list[Drawing] = []
            self._drawn.seek(0)
            with suppress(Exception):  # the end, or half a drawing
                while True:
                    drawings.append(pickle.load(self._drawn))  # noqa: S301  # written by this program
            return drawings


def _run_copy(grader: Grader, drawn: RawIOBase, lifeline: socket.socket) -> NoReturn:
    """Rehearse, write what is drawn, and end this process."""
    try:
        _close_all_but(drawn.fileno(), lifeline.fileno())
        threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
        for drawing in _rehearse(grader):
            with suppress(Exception):  # what cannot be written is drawn again
                drawn.write(pickle.dumps(drawing))
    finally:
        os._exit(0)


def _end_with(lifeline: socket.socket) -> NoReturn:
    """End this process when the other end of a connection is closed."""
    lifeline.recv(1)
    os._exit(0)


def _close_all_but(*kept: int) -> None:
    """Close all other files and connections: if the examiner ends, others must see its connections close."""
    for number in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if number > 2 and number not in kept:
            with suppress(OSError):
                os.close(number)


def _rehearse(grader: Grader) -> Iterator[Drawing]:
    """Run the tests one after the other; yield what each has drawn."""
    no_one = Submission("", (), "")
    loader = grader.loader(no_one, grader.assignment, grader.inside)
    session = _Rehearsal(Nobody(), loader, grader.assignment.limits)
    functions = [f for f in grader.functions if not f.training and f.gpu is None]
    cases = [(f"{f.test_id}[{case_label(item)}]", item) for f in functions for item in f.items]
    following = dict(itertools.pairwise(item for _, item in cases))
    context = grader.config.stash[CONTEXT] = Context(no_one, session, grader.key, grader.seeds)
    with remembering_in(grader.memory):
        for context.test_id, item in cases:
            begin_case()
            grader.memory.begin(context.test_id)
            with collecting(Events()), hint_evidence.of_one_test():
                run_item(fresh(item), following.get(item))
            yield from grader.memory.hand_over()
