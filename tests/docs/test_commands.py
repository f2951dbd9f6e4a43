"""Commands in the pages exist, with these options and arguments. Those of *Start* are run by test_author_pages.py."""

import re
import shlex
from pathlib import Path

import click
import pytest

from viva.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md"]
SEPARATORS = {"&&", "||", "|", ";", ">", ">>"}


def typed(text: str) -> list[list[str]]:
    """The words of every call of viva in the blocks of a page that are for a terminal."""
    calls = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        for line in block.splitlines() if language in ("", "console") else []:
            calls += calls_in(line.removeprefix("$ "))
    return calls


def calls_in(line: str) -> list[list[str]]:
    """The calls of viva in a line of a shell, without variables that are set before and without comments."""
    if not re.match(r"(?:[A-Z_]+=\S+ +)*(?:viva|cd|mkdir) ", line):
        return []
    calls: list[list[str]] = [[]]
    for word in shlex.split(re.sub(r"(?<=\s)#.*", "", line)):
        if word in SEPARATORS:
            calls.append([])
        else:
            calls[-1].append(word)
    return [call[1:] for call in calls if call and call[0] == "viva"]


def parse(words: list[str]) -> None:
    """Read a command line as viva does, and run nothing.

    Raises:
        click.UsageError: there is no such command or option, or an argument is missing.
    """
    group: click.Group = cli
    context = click.Context(group, info_name="viva")
    while True:
        name, command, rest = group.resolve_command(context, list(words))
        assert command is not None and name is not None
        context = command.make_context(name, rest, parent=context)
        if not isinstance(command, click.Group):
            return
        group, words = command, [*context._protected_args, *context.args]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of_a_page_can_be_typed(page: Path) -> None:
    wrong = []
    for words in typed(page.read_text("utf-8")):
        try:
            parse(words)
        except click.exceptions.Exit:  # --help and --version
            pass
        except click.ClickException as error:
            wrong.append(f"viva {shlex.join(words)}: {error.format_message()}")
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_in_sentences_exist(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    wrong = []
    for call in re.findall(r"`viva ([a-z][^`\n]*)`", text):
        name, *words = call.split()
        command = cli.get_command(click.Context(cli), name)
        if command is None:
            wrong.append(call)
        elif not isinstance(command, click.Group):
            known = {option for each in command.params for option in [*each.opts, *each.secondary_opts]} | {"--help"}
            wrong += [f"{call}: {word}" for word in words if re.fullmatch(r"--[a-z-]+", word) and word not in known]
    assert wrong == []


def test_pages_hold_commands() -> None:
    calls = [words for page in PAGES for words in typed(page.read_text("utf-8"))]
    assert len(calls) > 60 and {"grade", "release", "doctor"} <= {words[0] for words in calls}
