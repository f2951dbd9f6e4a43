"""`viva`: find the command; turn errors into one sentence and an exit status (0 done, 1 usage, 2 viva's own fault)."""

import contextlib
import errno
import gc
import importlib
import io
import itertools
import os
import re
import sys
import traceback
from typing import TYPE_CHECKING, Final

import click

from viva import __version__
from viva.cli.shared import stop_signals
from viva.cli.shared.command_table import commands, find_command
from viva.cli.shared.error_text import in_full, short

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from click.shell_completion import CompletionItem

    from viva.pipeline.local_pool import ExaminerFactory


class Commands(click.Group):
    """Imports a command only when it is called, so that `viva check` does not pay for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None if there is none."""
        found = find_command(cmd_name)
        if found is None:
            return None
        command: click.Command = importlib.import_module(found.module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, so that help imports none of them."""
        width = max(map(len, commands()))
        for group, listed in itertools.groupby(commands().values(), lambda command: command.group):
            with formatter.section(group):
                formatter.write_dl([(command.name.ljust(width), command.summary) for command in listed])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Return the commands that begin with a text, from the table."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=command.summary)
            for name, command in commands().items()
            if name.startswith(incomplete)
        ]
        return found or super().shell_complete(ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the closest command if the given one does not exist."""
        if args and not args[0].startswith("-") and find_command(args[0]) is None:
            import difflib

            close = difflib.get_close_matches(args[0], commands(), 1)
            meant = f" Did you mean `viva {close[0]}`?" if close else f" There are: {', '.join(commands())}."
            raise click.UsageError(f"There is no command `{args[0]}`.{meant}")
        return super().resolve_command(ctx, args)


_COMPLETE: Final = "_VIVA_COMPLETE"
_SIGPIPE: Final = 13
"""Also on systems without this signal: a shell reports it for a program whose output no one reads any more."""
_NO_OUTPUT: Final = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""Errors of standard output when no one reads it any more, or when it cannot be written."""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version=__version__, prog_name="viva")
def cli() -> None:
    """Grade NLP and deep-learning coursework in a sandbox."""


def main(argv: list[str] | None = None) -> None:
    """Run a command as a program; treat a closed terminal and a scheduler's signal to stop like Ctrl-C."""
    if argv is None:
        prepare_process()
    try:
        stop_signals.raise_stopped()
        status = run(argv)
        stop_signals.end_at_once()
    except KeyboardInterrupt as error:  # just before the command or just after it
        status = _failed(error)
    gc.freeze()  # at its end Python would look for garbage among all objects, three times
    sys.exit(status)


def run(argv: list[str] | None = None, examiner_factory: "ExaminerFactory | None" = None) -> int:
    """Run a command and return its exit status; report every error in one sentence on standard error.

    Args:
        argv: the command line without the name of the program; None for that of this process.
        examiner_factory: makes the examiners that grade a class; None for ExaminerProcess.
    """
    if asked := os.environ.get(_COMPLETE):  # a shell asks how a line could go on, or for the script that asks so
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "viva", _COMPLETE, asked)
    arguments = sys.argv[1:] if argv is None else argv
    try:
        status = _invoke(arguments or ["--help"], examiner_factory)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        return _failed(error)
    return status if arguments else 1


def _failed(error: Exception | KeyboardInterrupt) -> int:
    """Say what happened, and return the exit status."""
    stopped = stop_signals.exit_status(error)
    if stopped is not None or isinstance(error, click.Abort):
        click.echo("\nviva: stopped.", err=True)  # the line break ends the line in which a terminal shows ^C
        return stopped or stop_signals.CTRL_C
    from viva.model.errors import EXPECTED_ERRORS, GraderError

    if isinstance(error, GraderError):
        click.echo(f"viva: something went wrong on the grader's side: {short(error)}", err=True)
        return 2
    if isinstance(error, OSError) and error.filename is None and error.errno in _NO_OUTPUT:
        return _without_output(error)
    if isinstance(error, click.ClickException):
        text = _sentence(error)
    elif isinstance(error, EXPECTED_ERRORS):
        text = str(error)
    elif isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}."
    else:
        return _own_fault(error)
    click.echo(f"viva: {text}", err=True)
    return 1


def _invoke(arguments: list[str], examiner_factory: "ExaminerFactory | None") -> int:
    """Return the exit status of the command; click's own `main` would report errors in its own words."""
    try:
        with cli.make_context("viva", list(arguments), obj=examiner_factory) as context:
            return int(cli.invoke(context) or 0)
    except click.exceptions.Exit as stop:  # --help and --version
        return int(stop.exit_code)


def _sentence(error: click.ClickException) -> str:
    """Return what is wrong with the command line, and how to list its options."""
    text = error.format_message()
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx is not None else "viva"
    return f"{text.removesuffix('.')}. `{command} --help` lists what there is."


def _without_output(error: OSError) -> int:
    """Return the exit status for output that cannot be written or that no program reads any more (`viva … | head`)."""
    with contextlib.suppress(OSError):  # buffered output would fail again when Python exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return 128 + _SIGPIPE
    click.echo(f"viva: the output cannot be written: {error.strerror}.", err=True)
    return 1


def _own_fault(error: BaseException) -> int:
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


_COMMAND: Final = re.compile(r"((?:^|[\n\r])\s*):(?=:)")
_OLD_COMMAND: Final = re.compile(r"(##(?:vso)?)\[")


def prepare_process() -> None:
    """Fix standard streams and locale; this may start the program again, with the same arguments."""
    _open_standard_streams()
    if os.name == "posix" and sys.getfilesystemencoding().lower() != "utf-8" and not sys.flags.utf8_mode:
        # Names of students would come out as question marks, in results too; only a new interpreter reads them right.
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  # this same program
    out, err = sys.stdout, sys.stderr
    errors = "backslashreplace" if out.errors == "strict" else out.errors  # where ASCII was asked for
    out_bytes = io.BufferedWriter(io.FileIO(1, "w", closefd=False))
    err_bytes = io.BufferedWriter(_ErrorOutput(2, "w", closefd=False))
    sys.stdout = _Text(out_bytes, out.encoding, errors, line_buffering=out.isatty())
    sys.stderr = _Text(err_bytes, err.encoding, err.errors, line_buffering=True)


class _Text(io.TextIOWrapper):
    """Text of which no line is a command to a CI system: a log holds what students wrote.

    GitHub and Azure obey lines that begin with `::name::`, and those that hold `##[name]`. Commands of viva's own are
    exported as bytes.
    """

    def write(self, text: str, /) -> int:
        """Write text; return how many characters there were."""
        super().write(_OLD_COMMAND.sub(r"\1 [", _COMMAND.sub(r"\1: ", text)))
        return len(text)


class _ErrorOutput(io.FileIO):
    """Standard error that drops what cannot be written: a log on a full disk must not stop a class that is graded."""

    def write(self, text: "ReadableBuffer", /) -> int:
        """Write bytes; return how many there were."""
        try:
            written = super().write(text)
        except OSError:
            written = None
        return memoryview(text).nbytes if written is None else written


def _open_standard_streams() -> None:
    """Open closed streams: their numbers would go to the next file or socket, and output would end up there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003  # takes no keyword
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # stays open
