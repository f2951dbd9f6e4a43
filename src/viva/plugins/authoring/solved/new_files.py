"""The files of an assignment that is made from a solved notebook, as its author edits them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from viva.config.assignment import TESTS
from viva.formats.atomic_write import write_atomically
from viva.plugins.authoring.solved.proposal import Proposal
from viva.plugins.authoring.solved.questions import Question
from viva.plugins.authoring.solved.solved_assignment import without_marks
from viva.plugins.authoring.solved.tests_file import is_graded_by_hand, points_of, tests_source
from viva.plugins.authoring.source.solution_markers import solved
from viva.plugins.authoring.source.source_cells import Cell
from viva.plugins.authoring.yaml_edit import as_scalar
from viva.submissions.code_imports import preloads
from viva.submissions.code_of_names import code_of

_SETTINGS: Final = """\
title: {title}
version: 1
submission: {submission}
points: {points}{todo}
preload: [{preload}]
"""
_NO_POINTS: Final = "  # TODO: the notebook gives no points for {numbers}; change @weight in tests.py as well"
_QUESTION: Final = """\
  {number}:
    title: {title}
    points: {points}
    model: |-
{model}
    items:
      - {{id: right, points: {points}, text: It agrees with the model answer.}}
"""


@dataclass(slots=True)
class Made:
    """A new assignment, and what its author learns about it."""

    folder: Path
    title: str
    """What students read."""
    module: str
    """The module that students submit; empty for a notebook."""
    cells: Sequence[Cell]
    questions: list[Question]
    proposals: dict[str, Proposal]
    failed: list[tuple[int, str]]
    """Cells of the notebook that raised, and what."""
    data: list[str]
    """The files that submissions get."""
    too_large: list[str]
    """Those that they would need and do not get."""

    @property
    def left(self) -> list[tuple[Question, Proposal]]:
        """Return the names for which no test is proposed."""
        return [
            (question, self.proposals[name])
            for question in self.questions
            for name in question.names
            if not self.proposals[name].body and not self.proposals[name].tested_with
        ]


def write_tests(made: Made) -> None:
    """Write the tests, the settings, and the rubric of what a person grades; again after tests were taken back."""
    points = sum((points_of(question, made.proposals) for question in made.questions), start=Fraction(0))
    write_atomically(made.folder / "assignment.yaml", _settings(made, points).encode())
    write_atomically(made.folder / TESTS, tests_source(made.title, made.questions, made.proposals).encode())
    if by_hand := [question for question in made.questions if is_graded_by_hand(question, made.proposals)]:
        write_atomically(made.folder / "rubric.yaml", _rubric(by_hand, made.proposals, made.cells).encode())


def _settings(made: Made, points: Fraction) -> str:
    submission = (
        f'{{notebook: null, module: "{made.module}"}}' if made.module else '{notebook: "*.ipynb", module: null}'
    )
    without = [question.number for question in made.questions if question.points is None]
    text = _SETTINGS.format(
        title=as_scalar(made.title),
        submission=submission,
        points=points if points.denominator == 1 else f'"{points}"',
        todo=_NO_POINTS.format(numbers=", ".join(without)) if without else "",
        preload=", ".join(preloads(cell.source for cell in made.cells if cell.kind == "code")),
    )
    return text + (f"data: {json.dumps(made.data)}\n" if made.data else "")


def _rubric(by_hand: Sequence[Question], proposals: Mapping[str, Proposal], cells: Sequence[Cell]) -> str:
    parts = ["questions:\n"]
    solution = [without_marks(cell.source) for cell in cells if cell.kind == "code"]
    for question in by_hand:
        prose = [solved(text) for text in question.prose]
        model = "\n".join([*prose, code_of(question.names, {"": solution})]).strip() or "Write a model answer here."
        parts.append(
            _QUESTION.format(
                number=json.dumps(question.number, ensure_ascii=False),
                title=as_scalar(question.title or f"Question {question.number}"),
                points=points_of(question, proposals),
                model="\n".join(f"      {line}".rstrip() for line in model.splitlines()),
            )
        )
    return "".join(parts)
