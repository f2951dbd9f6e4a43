"""The private parts of pytest that the examiner uses; no other module touches any.

pytest runs each collected test once. The examiner runs it for every submission, so it makes a fresh item each time and
decides itself when fixtures are torn down. pytest has no public way for that. `tests/examiner/test_pytest_internals.py`
checks that these parts are there, and says which one is missing in a pytest that has changed.
"""

from typing import Final

import pytest
from _pytest.runner import runtestprotocol

SEEN_WITH: Final = ("8.2.0", "9.2.0")
"""Versions of pytest with which the tests were run: the oldest that is supported and the one that is pinned."""


def fresh(item: pytest.Function) -> pytest.Function:
    """Return a new item like the collected one: no fixture value, no state of an earlier submission."""
    new: pytest.Function = type(item).from_parent(
        item.parent,
        name=item.name,
        callspec=getattr(item, "callspec", None),
        fixtureinfo=item._fixtureinfo,
        originalname=item.originalname,
    )
    return new


def run_phases(item: pytest.Function, following: pytest.Function | None) -> None:
    """Run setup, body and teardown of one item; what they raise reaches `pytest_runtest_makereport`.

    Args:
        item: a fresh one.
        following: the item that comes next, so that fixtures it shares stay; None tears down everything.
    """
    runtestprotocol(item, log=False, nextitem=following)


def tear_down(item: pytest.Function, following: pytest.Function | None = None) -> None:
    """Tear down the fixtures of the item's session that the following item does not share; without one, all."""
    item.session._setupstate.teardown_exact(following)
