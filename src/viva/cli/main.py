"""`viva`: find the command; turn errors into one sentence and an exit status (0 done, 1 usage, 2 viva's own fault)."""

import contextlib
import errno
import importlib
import os
import signal
import sys
import traceback
from types import FrameType
from typing import Final

import click

from viva.cli.shared.error_text import in_full, short
from viva.cli.shared.process_setup import prepare_process

COMMANDS: Final = {
    "grade": ("viva.cli.grade", "Grade submissions and write their results."),
    "check": ("viva.cli.check", "Check your own work with the public tests."),
    "pack": ("viva.cli.pack", "Make the archive to hand in, and check that it can be graded."),
    "verify": ("viva.cli.verify", "Prove the graders: key, starter and every fixture get what they should."),
    "submissions": (
        "viva.cli.submissions",
        "Show what a platform exported of a class: who handed in what, and who did not.",
    ),
    "regrade": ("viva.cli.regrade", "Mark a class again after tests or points changed; apply it, or discard it."),
    "review": ("viva.cli.review", "Mark written answers in the browser, with the rubric."),
    "history": ("viva.cli.history", "Every score that a student ever had, and why."),
    "override": ("viva.cli.override", "Set the points of one test by hand, with a reason."),
    "student": ("viva.cli.student", "Hand over or delete what is kept of a student; copy the records without names."),
    "diff": ("viva.cli.diff", "Show what changed between two results, or two folders of them."),
    "merge": ("viva.cli.merge", "Join the results of several passes over one submission, or of two folders."),
    "export": ("viva.cli.export", "Write results for CI systems and class rooms: JUnit, CTRF, GitHub, Classroom 50."),
    "report": ("viva.cli.report", "Report on a class: item analysis, wrong answers, pages for students."),
    "grades": ("viva.cli.grades", "Turn scores into grades: late penalties, attempts; for Canvas, Moodle, or a table."),
    "explain": ("viva.cli.explain", "Run one test on one submission again and show what was asked."),
    "shell": ("viva.cli.shell", "A prompt on a submission in its box."),
    "doctor": ("viva.cli.doctor", "Show which isolation this host offers, and what to install for more."),
    "release": ("viva.cli.release", "Write what students get of an assignment."),
    "init": ("viva.cli.init", "Make an empty course."),
    "import": ("viva.cli.import_", "Make a course of assignments of nbgrader, otter or Gradescope."),
    "new-test": ("viva.cli.new_test", "Write a test's skeleton from the key's signature."),
    "schema": ("viva.cli.schema", "Print the JSON Schema of results.json or of a course file."),
}


class Commands(click.Group):
    """Imports a command only when it is called, so that `viva check` does not pay for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table: the most used come first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, so that help imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the closest command if the given one does not exist."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, 1)
            meant = f" Did you mean `viva {close[0]}`?" if close else f" There are: {', '.join(COMMANDS)}."
            raise click.UsageError(f"There is no command `{args[0]}`.{meant}")
        return super().resolve_command(ctx, args)


_SIGPIPE: Final = 13
"""Also on systems without this signal: a shell reports it for a program whose output no one reads any more."""
_NO_OUTPUT: Final = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""Errors of standard output when no one reads it any more, or when it cannot be written."""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="viva", prog_name="viva")
def cli() -> None:
    """Viva grades NLP and deep-learning coursework in sandboxes that student code cannot cheat."""


def main(argv: list[str] | None = None) -> None:
    """Run a command as a program; treat a closed terminal and a scheduler's signal to stop like Ctrl-C."""
    if argv is None:
        prepare_process()
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", None)):  # Windows has only the first
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # keep what nohup has set
            signal.signal(number, _stop)
    sys.exit(run(argv))


def run(argv: list[str] | None = None) -> int:
    """Run a command and return its exit status; report every error in one sentence on standard error."""
    from viva.model.errors import GraderError, VivaError

    arguments = sys.argv[1:] if argv is None else argv
    try:
        status = _invoke(arguments or ["--help"])
        sys.stdout.flush()
    except click.ClickException as error:
        click.echo(f"viva: {_sentence(error)}", err=True)
        return 1
    except (click.Abort, KeyboardInterrupt) as error:
        click.echo("\nviva: stopped.", err=True)  # the line break ends the line in which a terminal shows ^C
        return 128 + (error.number if isinstance(error, Stopped) else signal.SIGINT)
    except GraderError as error:
        click.echo(f"viva: something went wrong on the grader's side: {short(error)}", err=True)
        return 2
    except VivaError as error:
        click.echo(f"viva: {error}", err=True)
        return 1
    except OSError as error:
        if error.filename is None and error.errno in _NO_OUTPUT:
            return _without_output(error)
        if error.filename is None:
            return _own_fault(error)
        click.echo(f"viva: {error.filename}: {error.strerror}.", err=True)
        return 1
    except Exception as error:
        return _own_fault(error)
    return status if arguments else 1


def _invoke(arguments: list[str]) -> int:
    """Return the exit status of the command; click's own `main` would report errors in its own words."""
    try:
        with cli.make_context("viva", list(arguments)) as context:
            return int(cli.invoke(context) or 0)
    except click.exceptions.Exit as stop:  # --help and --version
        return int(stop.exit_code)


class Stopped(KeyboardInterrupt):
    """A request to stop, raised where Ctrl-C would raise KeyboardInterrupt."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stopped(number)


def _sentence(error: click.ClickException) -> str:
    """Return what is wrong with the command line, and how to list its options."""
    text = error.format_message()
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx is not None else "viva"
    return f"{text if text.endswith('.') else f'{text}.'} `{command} --help` lists what there is."


def _without_output(error: OSError) -> int:
    """Return the exit status for output that cannot be written or that no program reads any more (`viva … | head`)."""
    with contextlib.suppress(OSError):  # buffered output would fail again when Python exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return 128 + _SIGPIPE
    click.echo(f"viva: the output cannot be written: {error.strerror}.", err=True)
    return 1


def _own_fault(error: Exception) -> int:
    """Report a bug of viva in one sentence, or in full if VIVA_TRACEBACK is set."""
    if in_full():
        raise error
    place = traceback.extract_tb(error.__traceback__)[-1]
    click.echo(
        f"viva: a fault of viva's own: {type(error).__name__}: {error} ({place.filename}, line {place.lineno}). "
        "Run the command again with VIVA_TRACEBACK=1, and report what it prints.",
        err=True,
    )
    return 2


if __name__ == "__main__":
    main()
