"""Copy the records for research: the same rows, with pseudonyms in place of people.

Names, identifiers, addresses, paths and names of submissions are replaced, also as separate words in texts. Not found
are nicknames, names without their accents, and names inside identifiers of programs (`adas_model`).
"""

import hashlib
import hmac
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Table, insert, select
from sqlalchemy.engine import URL

import viva.sandbox.guest.transport.wire as wire
from viva.gradebook.pseudonyms import Anonymiser
from viva.model import Attempt, Entry, Student
from viva.model.errors import UsageError
from viva.records.database import writing
from viva.records.database_tables import METADATA, attempts
from viva.records.row_packing import attempt_from, attempt_to, pack_score, unpack_score
from viva.records.store import Records
from viva.replay.call_log import DIGEST, CallLog, Exchange
from viva.submissions.classes.people import forms

if TYPE_CHECKING:
    from viva.records.row_packing import StoredRow

_PURPOSE: Final = b"viva: pseudonym in a copy of the records\0"
_LETTERS: Final = 12
_SHORTEST: Final = 3


def anonymised_copy(records: Records, file: Path, secret: bytes) -> int:
    """Write a new SQLite file; the records stay unchanged.

    Args:
        records: the records to copy.
        file: the copy; it must not exist.
        secret: the course's secret; with it people have the same pseudonyms in every copy, and in grades.

    Returns:
        The number of people with pseudonyms.

    Raises:
        UsageError: the file exists already, or cannot be written.
    """
    if file.exists():
        raise UsageError(f"{file} is there already; say another place, or take it away first.")
    part = file.with_name(f".{file.name}.part")
    part.unlink(missing_ok=True)
    try:
        with (
            Records.open(URL.create("sqlite", database=str(part.absolute())), part.parent) as copy,
            records.engine.connect() as source,
            writing(copy.engine) as target,
        ):
            copier = _Copier(source, secret)
            for table in METADATA.sorted_tables:
                copier.copy(source, target, table)
        part.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from None
    finally:
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                part.with_name(part.name + ending).unlink(missing_ok=True)
    return copier.people_count


