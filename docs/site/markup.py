"""Text as Markdown: tables, and help texts whose signs mean themselves."""

import re
from collections.abc import Iterable, Sequence

_CODE_OR_SIGN = re.compile(r"(`[^`\n]*`)|([&<>|])|([\\*_\[\]])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}
"""Signs that Python-Markdown does not take a backslash before."""


def text(plain: str) -> str:
    """Return a help text as Markdown in one line: code between backticks stays, every other sign means itself."""
    return _CODE_OR_SIGN.sub(_escaped, " ".join(plain.split()))


def _escaped(found: re.Match[str]) -> str:
    if found[1]:
        return _code(found[1])
    return _ENTITIES[found[2]] if found[2] else f"\\{found[3]}"


def code(plain: str) -> str:
    """Return a text as code, which may be in a cell of a table."""
    return _code(f"`{plain}`") if plain else ""


def _code(between_backticks: str) -> str:
    """Return code that may be in a cell: Markdown would read `|` as the end of the cell, even in code."""
    if "|" not in between_backticks:
        return between_backticks
    return f"<code>{''.join(_ENTITIES.get(sign, sign) for sign in between_backticks[1:-1])}</code>"


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
