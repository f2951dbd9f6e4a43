"""Whatever a box claims, the examiner reads it without failing: its own failure would be a test that costs nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.support.course_of_texts import NAME, handed_in, write_course
from viva.config import Assignment
from viva.examiner.boxes.load import Loader, LoadReport
from viva.examiner.fixtures.student_names import Names
from viva.examiner.load_notes import notes_for_student
from viva.model import Score
from viva.model.errors import BoxError, GraderError, MissingName, StudentRaised
from viva.model.plain import from_plain, to_plain
from viva.proxies.proxies import Remote
from viva.sandbox.guest.transport.message_types import Find, Request

WORDS = [
    "type", "message", "frames", "missing_module", "limit", "line", "errors", "skipped", "printed", "cells", "number",
    "status", "raised", "outputs", "wall_s", "problem", "files", "solution.py", "x.ipynb", "timeout", "ok", "forbidden",
    "lacking", "library", "version", "name",
]  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.builds(pow, st.sampled_from([10, -10]), st.just(5001)),  # too long for Python to write out
    st.floats(),
    st.text(st.characters(codec=None), max_size=5),
    st.binary(max_size=5),
    st.sampled_from(WORDS),
    st.builds(np.zeros, st.integers(0, 3)),  # compared with anything, it answers with an array
)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.lists(inner, max_size=5).map(tuple),
        st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
        st.dictionaries(st.one_of(st.integers(), st.sampled_from(WORDS)), inner, max_size=4),
    ),
    max_leaves=20,
)


@given(PLAIN)
@example([10**5001])
def test_any_claimed_names(claim: Any) -> None:
    assert all(type(name) is str for name in Names(BoxConnection({}, None, [claim]), "student"))
    with pytest.raises(MissingName, match=r"`x` is not defined") as raised:
        Names(BoxConnection({}, None, {"close": claim}), "student")["x"]
    assert len(str(raised.value)) < 500


@pytest.fixture(scope="module")
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    return write_course(tmp_path_factory.mktemp("claims"), tests="", key="").assignment(NAME)


NOTEBOOK = b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "source": "x = 1"}]}'


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(PLAIN, st.just(StudentRaised("E", "[Errno 28]"))), min_size=1, max_size=8))
def test_any_replies_while_loading(assignment: Assignment, replies: list[Any]) -> None:
    turn = iter(range(10**6))

    def ask(op: str, **fields: Any) -> Any:
        reply = replies[next(turn) % len(replies)]
        if isinstance(reply, Exception):
            raise reply
        return reply

    submission = handed_in({"solution.py": "x = 1", "x.ipynb": NOTEBOOK, "more.zip": b"PK"})
    try:
        report = Loader(submission, assignment, {}).load(ask, lambda: 100.0)
    except BoxError:
        return
    except GraderError:  # no room for a submission this small: the machine is full
        if not any(isinstance(reply, StudentRaised) for reply in replies):
            raise
        return
    assert type(report) is LoadReport
    score = Score("ada", "0", NAME, 1, (), notes=notes_for_student(submission, report))
    assert from_plain(Score, to_plain(score)) == score
    assert all(type(note) is str and len(note) < 20_000 for note in score.notes)


@pytest.mark.parametrize("name", ["raised", "status", "skipped", "number", "outputs"])
def test_array_in_place_of_a_word(assignment: Assignment, name: str) -> None:
    """Compared with a word it answers with an array, which is neither true nor false."""
    cell = {"number": 1, "status": "ok", "raised": None, "outputs": [], "skipped": "", name: np.zeros(3)}
    submission = handed_in({"x.ipynb": NOTEBOOK})
    report = Loader(submission, assignment, {}).load(lambda op, **fields: {**cell, "forbidden": []}, lambda: 100.0)
    assert notes_for_student(submission, report) == ()


def test_what_is_listed_after_unpacking_is_loaded(assignment: Assignment, tmp_path: Path) -> None:
    asked = []

    def ask(request: Request, **limits: Any) -> Any:
        asked.append((request.op, request.fields().get("path")))
        listed = [["hw/solution.py", 5], ["hw/notes.txt", 3], ["more.zip", 2]]
        return listed if request.op == "files" else {"errors": []}

    report = Loader(handed_in({"more.zip": b"PK"}), assignment, {}).load(ask, lambda: 100.0)
    assert report.files == {"hw/solution.py": 5, "hw/notes.txt": 3}
    assert ("load_module", "hw/solution.py") in asked and report.loaded == ["hw/solution.py"]


class BoxConnection:
    """A box that says what it has, and remembers the questions; `claim` takes the place of every reply."""

    def __init__(self, has: dict[str, str], told: Any, claim: Any = None) -> None:
        self.generation = 1
        self.asked: list[tuple[str, bool]] = []
        self._has, self._told, self._claim = has, told, claim

    def ask(self, request: Request, *, subject: str = "", generation: int | None = None) -> Any:
        if self._claim is not None:
            return self._claim
        assert isinstance(request, Find)
        self.asked.append((subject, request.more))
        kind = self._has.get(subject, "")
        return {"found": bool(kind), "callable": kind == "function", "kind": kind, "close": [], "more": self._told}

    def asks_twice(self, name: str) -> bool:
        return False

    def answered_differently(self, name: str) -> None: ...

    def load_more(self) -> bool:
        return False

    def release(self, generation: int, ref_id: int) -> None: ...


def test_functions_are_looked_up_once_per_box() -> None:
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


def test_contains_asks_each_time() -> None:
    """A test may have set it, and the next one has not."""
    connection = BoxConnection({"f": "function"}, ["f"])
    names = Names(connection, "student")
    assert "f" in names and "f" in names and "i" not in names and "i" not in names
    assert [name for name, _ in connection.asked] == ["f", "f", "i", "i"]


def test_missing_name_tells_nothing_about_others() -> None:
    connection = BoxConnection({"f": "function"}, ["f"])
    names = Names(connection, "student")
    assert "i" not in names and "f" in names
    assert connection.asked == [("i", True), ("f", True)]


def test_nonsense_list_of_functions() -> None:
    for told in (None, 7, {"f": 1}, [None, 3, ["f"], b"f"], [str(number) for number in range(10**4)]):
        connection = BoxConnection({"f": "function"}, told)
        names = Names(connection, "student")
        assert "f" in names and "5000" not in names
