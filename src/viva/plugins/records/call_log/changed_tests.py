"""Which tests ask something else than in an earlier grading, so that its call log cannot answer them."""

from collections.abc import Collection, Sequence

import msgpack

from viva.examiner.catalog import TestFunction, resolve
from viva.model.score import test_of


def changed_tests(functions: Sequence[TestFunction], changed_cases: Collection[str], *, other_load: bool) -> list[str]:
    """Return the ids of tests that a call log could not answer completely, and of those that depend on them.

    Args:
        functions: all tests, in their order.
        changed_cases: cases that asked something else than was recorded.
        other_load: whether boxes were loaded in another way, so that no answer can be used.
    """
    tests = {test_of(case) for case in changed_cases}
    changed: list[str] = []
    for function in functions:
        needs = {resolve(name, function, functions).test_id for name in function.depends}
        if other_load or function.gpu is not None or function.test_id in tests or needs & {*changed}:
            changed.append(function.test_id)
    return changed


def pack_changed(changed: Sequence[str]) -> bytes:
    """Return the ids of tests as bytes."""
    return bytes(msgpack.packb(list(changed)))


def unpack_changed(data: bytes) -> list[str]:
    """Return the ids that `pack_changed` packed; a replay returns them as its output."""
    return list(msgpack.unpackb(data))
