"""In which order tests run, and which of those that train may run side by side."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from viva.examiner.catalog import TestFunction, resolve
from viva.examiner.pytest_internals import has_lasting_fixtures


@dataclass(frozen=True, slots=True)
class Plan:
    """The tests of one run: the rest in one box, in their order, and groups in that box or in a helper's.

    While groups run, no box of the submission has seen a hidden input: programs that run at the same time can pass bits
    to each other.
    """

    before: Sequence[TestFunction]
    """Run first, one after the other."""
    groups: Sequence[Sequence[TestFunction]] = field(default=())
    """Visible tests that train, in groups that may run side by side. Those that are worth most come first: they tend to
    take longest, and no examiner should begin a long one when the others have nothing left to do."""
    after: Sequence[TestFunction] = field(default=())
    """Hidden tests, run when all others have ended."""


def plan(functions: Sequence[TestFunction]) -> Plan:
    """Set apart the tests that train.

    Tests that share a fixture of the author stay together. A test stays with the rest if it is hidden or uses a GPU,
    must run after another test, or another must run after it.

    Args:
        functions: the tests that run, in their order.
    """
    in_order = {resolve(name, f, functions).test_id for f in functions for name in f.depends}
    groups: dict[str, list[TestFunction]] = {}
    for function in functions:
        if function.training:
            lasting = any(has_lasting_fixtures(item) for item in function.items)
            group = function.test_id.partition("::")[0] if lasting else function.test_id
            groups.setdefault(group, []).append(function)
    free = [group for group in groups.values() if not any(_must_wait(f) or f.test_id in in_order for f in group)]
    set_apart = {function.test_id for group in free for function in group}
    rest = [function for function in functions if function.test_id not in set_apart]
    hidden = [*itertools.takewhile(lambda function: function.hidden, reversed(rest))]
    before = rest[: len(rest) - len(hidden)]
    if not free or any(function.hidden for function in before):
        return Plan(functions)
    return Plan(before, sorted(free, key=lambda group: -sum(f.points for f in group)), hidden[::-1])


def _must_wait(function: TestFunction) -> bool:
    return bool(function.hidden or function.gpu is not None or function.depends)
