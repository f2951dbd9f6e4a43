"""Run tests up to the first call of a student's function, while there is no box yet: what they draw is kept.

Many tests draw until a question tells a right answer from common mistakes. A rehearsal does that while the fork server
imports torch, which takes longer. It has a process of its own, so that a test that never ends, that ends its process or
that changes a variable of its module does there no harm; only what functions have drawn once per class comes back.
"""

import itertools
import os
import pickle
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from viva.compare import hint_evidence
from viva.compare.hint_recording import begin_case
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.catalog import case_label
from viva.examiner.grader import CONTEXT, Context, Grader, run_item
from viva.examiner.pytest_internals import NoVerdict, fresh
from viva.grading.events import Events, collecting
from viva.grading.once_per_class import remembering_in
from viva.model import Submission
from viva.replay.call_log.exchange import FUNCTION

_MOST_S: Final = 120
"""The system ends a rehearsal then, also if its examiner has been killed."""


class NobodyAnswers(NoVerdict):
    """There is no program that could answer. Tests do not catch this as something that a program raised."""


class Nobody:
    """Where boxes come from until there are any."""

    def take(self) -> NoReturn:
        """Raise NobodyAnswers."""
        raise NobodyAnswers


class _Rehearsal(BoxSession):
    """Finds every name, as a function that cannot be called."""

    def ask(self, op: str, *, subject: str = "", **fields: Any) -> Any:
        """Return that a name is defined; raise NobodyAnswers for any other question."""
        if op == "find":
            return FUNCTION
        raise NobodyAnswers


@contextmanager
def rehearsed(grader: Grader) -> Iterator[None]:
    """Rehearse the tests that neither train nor need a GPU until the block ends; then take over what they have drawn.

    Linux only.

    Args:
        grader: has the tests, the key and the memory for what they draw.
    """
    drawn = os.memfd_create("drawn")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other threads run; where one holds a lock, it waits
            pid = os.fork()
        if pid == 0:
            _rehearse(grader, drawn)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        with open(drawn, "rb", closefd=False) as file, suppress(Exception):  # the end, or half a drawing
            file.seek(0)
            while True:
                grader.memory.take_over(pickle.load(file))  # noqa: S301  # written by this program
    finally:
        os.close(drawn)


def _rehearse(grader: Grader, drawn: int) -> NoReturn:
    """Run the tests one after the other, write what each has drawn, and end this process."""
    try:
        signal.alarm(_MOST_S)
        _close_all_but(drawn)
        no_one = Submission("", (), "")
        loader = grader.loader(no_one, grader.assignment, grader.inside)
        session = _Rehearsal(Nobody(), loader, grader.assignment.limits)
        functions = [f for f in grader.functions if not f.training and f.gpu is None]
        cases = [(f"{f.test_id}[{case_label(item)}]", item) for f in functions for item in f.items]
        following = dict(itertools.pairwise(item for _, item in cases))
        context = grader.config.stash[CONTEXT] = Context(no_one, session, grader.key, grader.seeds)
        with open(drawn, "wb", buffering=0) as file, remembering_in(grader.memory):
            for context.test_id, item in cases:
                begin_case()
                grader.memory.begin(context.test_id)
                with collecting(Events()), hint_evidence.of_one_test():
                    run_item(fresh(item), following.get(item))
                for drawing in grader.memory.hand_over():
                    with suppress(Exception):  # what cannot be written is drawn again
                        file.write(pickle.dumps(drawing))
    finally:
        os._exit(0)


def _close_all_but(kept: int) -> None:
    """Close all other files and connections: if the examiner ends, others must see its connections close."""
    for number in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if number > 2 and number != kept:
            with suppress(OSError):
                os.close(number)
