"""How many ways to break a solution the tests notice, function by function, and which ones they do not."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from viva.model.counting import counted
from viva.plugins.authoring.strength.separating import Separated
from viva.plugins.verify.mutants.mutant_trial import Verdict

_SHOWN = 3
"""Survivors that are shown for one function."""


def strength(
    verdicts: Sequence[Verdict], separated: Mapping[str, Separated] = MappingProxyType({}), *, places: bool = True
) -> Iterator[str]:
    """Yield a line for each function, and the change for each mutant that keeps all points.

    Args:
        verdicts: what became of the mutants.
        separated: by the name of a mutant, a call that shows it.
        places: whether to say in which file and line a change is.
    """
    by_function: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_function[verdict.mutant.unit.name].append(verdict)
    for name, found in by_function.items():
        kept = [verdict for verdict in found if verdict.kind == "survived"]
        caught = len(found) - len(kept)
        are = "is" if caught == 1 else "are"
        yield f"  `{name}`: {caught} of {counted(len(found), 'way')} to break it {are} caught"
        for verdict in kept[:_SHOWN]:
            yield f"      not caught: {verdict.mutant.where}" if places else "      not caught:"
            yield from (f"        {line}" for line in changed_lines(verdict.mutant.diff))
            if call := separated.get(verdict.mutant.name):
                yield f"        differs for {call.shown}"
        if len(kept) > _SHOWN:
            yield f"      and {len(kept) - _SHOWN} more" + ("; `viva verify --mutants` shows them" if places else "")


def changed_lines(diff: str) -> list[str]:
    """Return the lines of a diff that differ in more than white space at their ends."""
    lines = [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return [line for line in lines if line[1:].strip()]
