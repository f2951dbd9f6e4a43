"""Several graders at the same records: each grading is done by one of them, and none waits for one that has ended."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import Connection, insert, select, update

from tests.support import samples
from tests.support.wait_until import wait_until
from viva.model.errors import UsageError
from viva.model.reason import Reason
from viva.plugins.records.claims import Claims
from viva.plugins.records.database import writing
from viva.plugins.records.database_tables import claims
from viva.plugins.records.graders import Grader
from viva.plugins.records.store import Records, add_graded


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def graders(records: Records, clock: Clock) -> Iterator[tuple[Claims, Claims]]:
    """Two, whose claims are not renewed while a test runs."""
    with ExitStack() as both:
        yield (
            both.enter_context(Claims(records.engine, lease_s=3600, clock=clock)),
            both.enter_context(Claims(records.engine, lease_s=3600, clock=clock)),
        )


def age(records: Records, seconds: float) -> None:
    """Let all claims end that much earlier, as if time had passed."""
    with records.engine.begin() as connection:
        connection.execute(update(claims).values(until=claims.c.until - seconds))


def end_of_claim(records: Records) -> float:
    with records.engine.connect() as connection:
        return float(connection.execute(select(claims.c.until)).scalar_one())


def test_claim_of_one_grader(records: Records, graders: tuple[Claims, Claims]) -> None:
    one, other = graders
    assert one.take("a", 1) and one.take("b", 2) and other.take("c", 3)
    assert not other.take("a", 1) and not one.take("c", 3)
    assert one.take("a", 1), "it has it already"
    assert other.of_others(["a", "b", "c", "d"]) == dict.fromkeys("ab", Grader.this_process().shown)
    one.give_back("a")
    other.give_back("b")  # not its own: nothing changes
    assert other.take("a", 1) and not other.take("b", 2)


def test_claim_ends_by_itself(records: Records, graders: tuple[Claims, Claims]) -> None:
    one, other = graders
    assert one.take("a", 1)
    age(records, 3599)
    assert not other.take("a", 1)
    age(records, 2)
    assert other.of_others(["a"]) == {} and other.take("a", 1)
    one.give_back("a")
    assert one.of_others(["a"]), "it is the other's now"


def test_clock_that_is_put_back(records: Records, graders: tuple[Claims, Claims]) -> None:
    one, other = graders
    assert one.take("a", 1)
    age(records, -3 * 3600.0)
    assert other.of_others(["a"]) == {} and other.take("a", 1)


def test_claims_are_renewed_and_given_back(records: Records) -> None:
    with Claims(records.engine, lease_s=0.4) as one, Claims(records.engine, lease_s=3600) as other:
        assert one.take("a", 1)
        first = end_of_claim(records)
        wait_until(lambda: end_of_claim(records) > first)
        assert not other.take("a", 1)
    with records.engine.connect() as connection:
        assert connection.execute(select(claims)).all() == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a claim ends by its time")
def test_killed_grader_on_this_machine(records: Records) -> None:
    source = "from viva.plugins.records.graders import Grader; print(Grader.this_process(), flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdin is not None
    holder = process.stdout.readline().strip()
    with Claims(records.engine) as mine:
        with records.engine.begin() as connection:
            until = mine._now(connection) + 30
            connection.execute(insert(claims).values(identity="a", attempt_id=1, holder=holder, until=until))
        assert not mine.take("a", 1) and mine.of_others(["a"])
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and no one has waited for it
        assert mine.of_others(["a"]) == {} and mine.take("a", 1)
    process.communicate()


def test_grader_on_another_machine(records: Records) -> None:
    here = Grader.this_process()
    elsewhere = Grader("far", "another-boot/1", here.pid, "1", "t")
    assert not elsewhere.has_ended and Grader.from_text(str(elsewhere)) == elsewhere
    assert Grader.from_text("") is None and Grader.from_text("a b c d e") is None


def test_claim_ends_with_the_score(records: Records, graders: tuple[Claims, Claims]) -> None:
    one, other = graders
    (number,) = records.add_attempts("small", [(samples.attempt(), "00")])

    def keep(connection: Connection) -> None:
        add_graded(connection, number, samples.score(), samples.made(), Reason("ada"), call_log=b"", once=True)
        one.end(connection, "a")

    def fails() -> None:
        with writing(records.engine) as connection:
            keep(connection)
            raise UsageError("the disk is full")

    assert one.take("a", number)
    with pytest.raises(UsageError, match="the disk is full"):
        fails()
    assert records.current("small") == [] and not other.take("a", number)
    with writing(records.engine) as connection:
        keep(connection)
    assert len(records.current("small")) == 1 and other.take("a", number)
