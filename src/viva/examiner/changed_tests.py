"""Which tests ask something else than in an earlier grading, so that its call log cannot answer them."""

from collections.abc import Sequence

from viva.examiner.catalog import TestFunction, resolve
from viva.model.score import test_of
from viva.replay.call_log import BoxReplay


def changed_tests(functions: Sequence[TestFunction], replaying: BoxReplay) -> list[str]:
    """Return the ids of tests that a call log could not answer completely, and of those that depend on them."""
    cases = {test_of(case) for case in replaying.changed}
    changed: list[str] = []
    for function in functions:
        needs = {resolve(name, function, functions).test_id for name in function.depends}
        if replaying.other_load or function.gpu is not None or function.test_id in cases or needs & {*changed}:
            changed.append(function.test_id)
    return changed
