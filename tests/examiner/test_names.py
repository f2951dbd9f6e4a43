"""How often a box is asked for names: once for its functions, once for each other name, and again after a new box."""

from typing import Any

import pytest

from viva.examiner.fixtures.student_names import Names
from viva.model.errors import MissingName
from viva.proxies.proxies import Remote


class BoxConnection:
    """A box that says what it has, and remembers what was asked."""

    def __init__(self, has: dict[str, str], told: Any) -> None:
        self.generation = 1
        self.asked: list[tuple[str, bool]] = []
        self._has, self._told = has, told

    def ask(self, op: str, *, subject: str = "", **fields: Any) -> Any:
        assert op == "find"
        self.asked.append((subject, fields["more"]))
        kind = self._has.get(subject, "")
        return {"found": bool(kind), "callable": kind == "function", "kind": kind, "close": [], "more": self._told}

    def load_more(self) -> bool:
        return False


def test_functions_are_looked_for_once_and_after_a_new_box_again() -> None:
    connection = BoxConnection({"f": "function", "g": "function", "h": "class"}, ["f", "g"])
    names = Names(connection, "student")
    for name in ("f", "g", "h", "g", "h"):
        assert isinstance(names[name], Remote)
    with pytest.raises(MissingName):
        names["i"]
    assert connection.asked == [("f", True), ("h", False), ("i", False)]
    connection.generation = 2
    assert isinstance(names["g"], Remote)
    assert connection.asked[3:] == [("g", True)]


def test_whether_a_name_is_there_is_asked_each_time() -> None:
    """A test may have set it, and the next one has not."""
    connection = BoxConnection({"f": "function"}, ["f"])
    names = Names(connection, "student")
    assert "f" in names and "f" in names and "i" not in names and "i" not in names
    assert [name for name, _ in connection.asked] == ["f", "f", "i", "i"]


def test_a_name_that_is_missing_tells_nothing_about_others() -> None:
    connection = BoxConnection({"f": "function"}, ["f"])
    names = Names(connection, "student")
    assert "i" not in names and "f" in names
    assert connection.asked == [("i", True), ("f", True)]


def test_a_box_that_tells_nonsense_is_asked() -> None:
    for told in (None, 7, {"f": 1}, [None, 3, ["f"], b"f"], [str(number) for number in range(10**4)]):
        connection = BoxConnection({"f": "function"}, told)
        names = Names(connection, "student")
        assert "f" in names and "5000" not in names