class _Copier:
    """Replaces names in rows."""

    def __init__(self, source: Connection, secret: bytes) -> None:
        columns = [column for column in attempts.c if column.name not in ("at", "digest")]
        stored = [attempt_from(row) for row in source.execute(select(*columns))]
        people = [student for attempt in stored for student in attempt.students]
        self.people_count = len({student.id for student in people})
        self._secret = secret
        self._people = Anonymiser([*map(_with_name_forms, people), *_words_to_replace(stored)], secret)

    def copy(self, source: Connection, target: Connection, table: Table) -> None:
        """Copy all rows of a table, in order; they keep their numbers."""
        for row in source.execution_options(yield_per=200).execute(select(table).order_by(table.c.id)):
            target.execute(insert(table).values(**{**row._mapping, **self._changed(table.name, row)}))

    def _changed(self, table: str, row: "StoredRow") -> dict[str, object]:
        match table:
            case "attempts":
                return self._attempt(row)
            case "scores":
                return {"identity": None, "score": self._score(row.score), **self._author(row)}
            case "proposed":
                return {"score": self._score(row.score)}
            case "call_logs":
                return {"data": self._call_log(bytes(row.data))}
            case "overrides":
                return {"name": self._token("attempt", row.name), **self._author(row)}
            case "reviews":
                return self._review(row)
        return self._author(row)

    def _author(self, row: "StoredRow") -> dict[str, object]:
        return {"by": self._token("staff", row.by), "why": self._people.text(row.why)}

    def _review(self, row: "StoredRow") -> dict[str, object]:
        return {
            "content_hash": self._hash(row.content_hash),
            "action": self._token("action", row.action),
            "undoes": self._token("action", row.undoes) if row.undoes else "",
            "comment": self._people.text(row.comment),
            "told": self._people.text(row.told),
            **self._author(row),
        }

    def _attempt(self, row: "StoredRow") -> dict[str, object]:
        attempt = attempt_from(row)
        name = self._token("attempt", attempt.name)
        copied = replace(
            attempt,
            name=name,
            path=Path(name),
            students=tuple(self._people.student(student) for student in attempt.students),
            team=self._token("team", attempt.team) if attempt.team else "",
            also={},
        )
        digest = hmac.new(self._secret, _PURPOSE + row.digest.encode(), hashlib.sha256).hexdigest()
        return {**attempt_to(copied), "content_hash": self._hash(row.content_hash), "digest": digest}

    def _score(self, data: bytes) -> bytes:
        """Replace names in texts of students and of graders about them; the assignment's names of tests stay."""
        score, text = unpack_score(data), self._people.text
        leaders = (replace(x, value=text(x.value)) if isinstance(x.value, str) else x for x in score.leaderboard)
        copied = replace(
            score,
            submission=self._token("attempt", score.submission),
            content_hash=self._hash(score.content_hash),
            entries=tuple(map(self._entry, score.entries)),
            notes=tuple(map(text, score.notes)),
            choice=text(score.choice),
            environment=tuple(map(text, score.environment)),
            leaderboard=tuple(leaders),
        )
        return pack_score(copied)

    def _entry(self, entry: Entry) -> Entry:
        text = self._people.text
        cases = (replace(c, message=text(c.message), staff_message=text(c.staff_message)) for c in entry.cases)
        return replace(entry, written=text(entry.written), cases=tuple(cases))

    def _call_log(self, data: bytes) -> bytes:
        old = CallLog.from_bytes(data)
        new = CallLog(old.ready_message, seeds=old.seeds)
        new.loads = [[self._exchange(exchange) for exchange in load] for load in old.loads]
        new.names = [self._exchange(exchange) for exchange in old.names]
        for case, exchanges in old.cases.items():
            new.cases[case] = [self._exchange(exchange) for exchange in exchanges]
        return new.to_bytes()

    def _exchange(self, exchange: Exchange) -> Exchange:
        return Exchange(
            self._message(exchange.question),
            self._message(exchange.reply),
            exchange.ending,
            self._people.text(exchange.why),
        )

    def _message(self, message: bytes) -> bytes:
        """Replace names in the texts of a message; an unreadable message becomes empty."""
        if not message or message.startswith(DIGEST):
            return b"" if not message else DIGEST + bytes.fromhex(self._hash(message.hex()))
        try:
            return b"".join(bytes(part) for part in wire.dump(self._texts(wire.load(message))))
        except (wire.WireError, wire.TooLarge, TypeError):
            return b""

    def _texts(self, value: Any) -> Any:
        """Replace names in every text of plain data, also in files."""
        if isinstance(value, str):
            return self._people.text(value)
        if isinstance(value, bytes):
            try:
                return self._people.text(value.decode()).encode()
            except UnicodeDecodeError:
                return b""  # an archive or an image, which cannot be searched
        if isinstance(value, dict):
            return {self._texts(key): self._texts(item) for key, item in value.items()}
        if isinstance(value, wire.Ref):
            return wire.Ref(value.id, self._people.text(value.type_name), self._people.text(value.text))
        if type(value) in (list, tuple, set, frozenset):
            return type(value)(self._texts(item) for item in value)
        return value

    def _token(self, kind: str, text: str) -> str:
        digest = hmac.new(self._secret, _PURPOSE + f"{kind}\0{text}".encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"{kind}-{digest.hexdigest()[:_LETTERS]}"

    def _hash(self, text: str) -> str:
        """Return a keyed hash: equal for equal contents, but it cannot be computed from the files alone."""
        return hmac.new(self._secret, _PURPOSE + text.encode(), hashlib.sha256).hexdigest()


def _with_name_forms(student: Student) -> Student:
    """Return the student with all forms of the name that files and texts may use: `lovelaceada`, `Lovelace, Ada`."""
    return replace(student, also={**student.also, **{f"form {n}": form for n, form in enumerate(forms(student.name))}})


def _words_to_replace(stored: Iterable[Attempt]) -> list[Student]:
    """List names of submissions and teams, and folders of their paths, as words to replace."""
    words = {word for each in stored for word in (each.name, each.team, str(each.path), *each.also.values())}
    words |= {part for each in stored for part in each.name.split("/")}
    return [Student(word) for word in sorted(words) if len(word) >= _SHORTEST and not word.isdecimal()]
