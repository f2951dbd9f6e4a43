"""`viva`: finds the command and turns errors into one sentence and an exit status (0 done, 1 usage, 2 ours)."""

import importlib
import sys
from typing import Any, Final

import click

COMMANDS: Final = {
    "grade": ("viva.cli.grade", "Grade submissions and write their results."),
    "check": ("viva.cli.check", "Check your own work with the public tests."),
    "verify": ("viva.cli.verify", "Prove the graders: key, starter and every fixture get what they should."),
    "why": ("viva.cli.why", "Run one test on one submission again and show what was asked."),
    "shell": ("viva.cli.shell", "A prompt on a submission in its box."),
    "doctor": ("viva.cli.doctor", "Show which isolation this host offers, and what to install for more."),
    "init": ("viva.cli.init", "Make an empty course."),
    "new-test": ("viva.cli.new_test", "Write a test's skeleton from the key's signature."),
    "schema": ("viva.cli.schema", "Print the JSON Schema of results.json."),
}


class Commands(click.Group):
    """Imports a command when it is called: `viva check` must not pay for the rest."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table: what people do most comes first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, None if there is none."""
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
        """Say what was meant when a command does not exist."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, 1)
            meant = f" Did you mean `viva {close[0]}`?" if close else f" There are: {', '.join(COMMANDS)}."
            raise click.UsageError(f"There is no command `{args[0]}`.{meant}")
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="viva", prog_name="viva")
def cli() -> None:
    """viva grades NLP and deep-learning coursework in sandboxes that student code cannot cheat."""


def main(argv: list[str] | None = None) -> None:
    """Run a command; every error that is not our own bug is one sentence on standard error."""
    sys.exit(run(argv))


def run(argv: list[str] | None = None) -> int:
    """Run a command and return its exit status."""
    from viva.model.errors import GraderError, VivaError

    try:
        status: Any = cli.main(args=argv, standalone_mode=False)
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except click.ClickException as error:
        click.echo(f"viva: {error.format_message()}", err=True)
        return 1
    except (click.Abort, KeyboardInterrupt):
        click.echo("viva: stopped; results written so far are valid.", err=True)
        return 130
    except GraderError as error:
        click.echo(f"viva: something went wrong on the grader's side: {error}", err=True)
        return 2
    except VivaError as error:
        click.echo(f"viva: {error}", err=True)
        return 1
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has left: nothing can be said any more
        return 1
    return int(status or 0)


if __name__ == "__main__":
    main()
