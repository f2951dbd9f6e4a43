"""The marks of well-known courses around what students write: viva's copy of a notebook has its own in their place.

Coursera: `### START CODE HERE ###` … `### END CODE HERE ###`, `# YOUR CODE STARTS HERE` … `# YOUR CODE ENDS HERE`.
CS231n: `# *****START OF YOUR CODE (…)*****` … `# *****END OF YOUR CODE (…)*****`.
CS224n: `### YOUR CODE HERE (~3 lines)` … `### END YOUR CODE`.
EPFL: `### SOLUTION` … `### END SOLUTION`, with a template in comments before the end.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from viva.plugins.authoring.solved.solution_regions import BEGIN, END
from viva.plugins.authoring.source.source_cells import Cell

_EDGE: Final = re.compile(
    r"^(?P<indent>[ \t]*)#[#*=\- \t]*(?:"
    r"(?P<begin>(?:START|BEGIN)(?: OF)?(?: YOUR)? CODE\b|YOUR CODE (?:STARTS? )?HERE\b)"
    r"|END(?: OF)?(?: YOUR)? CODE\b|YOUR CODE ENDS? HERE\b"
    r"|(?P<solution>SOLUTION[ \t]*$)|(?P<end_of_solution>END SOLUTION\b))",
    re.IGNORECASE,
)


def with_own_marks(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells with `### BEGIN SOLUTION` and `### END SOLUTION` in place of other marks.

    A beginning without an end marks nothing: an empty exercise has `# YOUR CODE HERE` too.
    """
    return [replace(cell, source=_with_own_marks(cell.source)) if cell.kind == "code" else cell for cell in cells]


def _with_own_marks(source: str) -> str:
    lines = source.split("\n")
    begin: tuple[int, str, bool] | None = None
    for place, line in enumerate(lines):
        edge = _EDGE.match(line)
        if edge is None:
            continue
        if edge["begin"] or edge["solution"]:
            begin = place, edge["indent"], edge["solution"] is not None
        elif begin is not None and begin[2] == (edge["end_of_solution"] is not None):
            lines[begin[0]], lines[place] = begin[1] + BEGIN, begin[1] + END
            begin = None
    return "\n".join(lines)
