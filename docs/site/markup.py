"""Text as Markdown: tables, and help texts whose signs mean themselves."""

import re
from collections.abc import Iterable, Sequence

_CODE_OR_SIGN = re.compile(r"(`[^`\n]*`)|([\\*_<>\[\]|])")


def text(plain: str) -> str:
    """Return a help text as Markdown in one line: code between backticks stays, every other sign means itself."""
    return _CODE_OR_SIGN.sub(lambda found: _code(found[1]) if found[1] else f"\\{found[2]}", " ".join(plain.split()))


def code(plain: str) -> str:
    """Return a text as code, which may be in a cell of a table."""
    return _code(f"`{plain}`") if plain else ""


def _code(between_backticks: str) -> str:
    """Return code that may be in a cell: Markdown would read `|` as the end of the cell, even in code."""
    if "|" not in between_backticks:
        return between_backticks
    inner = between_backticks[1:-1].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<code>{inner.replace('|', '&#124;')}</code>"


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
