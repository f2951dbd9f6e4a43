"""Leases in the records, which say who grades what, so that several graders share the submissions of a class.

A lease ends by itself, so that a grader that is stopped or cut off holds up the others for a minute; a killed one on
the same machine holds up no one.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from types import TracebackType
from typing import Final, Self

from sqlalchemy import Connection, Engine, delete, or_, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from viva.model.errors import UsageError
from viva.plugins.records.database import insert_or, parts, writing
from viva.plugins.records.database_tables import claims
from viva.plugins.records.graders import Grader

LEASE_S: Final = 60.0
_RENEWALS: Final = 4
"""How often a lease is renewed before it would end."""


class Claims:
    """What one grader grades now; a context manager that gives everything back at its end. Safe to use from threads.

    While PostgreSQL keeps the records, its clock decides; otherwise all graders are on one machine.
    """

    def __init__(self, engine: Engine, *, lease_s: float = LEASE_S, clock: Callable[[], float] = time.time) -> None:
        """Prepare; nothing is claimed yet.

        Args:
            engine: of the records.
            lease_s: how long a claim lasts without being renewed.
            clock: tells the time where the database has no clock of its own.
        """
        self._engine, self._lease_s, self._clock = engine, lease_s, clock
        self.holder: Final = str(Grader.this_process())
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        with contextlib.suppress(UsageError), writing(self._engine) as connection:  # else the leases end by themselves
            connection.execute(delete(claims).where(claims.c.holder == self.holder))

    def take(self, identity: str, attempt_id: int) -> bool:
        """Claim a grading; False if another grader has it.

        Args:
            identity: of the grading: see `Conditions.identity`.
            attempt_id: whose grading it is.

        Raises:
            UsageError: the claim cannot be written.
        """
        return bool(self.take_each({identity: attempt_id}))

    def take_each(self, wanted: Mapping[str, int]) -> set[str]:
        """Claim gradings in one transaction; return the identities of those that no other grader has.

        Args:
            wanted: the attempts, by the identities of their gradings.

        Raises:
            UsageError: the claims cannot be written.
        """
        taken = set()
        with writing(self._engine) as connection:
            now = self._now(connection)
            # A time further ahead than any lease was written before the clock was put back.
            over = or_(claims.c.until <= now, claims.c.until > now + 2 * self._lease_s)
            ended = self._ended(connection, wanted)
            for identity, attempt_id in sorted(wanted.items()):  # in one order, so that no two wait for each other
                row = {"attempt_id": attempt_id, "holder": self.holder, "until": now + self._lease_s}
                free = or_(over, claims.c.holder.in_([self.holder, *ended]))
                statement = insert_or(connection)(claims).values(identity=identity, **row)
                statement = statement.on_conflict_do_update(index_elements=["identity"], set_=row, where=free)
                if connection.execute(statement.returning(claims.c.identity)).scalar() is not None:
                    taken.add(identity)
        if taken:
            self._keep_renewing()
        return taken

    def give_back(self, identity: str) -> None:
        """End a claim of this grader, if it still has it; where that fails, the lease ends by itself."""
        with contextlib.suppress(UsageError), writing(self._engine) as connection:
            self.end(connection, identity)

    def end(self, connection: Connection, identity: str) -> None:
        """End a claim of this grader in an open transaction, if it still has it."""
        mine = (claims.c.identity == identity) & (claims.c.holder == self.holder)
        connection.execute(delete(claims).where(mine))

    def of_others(self, identities: Iterable[str]) -> dict[str, str]:
        """Return which of these gradings other graders have now, each with the grader's name for people."""
        found: dict[str, str] = {}
        with self._engine.connect() as connection:
            now = self._now(connection)
            for part in parts(list(identities)):
                valid = claims.c.until.between(now, now + 2 * self._lease_s) & (claims.c.holder != self.holder)
                rows = connection.execute(
                    select(claims.c.identity, claims.c.holder).where(claims.c.identity.in_(part), valid)
                )
                for row in rows:
                    grader = Grader.from_text(row.holder)
                    if grader is not None and not grader.has_ended:
                        found[row.identity] = grader.shown
        return found

    def _ended(self, connection: Connection, identities: Collection[str]) -> list[str]:
        """Return the holders of claims that are known to have ended."""
        query = select(claims.c.holder).where(claims.c.identity.in_(identities)).distinct()
        graders = map(Grader.from_text, connection.execute(query).scalars())
        return [str(grader) for grader in graders if grader is not None and grader.has_ended]

    def _keep_renewing(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._renew, name="viva claims", daemon=True)
                self._thread.start()

    def _renew(self) -> None:
        while not self._closing.wait(self._lease_s / _RENEWALS):
            # A database that cannot be written now is noticed when a score is kept.
            with contextlib.suppress(UsageError, SQLAlchemyError), writing(self._engine) as connection:
                until = self._now(connection) + self._lease_s
                connection.execute(update(claims).where(claims.c.holder == self.holder).values(until=until))

    def _now(self, connection: Connection) -> float:
        if connection.dialect.name == "postgresql":
            return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
        return self._clock()
