"""The private parts of pytest are where the examiner expects them, and one module alone touches them."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.table_rows import Rows
from viva.examiner import pytest_internals
from viva.examiner.pytest_internals import SEEN_WITH, fresh

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "src" / "viva"
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


def test_seen_versions_are_pin_and_floor() -> None:
    pinned = re.search(r"^pytest==(.+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    floor = re.search(r'"pytest>=([\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert pinned and pinned[1] == SEEN_WITH[-1], "run the examiner's tests with the new pin, then name it in SEEN_WITH"
    assert floor and SEEN_WITH[0] == f"{floor[1]}.0", "run the examiner's tests with the new floor, then name it"


def test_private_parts_in_one_module(request: pytest.FixtureRequest) -> None:
    owners = (request, request.node, request.node.parent, request.session, request.config, pytest)
    private = {name for owner in owners for name in dir(owner) if re.match("_[a-z]", name)}
    assert {"_setupstate", "_fixtureinfo", "_fixturemanager"} <= private
    with Rows() as row:
        for path in sorted(ENGINE.rglob("*.py")):
            if path == Path(pytest_internals.__file__):
                continue
            source = path.read_text("utf-8")
            with row(str(path.relative_to(ENGINE))):
                if "pytest" in source:
                    assert not touched(source, private)


@pytest.mark.parametrize(
    "source", ["from _pytest.runner import x", "import _pytest.nodes", "item.session._setupstate", "item._fixtureinfo"]
)
def test_private_parts_are_found_in_every_form(source: str) -> None:
    assert touched(source, {"_setupstate", "_fixtureinfo"})


def touched(source: str, private: set[str]) -> set[str]:
    """The private modules of pytest that a module imports, and the private attributes of others that it names."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names if alias.name.split(".")[0] == "_pytest"}
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] == "_pytest":
                found.add(module)
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name) if name in private:
                found.add(name)
    return found
