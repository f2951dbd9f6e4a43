"""The private parts of pytest are where the examiner expects them, and one module alone touches them."""

import inspect
from typing import Any, Final

import pytest

from tests.support.table_rows import Rows
from viva.examiner import pytest_internals
from viva.examiner.pytest_internals import SEEN_WITH, fresh

HERE: Final = (
    f"pytest {pytest.__version__} has no {{part}}; src/viva/examiner/pytest_internals.py needs it, which was seen with "
    f"pytest {SEEN_WITH[0]} to {SEEN_WITH[-1]}. Find what replaces it there."
)


def test_private_parts_exist(request: pytest.FixtureRequest) -> None:
    item: Any = request.node
    state = getattr(item.session, "_setupstate", None)
    protocol: Any = getattr(pytest_internals, "runtestprotocol", None)
    made = inspect.signature(type(item).__init__).parameters
    teardown = getattr(state, "teardown_exact", None)
    taken_down = inspect.signature(teardown).parameters if teardown else {}
    there = {
        "Function._fixtureinfo": hasattr(item, "_fixtureinfo"),
        "FuncFixtureInfo.name2fixturedefs": isinstance(item._fixtureinfo.name2fixturedefs, dict),
        "Function.originalname": hasattr(item, "originalname"),
        **{f"Function({name}=…)": name in made for name in ("callspec", "fixtureinfo", "originalname")},
        "Session._setupstate": state is not None,
        "SetupState.teardown_exact(nextitem)": list(taken_down) == ["nextitem"],
        "runtestprotocol(log, nextitem)": {"log", "nextitem"} <= set(inspect.signature(protocol).parameters),
    }
    with Rows() as row:
        for part, is_there in there.items():
            with row(part):
                assert is_there, HERE.format(part=part)


@pytest.mark.parametrize("value", [1])
def test_fresh_item(request: pytest.FixtureRequest, value: int) -> None:
    item: Any = request.node
    new: Any = fresh(item)
    assert new is not item and type(new) is type(item)
    assert (new.nodeid, new.originalname, new.callspec.params) == (item.nodeid, item.originalname, {"value": value})
    assert new.obj.__code__ is item.obj.__code__
    assert new.fixturenames == item.fixturenames
    assert "request" not in new.funcargs and "request" in item.funcargs
