"""Locks by which one test runs alone; two objects in one process stand for two examiners."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from viva.examiner.turns import Turns

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no such locks")


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Turns, Turns]]:
    """Return the locks of two examiners."""
    first, second = Turns(tmp_path), Turns(tmp_path)
    yield first, second
    first.close()
    second.close()


def quiet(_text: str) -> None:
    """Ignore progress."""


def test_shared_turns(two: tuple[Turns, Turns]) -> None:
    with two[0].shared(quiet), two[1].shared(quiet):
        pass


def test_alone_waits_for_others(two: tuple[Turns, Turns]) -> None:
    order, waits, told = list[str](), threading.Event(), list[str]()

    def tell(text: str) -> None:
        told.append(text)
        waits.set()

    def be_alone() -> None:
        with two[1].alone(tell):
            order.append("alone")

    thread = threading.Thread(target=be_alone)
    with two[0].shared(quiet):
        thread.start()
        assert waits.wait(30)
        order.append("shared")
    thread.join()
    assert order == ["shared", "alone"]
    assert "waiting until other tests have ended" in told[0]


def test_alone_is_not_overtaken_for_ever(two: tuple[Turns, Turns], tmp_path: Path) -> None:
    """Tests that begin all the time would otherwise keep it waiting."""
    waits, alone, left = threading.Event(), threading.Event(), threading.Event()

    def be_alone() -> None:
        with two[1].alone(lambda _: waits.set()):
            alone.set()
            assert left.wait(30)

    thread = threading.Thread(target=be_alone)
    late = Turns(tmp_path, most_wait_s=0.1)
    with two[0].shared(quiet):
        thread.start()
        assert waits.wait(30)
        with late.shared(quiet):  # it runs in the end, because nothing waits forever, but without the lock
            assert not alone.is_set()
    assert alone.wait(30)
    left.set()
    thread.join()
    late.close()


def test_shared_waits_for_alone(two: tuple[Turns, Turns]) -> None:
    """Whoever waits for it would take it for hanging otherwise: the other test may take minutes."""
    told, waits = list[str](), threading.Event()

    def tell(text: str) -> None:
        told.append(text)
        waits.set()

    def run() -> None:
        with two[1].shared(tell):
            pass

    thread = threading.Thread(target=run)
    with two[0].alone(quiet):
        thread.start()
        assert waits.wait(30)
    thread.join()
    assert "waiting until the test of another submission, which is asked alone, has ended" in told[0]


def test_alone_within_shared(two: tuple[Turns, Turns]) -> None:
    with two[0].shared(quiet):
        with two[0].alone(quiet), two[0].alone(quiet), two[0].shared(quiet):
            pass
        with two[1].shared(quiet):
            pass
    with two[1].alone(quiet):
        pass


def test_closed_turns_hold_nothing(two: tuple[Turns, Turns]) -> None:
    held = two[0].alone(quiet)
    held.__enter__()
    two[0].close()
    with two[1].alone(quiet):
        pass


@pytest.mark.parametrize("name", ["queue", "tests"])
def test_turns_without_lock(tmp_path: Path, name: str) -> None:
    """Somebody may have put another file there."""
    target = tmp_path / "target"
    target.write_text("as it was", "utf-8")
    (tmp_path / f"viva-{name}-{os.getuid()}.lock").symlink_to(target)
    turns, other = Turns(tmp_path), Turns(tmp_path)
    with turns.alone(quiet), other.shared(quiet), turns.alone(quiet):
        pass
    assert target.read_text("utf-8") == "as it was"
