"""Hints for common mistakes, proposed from the mutants of a solution: what a mutant returns, a student may return."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viva.config import Assignment
from viva.config.assignment import TESTS
from viva.formats.atomic_write import write_atomically
from viva.plugins.authoring.solved.proposal import WIDTH
from viva.plugins.authoring.strength.tests_edit import drawn_by, end_of_call, importing
from viva.plugins.verify.mutants.make_mutants import OPERATORS
from viva.plugins.verify.mutants.mutant_trial import Verdict
from viva.plugins.verify.mutants.source_edits import Change, narrowed

FOR_EACH: Final = 2
"""The most hints for one function."""
_LIKELY: Final = (
    "scale_dropped",
    "axis_changed",
    "unnormalised",
    "mask_dropped",
    "polarity_inverted",
    "transpose_dropped",
    "diagonal_moved",
    "bias_dropped",
    "log_dropped",
    "sum_for_mean",
    "min_for_max",
    "off_by_one",
    "boundary_moved",
    "operands_swapped",
    "guard_dropped",
    "order_dropped",
)
"""The mistakes that students make, the most frequent ones first."""
_SENTENCES: Final = {operator.name: operator.sentence for operator in OPERATORS}
_WORD: Final = re.compile(r"[\w.]+|[^\w\s()\[\]{},.]+|[()\[\]{},]")
_LONGEST: Final = 60
"""Characters of the text that is replaced."""


@dataclass(frozen=True, slots=True)
class HintProposal:
    """A mistake in a function of the solution, and what to tell a student who makes it."""

    function: str
    right: str
    wrong: str
    words: str
    diff: str

    @property
    def entry(self) -> str:
        """Return the hint as an item of the dictionary `hints`, as source code."""
        words = json.dumps(self.words, ensure_ascii=False)
        value = f"with_mistake(key.{self.function}, {_quoted(self.right)}, {_quoted(self.wrong)})"
        return f"{words}: {value}" if len(words) + len(value) < WIDTH - 12 else f"{words}:\n            {value}"


def hint_proposals(assignment: Assignment, verdicts: Sequence[Verdict]) -> list[HintProposal]:
    """Return at most FOR_EACH likely mistakes for each function whose arguments a test draws.

    Args:
        assignment: one that is made from a solved notebook.
        verdicts: what became of its mutants; a hint comes from one that was noticed.
    """
    asked = drawn_by(assignment.folder / TESTS)
    functions = _functions((assignment.graders / "key.py").read_text("utf-8"))
    found: list[HintProposal] = []
    for operator in _LIKELY:
        for verdict in verdicts:
            name = verdict.mutant.unit.name
            if verdict.mutant.operator != operator or verdict.kind != "killed" or not verdict.in_time:
                continue
            if name not in asked or sum(each.function == name for each in found) == FOR_EACH:
                continue
            proposal = _proposal(verdict, functions.get(name, ""))
            if proposal is not None and not any(p.function == name and p.words == proposal.words for p in found):
                found.append(proposal)
    order = list(asked)
    return sorted(found, key=lambda each: order.index(each.function))


def add_hints(tests: Path, chosen: Sequence[HintProposal]) -> int:
    """Add the hints to the first `agree_on` of each function, unless it has some; return how many were added."""
    text = tests.read_text("utf-8")
    added = 0
    for function in dict.fromkeys(each.function for each in chosen):
        hints = [each for each in chosen if each.function == function]
        end = end_of_call(text, function)
        if end is None:
            continue
        lines = "".join(f"        {hint.entry},\n" for hint in hints)
        separator = "" if text[:end].rstrip().endswith(",") else ", "
        text = f"{text[:end]}{separator}hints={{\n{lines}    }}{text[end:]}"
        added += len(hints)
    if added:
        write_atomically(tests, importing("with_mistake", text).encode())
    return added


def _proposal(verdict: Verdict, source: str) -> HintProposal | None:
    """Return the mistake as a replacement of one short text; None if the key does not hold that text once."""
    mutant = verdict.mutant
    text = mutant.unit.piece.text
    change = _shortest(text, mutant.change)
    for start, end in _contexts(text, change.start, change.end):
        right = text[start:end]
        wrong = text[start : change.start] + change.text + text[change.end : end]
        if "\n" in right or len(right) > _LONGEST:
            continue
        if right and source.count(right) == 1:
            words = _SENTENCES[mutant.operator].rstrip(".")
            return HintProposal(mutant.unit.name, right, wrong, words[:1].lower() + words[1:], mutant.diff)
    return None


def _shortest(text: str, change: Change) -> Change:
    """Return the same change as less text, without parentheses that mean nothing."""
    if change.text.startswith("(") and change.text.endswith(")"):
        bare = replace(change, text=change.text[1:-1])
        try:
            if ast.dump(ast.parse(bare.applied(text))) == ast.dump(ast.parse(change.applied(text))):
                change = bare
        except SyntaxError:
            pass  # the parentheses are needed, or the cell has lines for IPython
    return narrowed(text, change)


def _contexts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the place of a change in whole words and operators, then wider ones, up to its whole line."""
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    words = [found.span() for found in _WORD.finditer(text, first, len(text) if last < 0 else last)]
    start = next((a for a, b in words if a < start < b), start)
    end = next((b for a, b in words if a < end < b), end)
    starts = [start, *(a for a, _ in reversed(words) if a < start)]
    ends = [end, *(b for _, b in words if b > end)]
    for more in range(len(starts) + len(ends) - 1):
        for left in range(min(more, len(starts) - 1), -1, -1):
            if more - left < len(ends):
                yield starts[left], ends[more - left]


def _quoted(text: str) -> str:
    return repr(text) if '"' in text or "\\" in text else f'"{text}"'


def _functions(source: str) -> dict[str, str]:
    """Return the source code of the functions at the top level, by their names."""
    nodes = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return {node.name: ast.get_source_segment(source, node) or "" for node in nodes}
