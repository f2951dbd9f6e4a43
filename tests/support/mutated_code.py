"""What the operators make of a few lines."""

import textwrap

from viva.model import File, Submission
from viva.plugins.verify.mutants.make_mutants import MutantMaker
from viva.plugins.verify.mutants.mutant import Mutant
from viva.plugins.verify.mutants.reachable_code import ReachableCode
from viva.plugins.verify.mutants.submission_code import pieces_of


def submission(**files: str) -> Submission:
    """A submission of modules, by their stem."""
    given = tuple(File(f"{stem}.py", textwrap.dedent(text).encode()) for stem, text in files.items())
    return Submission("accepted/plain", given, "")


def mutants(handed: Submission, *roots: str, with_library: bool = False) -> list[Mutant]:
    """Every mutant of what the roots reach."""
    maker = MutantMaker("accepted/plain", ReachableCode(pieces_of(handed)), roots, ["solution.py"], set())
    return list(maker.mutants(with_library=with_library))


def made_of(source: str, root: str, *, with_library: bool = False) -> dict[str, set[str]]:
    """By operator, the lines that take the place of others."""
    found: dict[str, set[str]] = {}
    for mutant in mutants(submission(solution=source), root, with_library=with_library):
        found.setdefault(mutant.operator, set()).add(mutant.becomes)
    return found
