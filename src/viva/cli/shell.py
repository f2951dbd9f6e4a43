"""`viva shell SUBMISSION`: open a Python prompt that asks the submission as a test would."""

import code
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.options import (
    assignment_option,
    choose_assignment,
    choose_tier,
    course_option,
    open_course,
    tier_option,
)
from viva.config import keep_apart
from viva.examiner.outcome import describe
from viva.formats.escaping import terminal
from viva.model.errors import EXPECTED_ERRORS, BoxError, StudentRaised

if TYPE_CHECKING:  # imported only when the prompt is opened
    from viva.examiner.boxes.box_session import BoxSession


class Prompt(code.InteractiveConsole):
    """Python's own prompt, with the submission's errors in the words that a student reads."""

    def __init__(self, names: dict[str, object], session: "BoxSession") -> None:
        super().__init__(names)
        self._session = session

    def showtraceback(self) -> None:
        """Print an error of the submission or its box in words, and others as Python does."""
        error = sys.exception()
        if isinstance(error, KeyboardInterrupt):
            self._session.close()  # a late answer would be taken for the answer to the next question
            self.write("\nStopped; the submission is loaded again when it is asked next.\n")
        elif isinstance(error, EXPECTED_ERRORS):
            self.write(terminal(describe(error) if isinstance(error, StudentRaised) else str(error)) + "\n")
        else:
            super().showtraceback()


@click.command("shell")
@click.argument("path", type=click.Path(path_type=Path), metavar="SUBMISSION")
@assignment_option
@course_option
@tier_option
def command(path: Path, assignment: str | None, course_dir: Path | None, tier_name: str | None) -> int:
    """Load SUBMISSION into a box and open a prompt with `student`, `submission`, `inside` and `key`."""
    from viva.cli.shared.stop_signals import do_not_repeat
    from viva.examiner.boxes.author_helpers import helpers_of
    from viva.examiner.boxes.box_session import BoxSession
    from viva.examiner.boxes.load import Loader
    from viva.examiner.fixtures.student_names import Names
    from viva.examiner.fixtures.submission_fixture import SubmissionView
    from viva.examiner.load_notes import notes_for_student
    from viva.proxies.key import Key, load_key
    from viva.sandbox.host.box_pool import Pool
    from viva.sandbox.host.fork_server import ForkServer
    from viva.submissions import open_submission

    course = open_course(course_dir)
    keep_apart(course.root, [path])
    submission = open_submission(path, str(path), withheld=course.withheld)
    chosen = choose_assignment(course, assignment, submission)
    tier = choose_tier(tier_name, chosen.min_tier)
    fork_server = ForkServer.start(tier, preload=chosen.preload, hidden=chosen.hidden)
    pool = Pool(fork_server, chosen.limits, ready=1)
    loader = Loader(submission, chosen, helpers_of(chosen))
    session = BoxSession(pool, loader, chosen.limits)
    session.prompt()
    try:
        try:
            session.open()
        except BoxError as error:
            click.echo(f"The submission could not be loaded: {error}", err=True)
        for note in notes_for_student(submission, session.report):
            click.echo(terminal(f"note: {note}"))
        names: dict[str, object] = {
            "student": Names(session, "student"),
            "inside": Names(session, "inside"),
            "submission": SubmissionView(submission, session, forms=chosen.answers),
        }
        if chosen.suite is None or (chosen.graders / "key.py").is_file():
            names["key"] = Key(load_key(chosen.graders / "key.py", course.root))
        banner = f"{chosen.title}, isolation {tier}. Ask: list(student), student.f(...), submission.answers, key.f(...)"
        do_not_repeat()
        Prompt(names, session).interact(banner, exitmsg="")
    finally:
        session.close()
        pool.close()
        fork_server.close()
    return 0
