"""The page about the commands, from the commands themselves."""

import itertools
from collections.abc import Iterable, Iterator

import click

from docs.site.markup import code, table, text
from viva.cli.main import cli
from viva.cli.shared.command_table import commands
from viva.hooks import Command

INTRODUCTION = """\
# Commands

On this page you find every command of viva with its options, as `viva COMMAND --help` prints them. Exit statuses mean
the same for all commands: see [Results](../results.md#exit-statuses).
"""


def commands_page() -> str:
    """Return the page."""
    groups = itertools.groupby(commands().values(), lambda command: command.group)
    return "\n".join([INTRODUCTION, *(part for title, group in groups for part in _group(title, group))])


def _group(title: str, listed: Iterable[Command]) -> Iterator[str]:
    yield f"## {title}\n"
    for entry in listed:
        command = cli.get_command(click.Context(cli, info_name="viva"), entry.name)
        assert command is not None
        yield from _command(command, f"viva {entry.name}", "###", summary=entry.summary)


def _command(command: click.Command, path: str, level: str, summary: str = "") -> Iterator[str]:
    context = click.Context(command, info_name=path)
    yield f"{level} {path}\n"
    if summary:
        yield f"{text(summary)}\n"
    yield f"```\n{' '.join([path, *command.collect_usage_pieces(context)])}\n```\n"
    for paragraph in (command.help or "").split("\n\n"):
        yield f"{text(paragraph)}\n"
    options = [record for option in command.params if (record := _record(option, context)) is not None]
    if options:
        yield table(["option", "what it does"], ([code(names), text(meaning)] for names, meaning in options))
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _command(inner, f"{path} {name}", f"{level}#")


def _record(option: click.Parameter, context: click.Context) -> tuple[str, str] | None:
    """Return an option's names and what it does; None for an argument, which the usage line shows."""
    return option.get_help_record(context) if isinstance(option, click.Option) else None
