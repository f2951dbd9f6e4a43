"""A notebook as a list of cells, without solutions: nbgrader's by the metadata of cells, otter's by raw cells."""

import re
from dataclasses import dataclass, replace
from typing import Final

from viva.plugins.authoring.source.solution_markers import TODO, Unbalanced, stripped

ANSWER_HERE: Final = "*Your answer here.*"
_SECTION: Final = re.compile(r"^#\s*(BEGIN|END)\s+(QUESTION|PROMPT|SOLUTION|TESTS)\b", re.IGNORECASE)
_CONFIG: Final = re.compile(r"^#\s*(ASSIGNMENT CONFIG|BEGIN|END)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cell:
    """The fields of a cell that matter here."""

    kind: str
    """"code", "markdown" or "raw"."""
    source: str
    number: int
    """Counted from 1, as people count."""
    nbgrader: dict[str, object] | None = None


def without_solutions(cells: list[Cell]) -> list[Cell]:
    """Return the cells that students get.

    Raises:
        Unbalanced: a marker or a section has no partner; the message names the cell.
    """
    kept: list[Cell] = []
    section, question = "", False
    prompted = False
    for cell in cells:
        edge = _SECTION.match(cell.source) if cell.kind == "raw" else None
        if edge is not None:
            begins, what = edge[1].upper() == "BEGIN", edge[2].upper()
            if what == "QUESTION":
                question, prompted = begins, False
            elif not begins and section != what:
                raise Unbalanced(f"cell {cell.number} of all cells: END {what} has no BEGIN before it")
            else:
                section = what if begins else ""
                prompted |= what == "PROMPT"
        elif section == "TESTS" or (cell.kind == "raw" and _CONFIG.match(cell.source)):
            continue
        elif section == "SOLUTION":
            if not prompted:
                kept.append(replace(cell, source=f"{TODO}\n..." if cell.kind == "code" else ANSWER_HERE))
        else:
            kept.append(_stripped(cell))
    if section or question:
        raise Unbalanced(f"the last cell: BEGIN {section or 'QUESTION'} has no END")
    return kept


def _stripped(cell: Cell) -> Cell:
    try:
        source, marked = stripped(cell.source)
    except Unbalanced as error:
        raise Unbalanced(f"cell {cell.number} of all cells, {error}") from None
    if cell.kind == "markdown":
        source = source.replace(f"{TODO}\n...", ANSWER_HERE)
    if not marked and cell.nbgrader is not None and cell.nbgrader.get("solution"):
        source = f"{TODO}\n..." if cell.kind == "code" else ANSWER_HERE
    return replace(cell, source=source)
