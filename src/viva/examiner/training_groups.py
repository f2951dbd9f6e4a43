"""Which tests of a submission may run side by side: those that train, which take longest."""

from collections.abc import Sequence

from viva.examiner.catalog import TestFunction, resolve
from viva.examiner.pytest_internals import has_lasting_fixtures


def apart(functions: Sequence[TestFunction]) -> tuple[list[TestFunction], list[list[TestFunction]]]:
    """Set apart the tests that train.

    Each group begins in a fresh box, whether another examiner takes some of them or not: so how many cores were free
    changes no verdict. Tests that share a fixture of the author stay together. A test stays with the rest if it uses a
    GPU, must run after another test, or another must run after it.

    Args:
        functions: the tests that run, in their order.

    Returns:
        The rest, to be run one after the other in one box; and the groups. Those that are worth most come first: they
        tend to take longest, and no examiner should begin a long one when the others have nothing left to do.
    """
    in_order = {resolve(name, f, functions).test_id for f in functions for name in f.depends}
    rest: list[TestFunction] = []
    groups: dict[str, list[TestFunction]] = {}
    for function in functions:
        if not function.training or function.gpu is not None or function.depends or function.test_id in in_order:
            rest.append(function)
            continue
        lasting = any(has_lasting_fixtures(item) for item in function.items)
        file = function.test_id.partition("::")[0]
        groups.setdefault(file if lasting else function.test_id, []).append(function)
    return rest, sorted(groups.values(), key=lambda group: -sum(function.points for function in group))
