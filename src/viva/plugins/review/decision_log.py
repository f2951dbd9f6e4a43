"""The decisions of markers, held in memory as the records store them; a refresh adds what others appended."""

import heapq
import threading
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from operator import attrgetter
from typing import Final

from viva.model.hand_grading import APPEAL, FIRST, MARK, SECOND, SETTLED, CurrentDecision, Judgement, Place, Review
from viva.model.reason import Reason
from viva.plugins.records import hand_grading
from viva.plugins.records.store import Records
from viva.plugins.review.written_answers import Key

_number = attrgetter("id")
_MOST_TIMES: Final = 100
"""The number of recent answers from which the time for an answer is estimated."""
_NONE: Final = frozenset[str]()
_COUNTED: Final = ((MARK, FIRST), (MARK, SECOND), (SETTLED, 0))


class DecisionLog:
    """The actions of all markers of one assignment; empty before the first `refresh`. Several threads may use it."""

    def __init__(self, records: Records, assignment: str) -> None:
        self._records, self._assignment = records, assignment
        self._lock = threading.RLock()
        self._latest: dict[Place, Review] = {}
        self._appeals: dict[Key, list[Review]] = {}
        self._done: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        self._last = 0

    # --- reading

    def refresh(self) -> set[Key]:
        """Read the rows that were appended since the last call, and return the answers that they are about."""
        with self._lock:
            if self._last:
                new = hand_grading.since(self._records, self._assignment, self._last)
            else:
                new = hand_grading.latest_rows(self._records, self._assignment)
            self._add(new)
        return {key_of(review.place) for review in new}

    def at(self, place: Place) -> Review | None:
        """Return the latest row for a place."""
        return self._latest.get(place)

    def seen(self, place: Place) -> int:
        """Return the id of the latest row for a place; 0 if there is none."""
        latest = self._latest.get(place)
        return 0 if latest is None else latest.id

    def done(self, question: str, round_: int) -> Set[str]:
        """Return the content hashes of the submissions whose answer is graded in a round."""
        return self._done.get((question, round_), _NONE)

    def standing(self, key: Key) -> CurrentDecision:
        """Return the decision that counts for an answer."""
        places = (Place(*key, kind, round_) for kind, round_ in _COUNTED)
        rows = [self._latest[place] for place in places if place in self._latest]
        return hand_grading.current_decisions(rows).get(key, CurrentDecision(None))

    def settled(self, key: Key) -> Review | None:
        """Return the decision that overrides both rounds."""
        latest = self._latest.get(Place(*key, SETTLED, 0))
        return latest if latest is not None and latest.judgement.done else None

    def appeals(self, key: Key) -> Sequence[Review]:
        """Return the regrade requests for an answer, from the first to the last."""
        return self._appeals.get(key, ())

    def appealed(self) -> dict[Key, bool]:
        """Return the answers with a regrade request, and whether the last request still waits for a decision."""
        with self._lock:
            return {key: self._waits(key) for key in self._appeals}

    def waits(self, key: Key) -> bool | None:
        """Return whether a regrade request waits for a decision; None if there is no request for the answer."""
        with self._lock:
            return self._waits(key) if key in self._appeals else None

    def times(self, question: str, by: str, round_: int) -> list[str]:
        """Return the most recent times at which a marker finished answers to a question, in ascending order."""
        with self._lock:
            rows = [self._latest[Place(hash_, question, MARK, round_)] for hash_ in self.done(question, round_)]
        return sorted(row.at for row in heapq.nlargest(_MOST_TIMES, (r for r in rows if r.by == by), key=_number))

    def comments(self, question: str, round_: int) -> list[str]:
        """Return the comments of one round on answers to a question; the other round's would reveal its grades."""
        with self._lock:
            rows = [
                row
                for p, row in self._latest.items()
                if p.question == question and p.kind == MARK and p.round == round_
            ]
        return [row.judgement.comment for row in rows if row.judgement.done and row.judgement.comment]

    def differing(self) -> list[Key]:
        """Return the answers to which two markers gave different points that are not settled yet."""
        with self._lock:
            both = [
                (hash_, question)
                for (question, round_), hashes in self._done.items()
                if round_ == SECOND
                for hash_ in hashes & self.done(question, FIRST)
            ]
        return [key for key in both if self.standing(key).why_open]

    def current(self) -> list[Review]:
        """Return the latest row of every place in every round, without regrade requests."""
        with self._lock:
            return [row for row in self._latest.values() if row.place.kind != APPEAL]

    def history(self, key: Key) -> list[Review]:
        """Return every row about an answer, including those that were replaced."""
        return hand_grading.history(self._records, self._assignment, *key)

    # --- adding

    def append(
        self,
        judgements: Sequence[tuple[Place, Judgement]],
        reason: Reason,
        *,
        action: str = "",
        seen: Mapping[Place, int] | None = None,
    ) -> list[Review]:
        """Append one action; a judgement that equals the current one of its place is left out.

        Args:
            judgements: places, and the judgement of each.
            reason: who decides, and why.
            action: the name of the action. A second action of the same name is a repetition whose reply was lost.
            seen: the row that the marker has seen for each place; see `DecisionLog.seen`.

        Returns:
            The rows that hold the judgements, in the order of `judgements`. Other markers may have added later rows.

        Raises:
            Changed: another marker has added a row for one of the places since; nothing was added.
        """
        with self._lock:
            rows = {place: latest for place, _ in judgements if (latest := self.at(place)) is not None}
            new = [(p, j) for p, j in judgements if p not in rows or rows[p].judgement != j or reason.why]
            if new:
                before = {place: (seen or {}).get(place, self.seen(place)) for place, _ in new}
                stored = self._appended(action or uuid.uuid4().hex, new, reason, before)
                late = [(p, j) for p, j in new if p not in stored or stored[p].judgement != j]
                if late:  # the reply was lost or the browser went back, and the marker has changed the judgement since
                    shown = {place: stored[place].id if place in stored else before[place] for place, _ in late}
                    stored |= self._appended(uuid.uuid4().hex, late, reason, shown)
                rows |= stored
            return [rows[place] for place, _ in judgements]

    def appeal(self, key: Key, request: str, by: str) -> None:
        """Record a regrade request.

        Args:
            key: the answer that the request is about.
            request: the student's words.
            by: the person who records it.

        Raises:
            UsageError: the request is empty.
        """
        place = Place(*key, APPEAL, 0)
        hand_grading.append(
            self._records, self._assignment, uuid.uuid4().hex, [(place, Judgement())], Reason(by, request.strip())
        )
        self.refresh()

    def undo(self, by: str, round_: int) -> list[Review]:
        """Undo a marker's last action, and return the new rows; none if there is nothing to undo.

        Raises:
            Changed: another marker has added a row for one of the places since.
        """
        with self._lock:
            rows = hand_grading.undo(self._records, self._assignment, uuid.uuid4().hex, Reason(by), round_)
            self.refresh()
            return rows

    def _appended(
        self, action: str, judgements: Sequence[tuple[Place, Judgement]], reason: Reason, seen: Mapping[Place, int]
    ) -> dict[Place, Review]:
        rows = hand_grading.append(self._records, self._assignment, action, judgements, reason, seen=seen)
        self.refresh()
        return {row.place: row for row in rows}

    def _add(self, rows: Sequence[Review]) -> None:
        for row in rows:
            place = row.place
            if place.kind == APPEAL:
                self._appeals.setdefault(key_of(place), []).append(row)
            self._latest[place] = row
            if place.kind == MARK:
                finished = self._done[place.question, place.round]
                (finished.add if row.judgement.done else finished.discard)(place.content_hash)
            self._last = max(self._last, row.id)

    def _waits(self, key: Key) -> bool:
        settled = self.settled(key)
        return settled is None or settled.id < self._appeals[key][-1].id


def key_of(place: Place) -> Key:
    """Return the key of the answer that a place belongs to."""
    return place.content_hash, place.question


def place_of(key: Key, round_: int) -> Place:
    """Return the place of the grade of an answer in a round."""
    return Place(*key, MARK, round_)
