"""Several graders at the same records: each grading is done by one of them, and none waits for one that has ended."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from tests.support import samples
from tests.support.wait_until import wait_until
from viva.model.errors import UsageError
from viva.model.reason import Reason
from viva.plugins.records.claims import Claims
from viva.plugins.records.database import write_session
from viva.plugins.records.store import NewScore, Records, add_score
from viva.plugins.records.tables import Claim


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
            both.enter_context(Claims(records.engine, claim_s=3600, clock=clock)),
            both.enter_context(Claims(records.engine, claim_s=3600, clock=clock)),
        )


def age(records: Records, seconds: float) -> None:
    """Let all claims end that much earlier, as if time had passed."""
    with records.engine.begin() as connection:
        connection.execute(update(Claim).values(until=Claim.until - seconds))


def end_of_claim(records: Records) -> float:
    with records.engine.connect() as connection:
        return float(connection.execute(select(Claim.until)).scalar_one())


def test_claim_of_one_grader(records: Records, graders: tuple[Claims, Claims]) -> None:
    one, other = graders
    assert one.take("a", 1) and one.take("b", 2) and other.take("c", 3)
    assert not other.take("a", 1) and not one.take("c", 3)
    assert one.take("a", 1), "it has it already"
    assert other.find_others(["a", "b", "c", "d"]) == dict.fromkeys("ab", one.holder)
    one.give_back("a")
    other.give_back("b")  # not its own: nothing changes
    assert other.take("a", 1) and not other.take("b", 2)


def test_claim_ends_by_itself(records: Records, graders: tuple[Claims, Claims]) -> None:
    one, other = graders
    assert one.take("a", 1)
    age(records, 3599)
    assert not other.take("a", 1)
    age(records, 2)
    assert other.find_others(["a"]) == {} and other.take("a", 1)
    one.give_back("a")
    assert one.find_others(["a"]), "it is the other's now"


def test_clock_that_is_put_back(records: Records, graders: tuple[Claims, Claims]) -> None:
    one, other = graders
    assert one.take("a", 1)
    age(records, -3 * 3600.0)
    assert other.find_others(["a"]) == {} and other.take("a", 1)


def test_claims_are_renewed_and_given_back(records: Records) -> None:
    with Claims(records.engine, claim_s=0.4) as one, Claims(records.engine, claim_s=3600) as other:
        assert one.take("a", 1)
        first = end_of_claim(records)
        wait_until(lambda: end_of_claim(records) > first)
        assert not other.take("a", 1)
    with records.engine.connect() as connection:
        assert connection.execute(select(Claim)).all() == []


def test_claim_ends_with_the_score(records: Records, graders: tuple[Claims, Claims]) -> None:
    one, other = graders
    (number,) = records.add_attempts("small", [(samples.attempt(), "00")])

    def keep(session: Session) -> None:
        add_score(session, NewScore(number, samples.score(), samples.made(), Reason("ada")))
        one.end(session, "a")

    def fails() -> None:
        with write_session(records.engine) as session:
            keep(session)
            raise UsageError("the disk is full")

    assert one.take("a", number)
    with pytest.raises(UsageError, match="the disk is full"):
        fails()
    assert records.current("small") == [] and not other.take("a", number)
    with write_session(records.engine) as session:
        keep(session)
    assert len(records.current("small")) == 1 and other.take("a", number)
