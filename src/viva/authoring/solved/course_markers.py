"""The marks of well-known courses around what students write: viva's copy of a notebook has its own in their place.

Coursera: `### START CODE HERE ###` … `### END CODE HERE ###`, `# YOUR CODE STARTS HERE` … `# YOUR CODE ENDS HERE`.
CS231n: `# *****START OF YOUR CODE (…)*****` … `# *****END OF YOUR CODE (…)*****`.
CS224n: `### YOUR CODE HERE (~3 lines)` … `### END YOUR CODE`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from viva.authoring.solved.solution_regions import BEGIN, END
from viva.authoring.source.source_cells import Cell

_EDGE: Final = re.compile(
    r"^(?P<indent>[ \t]*)#[#*=\- \t]*(?:"
    r"(?P<begin>(?:START|BEGIN)(?: OF)?(?: YOUR)? CODE\b|YOUR CODE (?:STARTS? )?HERE\b)"
    r"|END(?: OF)?(?: YOUR)? CODE\b|YOUR CODE ENDS? HERE\b)",
    re.IGNORECASE,
)


def with_own_marks(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells with `### BEGIN SOLUTION` and `### END SOLUTION` in place of other marks.

    A beginning without an end marks nothing: an empty exercise has `# YOUR CODE HERE` too.
    """
    return [replace(cell, source=_with_own_marks(cell.source)) if cell.kind == "code" else cell for cell in cells]


def _with_own_marks(source: str) -> str:
    lines = source.split("\n")
    begin: tuple[int, str] | None = None
    for place, line in enumerate(lines):
        edge = _EDGE.match(line)
        if edge is None:
            continue
        if edge["begin"]:
            begin = place, edge["indent"]
        elif begin is not None:
            lines[begin[0]], lines[place] = begin[1] + BEGIN, begin[1] + END
            begin = None
    return "\n".join(lines)
