"""Undo an action: a new row repeats the previous decision, and names the action that it undoes; nothing is deleted.

The decisions at a place form a stack. A row that undoes an action removes that action's row and all above it, so
`undoes` names the first of several autosaves that are undone together.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from sqlalchemy.orm import Session

from viva.model.hand_grading import Judgement, Place, Review
from viva.model.reason import Reason
from viva.plugins.records.database import write_session
from viva.plugins.records.hand_grading.decision_rows import (
    Changed,
    add_rows,
    read_backwards,
    rows_of_action,
    rows_of_contents,
)
from viva.plugins.records.store import Records

_Stacks = dict[Place, list[Review]]


def undo(records: Records, assignment: str, action: str, reason: Reason, round: int) -> list[Review]:
    """Undo the last action of a marker in a round, or a settled one, that is not undone yet.

    Consecutive actions that only change the comment at the same places are autosaves of one text, and are undone
    together.

    Args:
        records: the records.
        assignment: its name.
        action: a name for this action, as for `append`; if it is stored already, its rows are returned.
        reason: the marker who undoes their own action.
        round: the round of grading.

    Returns:
        The rows that were added, one for each place; none where there is nothing to undo.

    Raises:
        Changed: another marker has changed one of these places since; nothing is written.
        UsageError: it cannot be written.
    """
    with write_session(records.engine) as session:
        if stored := rows_of_action(session, assignment, action):
            return stored
        actions = _read_standing_actions(session, assignment, reason.by, round)
        last = next(actions, None)
        if last is None:
            return []
        stacks, latest = _stacks(session, assignment, {row.place for row in last})
        if changed := [place for place, stack in stacks.items() if not _is_on_top(stack, last)]:
            raise Changed([latest[place] for place in changed])
        points = {row.place: row.judgement.points for row in last}
        first = _take_down(stacks, last, actions)
        judgements = [
            (place, stack[-1].judgement if stack else Judgement(points=points[place]))
            for place, stack in stacks.items()
        ]
        return add_rows(session, assignment, action, judgements, reason, undoes=first)


def _take_down(stacks: _Stacks, last: list[Review], earlier: Iterator[list[Review]]) -> str:
    """Remove an action from the stacks, with the autosaves of the same text below it; return the name of the first."""
    first = last
    while _take_off(stacks, first) and (below := next(earlier, None)) is not None:
        there = {row.place for row in below} == set(stacks) and all(_is_on_top(s, below) for s in stacks.values())
        if not there or not all(_is_autosave(stack, below) for stack in stacks.values()):
            break
        first = below
    return first[0].action


def _take_off(stacks: _Stacks, action: list[Review]) -> bool:
    """Remove one action from the stacks; return whether it only changed the comment."""
    is_autosave = all(_is_autosave(stack, action) for stack in stacks.values())
    for stack in stacks.values():
        while _is_on_top(stack, action):
            stack.pop()
    return is_autosave


def _is_on_top(stack: list[Review], action: list[Review]) -> bool:
    return bool(stack) and stack[-1].action == action[0].action


def _is_autosave(stack: list[Review], action: list[Review]) -> bool:
    """Return whether the action, on top of the stack, differs from what is below it only in the comment."""
    rows = [row for row in stack if row.action == action[0].action]
    top = stack[-1].judgement
    below = stack[-1 - len(rows)].judgement if len(stack) > len(rows) else Judgement(points=top.points)
    return replace(top, comment="", told="") == replace(below, comment="", told="")


def _stacks(session: Session, assignment: str, places: Collection[Place]) -> tuple[_Stacks, dict[Place, Review]]:
    """Return the decisions at each place that are not undone, and the latest row there."""
    stacks: _Stacks = {place: [] for place in sorted(places)}
    latest: dict[Place, Review] = {}
    for row in rows_of_contents(session, assignment, {place.content_hash for place in places}):
        if row.place not in stacks:
            continue
        stack, latest[row.place] = stacks[row.place], row
        if not row.undoes:
            stack.append(row)
            continue
        del stack[next((n for n, above in enumerate(stack) if above.action == row.undoes), len(stack)) :]
    return stacks, latest


def _read_standing_actions(session: Session, assignment: str, by: str, round: int) -> Iterator[list[Review]]:
    """Yield the actions of a marker that are not undone, from the last to the first."""
    gone: set[str] = set()
    below: dict[Place, str] = {}  # where rows are undone: the first action that is
    for row in read_backwards(session, assignment, by, round):
        if row.undoes:
            gone.add(row.undoes)
            below.setdefault(row.place, row.undoes)
        elif row.action in gone:
            if below.get(row.place) == row.action:
                del below[row.place]
        elif row.place not in below:
            gone.add(row.action)
            yield rows_of_action(session, assignment, row.action)
