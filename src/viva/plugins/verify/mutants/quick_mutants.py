"""Ten mutants for every `viva verify`: always the same ones, spread over functions and kinds of mistakes."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from viva.config import Assignment
from viva.plugins.verify.expected_verdicts import ExampleSubmission
from viva.plugins.verify.mutants.asked_names import main_files, roots_of
from viva.plugins.verify.mutants.equivalent import read_equivalents
from viva.plugins.verify.mutants.make_mutants import MutantMaker
from viva.plugins.verify.mutants.mutant import Mutant
from viva.plugins.verify.mutants.mutant_trial import accepted, slow_imports
from viva.plugins.verify.mutants.reachable_code import ReachableCode, Unit
from viva.plugins.verify.mutants.submission_code import pieces_of

COUNT: Final = 10
LIMIT_S: Final = 2.0
"""The most seconds for a call, so that a mutant that never ends costs no more."""


def ten(assignment: Assignment, examples: Sequence[ExampleSubmission]) -> list[tuple[Mutant, ExampleSubmission]]:
    """Return at most ten mutants of accepted submissions, each with the submission that it was made of.

    Only the field's own mistakes are made, none that the assignment lists as equivalent, and none in a submission
    whose libraries would have to be imported for every single one.
    """
    places = [(base, _Shuffled(maker, unit)) for base, maker, unit in _places(assignment, examples)]
    places.sort(key=lambda place: hashlib.sha256(f"{place[0].name} {place[1].name}".encode()).digest())
    equivalents = read_equivalents(assignment)
    chosen: list[tuple[Mutant, ExampleSubmission]] = []
    operators: set[str] = set()
    before = -1
    while before < len(chosen) < COUNT:
        before = len(chosen)
        functions: set[str] = set()  # each once, and again only when none is left
        for base, unit in places:
            if len(chosen) == COUNT or unit.name in functions:
                continue
            mutant = next((m for m in unit.mutants if m.operator not in operators and m not in equivalents), None)
            if mutant is not None:
                functions.add(unit.name)
                operators.add(mutant.operator)
                chosen.append((mutant, base))
    return chosen


class _Shuffled:
    """The mutants of one unit in a fixed random order, made on demand."""

    def __init__(self, maker: MutantMaker, unit: Unit) -> None:
        self._maker, self._unit = maker, unit
        self.name = unit.name

    @cached_property
    def mutants(self) -> list[Mutant]:
        found = self._maker.of_unit(self._unit, with_library=False)
        return sorted(found, key=lambda mutant: mutant.digest)


def _places(
    assignment: Assignment, examples: Sequence[ExampleSubmission]
) -> Iterator[tuple[ExampleSubmission, MutantMaker, Unit]]:
    roots = roots_of(assignment)
    for base in accepted(examples, assignment):
        pieces = pieces_of(base.submission)
        maker = MutantMaker(base.name, ReachableCode(pieces), roots, main_files(assignment, pieces), set())
        files = {unit.piece.path for unit in maker.units}
        if set(slow_imports([p for p in pieces if p.path in files])) <= {
            name.rstrip("?") for name in assignment.preload
        }:
            yield from ((base, maker, unit) for unit in maker.units)
