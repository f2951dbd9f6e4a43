"""Looking for changes: each version of the bytes once, when it has come to rest."""

import contextlib
import os
from collections.abc import Callable
from fractions import Fraction
from itertools import islice
from pathlib import Path

import pytest

from viva.model import Case, Entry, Score, Status
from viva.model.errors import UsageError
from viva.plugins.selfcheck.watch import changed, look, versions


class Clock:
    """Stands for sleeping: does the next thing that the test wants done meanwhile."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.steps, self.slept = list(steps), 0

    def __call__(self, seconds: float) -> None:
        self.slept += 1
        if self.slept > 60:
            raise StopWatchingError
        if self.steps:
            self.steps.pop(0)()


class StopWatchingError(Exception):
    """The test has seen enough."""


def nothing() -> None:
    """A moment in which no one does anything."""


def seen(path: Path, clock: Clock) -> list[str]:
    """The source of every version that came."""
    found = []
    with contextlib.suppress(StopWatchingError):  # otherwise it goes on forever
        for version in versions(path, sleep=clock):
            found.append(b"".join(f.data for f in version.files).decode())
    return found


def test_each_change_comes_once_when_it_is_at_rest(tmp_path: Path) -> None:
    file = tmp_path / "solution.py"
    file.write_text("1")
    clock = Clock(
        nothing,
        lambda: file.write_text("2 half"),
        lambda: file.write_text("2 whole"),  # before it had come to rest
        nothing,
        nothing,
        lambda: file.write_text("33"),
    )
    assert seen(tmp_path, clock) == ["1", "2 whole", "33"]


def test_touched_file_is_no_change(tmp_path: Path) -> None:
    file = tmp_path / "solution.py"
    file.write_text("1")
    (tmp_path / ".git").mkdir()
    clock = Clock(
        lambda: os.utime(file, ns=(1, 1)),
        nothing,
        nothing,
        lambda: file.write_text("x") and file.write_text("1"),
        nothing,
        lambda: (tmp_path / ".git" / "index").write_text("tools work here"),
        nothing,
    )
    assert seen(tmp_path, clock) == ["1"]


def test_editor_that_replaces_the_file(tmp_path: Path) -> None:
    file, other = tmp_path / "solution.py", tmp_path / "new"
    file.write_text("1")
    other.write_text("22")
    clock = Clock(lambda: file.unlink(), nothing, nothing, lambda: other.rename(file), nothing)
    assert seen(file, clock) == ["1", "22"]


def test_there_must_be_something_to_begin_with(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        list(islice(versions(tmp_path / "none.py"), 1))


def test_circle_of_links(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("1")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [Path(path).name for path, _, _ in look(tmp_path)] == ["a.py", "loop"]
    assert look(tmp_path / "nothing") == ()


def score(*entries: tuple[str, Status, str]) -> Score:
    made = [
        Entry(i, i, i, "visible", status, Fraction(0), Fraction(1), (Case("", status, Fraction(0), Fraction(1), said),))
        for i, status, said in entries
    ]
    return Score("s", "", "a", 1, tuple(made))


def test_changed_tests() -> None:
    before = score(("same", Status.FAILED, "no"), ("other words", Status.FAILED, "no"), ("mended", Status.FAILED, "no"))
    now = score(
        ("same", Status.FAILED, "no"),
        ("other words", Status.FAILED, "not yet"),
        ("mended", Status.PASSED, ""),
        ("new", Status.PASSED, ""),
    )
    assert [entry.test_id for entry in changed(before, now)] == ["other words", "mended", "new"]
