"""The pages that are made from the program hold all of it, each key with a meaning."""

import re
from typing import Any

import click

from docs.site.commands import commands_page
from docs.site.reference import results_page
from tests.support.table_rows import Rows
from viva.cli.main import cli
from viva.cli.shared.command_table import commands
from viva.formats.results_json import json_schema


def section(page: str, title: str) -> str:
    found = re.search(rf"^#+ {re.escape(title)}(?: \{{.*?\}})?\n(.*?)(?=^#|\Z)", page, re.M | re.S)
    assert found is not None, title
    return found[1]


def test_every_command_and_option() -> None:
    page = commands_page()
    with Rows() as row:
        for name in commands():
            command = cli.get_command(click.Context(cli), name)
            assert command is not None
            inner = command.commands.items() if isinstance(command, click.Group) else []
            for title, each in [(name, command), *((f"{name} {part}", below) for part, below in inner)]:
                with row(title):
                    text = section(page, f"viva {title}")
                    assert f"```\nviva {title}" in text
                    for option in each.params:
                        if isinstance(option, click.Option):
                            assert option.opts[0] in text and (option.help or "").split(" ")[0] in text


def keys(schema: Any) -> set[str]:
    """The keys of a file and of everything in it."""
    parts = [schema, *schema.get("$defs", {}).values()]
    return {key for part in parts for key in part.get("properties", {})}


def test_every_key_of_results_json() -> None:
    page = results_page()
    for key in keys(json_schema()):
        assert re.search(rf"^\| `{key}` \| .+ \| .* \| \S.+ \|$", page, re.M), key
    assert not re.search(r"\| +\|$", page, re.M), "a key without a meaning"
    assert "`null`" not in page, "a key without a value is left out"
