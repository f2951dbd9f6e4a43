"""Claims in the records, which say who grades what, so that several graders share the submissions of a class.

A grader renews its claims while it works. A claim that is not renewed ends by itself, so that a grader that was stopped
or cut off holds up the others for a few seconds.
"""

import contextlib
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final, Self

from sqlalchemy import Engine, delete, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from viva.model.errors import UsageError
from viva.plugins.records.database import split_values, write_session
from viva.plugins.records.tables import Claim

CLAIM_S: Final = 60.0
"""Longer than a transaction that holds the lock on writing, such as a regrade of a large class that is applied."""


class Claims:
    """What one grader grades now; a context manager that gives everything back at its end. Safe to use from threads."""

    def __init__(self, engine: Engine, *, claim_s: float = CLAIM_S, clock: Callable[[], float] = time.time) -> None:
        self._engine, self._claim_s, self._clock = engine, claim_s, clock
        self.holder: Final = f"process {os.getpid()} on {socket.gethostname()} ({secrets.token_hex(4)})"
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="viva claims", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._closing.set()
        self._thread.join()
        with contextlib.suppress(UsageError), write_session(self._engine) as session:  # else they end by themselves
            session.execute(delete(Claim).where(Claim.holder == self.holder))

    def take(self, identity: str, attempt_id: int) -> bool:
        """Claim a grading; False if another grader has it.

        Args:
            identity: of the grading: see `Conditions.identity`.
            attempt_id: whose grading it is.

        Raises:
            UsageError: the claim cannot be written.
        """
        with write_session(self._engine) as session:
            claim = session.get(Claim, identity)
            if claim is not None and claim.holder != self.holder and self._is_valid(claim):
                return False
            until = self._clock() + self._claim_s
            session.merge(Claim(identity=identity, attempt_id=attempt_id, holder=self.holder, until=until))
            return True

    def end(self, session: Session, identity: str) -> None:
        """End a claim of this grader in an open transaction, if it still has it."""
        session.execute(delete(Claim).where(Claim.identity == identity, Claim.holder == self.holder))

    def give_back(self, identity: str) -> None:
        """End a claim of this grader, if it still has it; where that fails, it ends by itself."""
        with contextlib.suppress(UsageError), write_session(self._engine) as session:
            self.end(session, identity)

    def find_others(self, identities: Iterable[str]) -> dict[str, str]:
        """Return which of these gradings other graders have now, each with the grader's name for people."""
        found: dict[str, str] = {}
        with Session(self._engine) as session:
            for part in split_values([*identities]):
                query = select(Claim).where(Claim.identity.in_(part), Claim.holder != self.holder)
                found |= {claim.identity: claim.holder for claim in session.scalars(query) if self._is_valid(claim)}
        return found

    def _is_valid(self, claim: Claim) -> bool:
        """Return whether a claim has not ended; one that ends too late was written before the clock was put back."""
        now = self._clock()
        return now < claim.until <= now + 2 * self._claim_s

    def _renew(self) -> None:
        while not self._closing.wait(self._claim_s / 4):
            # A database that cannot be written now is noticed when a score is kept.
            with contextlib.suppress(UsageError, SQLAlchemyError), write_session(self._engine) as session:
                until = self._clock() + self._claim_s
                session.execute(update(Claim).where(Claim.holder == self.holder).values(until=until))
