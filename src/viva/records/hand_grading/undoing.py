"""Taking back: a further row says what was said before, and names what it takes back; nothing is deleted.

What is said at a place is a stack. A row that takes an action back takes down that action's row and all above it, so
`undoes` names the first of several autosaves that went together.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from sqlalchemy import Connection

from viva.model.hand_grading import Judgement, Place, Review
from viva.records.hand_grading.decision_rows import Changed, add, backwards, of_action, of_contents, turn_of_markers
from viva.records.store import Reason, Records

_Stacks = dict[Place, list[Review]]


def undo(records: Records, assignment: str, action: str, reason: Reason, round: int) -> list[Review]:
    """Take back the last thing that a marker did in a round, or settled, and that is not taken back yet.

    Actions one after the other that change nothing but the comment at the same places are one sentence while it is
    written, and go together.

    Args:
        records: where it is kept.
        assignment: its name.
        action: a name for this, as for `append`; if it is kept already, its rows are returned.
        reason: who takes back what he or she did.
        round: of the marks.

    Returns:
        The rows that were added, one for each place; none where there is nothing to take back.

    Raises:
        Changed: somebody has said something else at one of these places since; nothing is written.
        UsageError: it cannot be written.
    """
    with turn_of_markers(records) as connection:
        if kept := of_action(connection, assignment, action):
            return kept
        actions = _of_marker(connection, assignment, reason.by, round)
        last = next(actions, None)
        if last is None:
            return []
        stacks, latest = _stacks(connection, assignment, {row.place for row in last})
        if changed := [place for place, stack in stacks.items() if not _is_on_top(stack, last)]:
            raise Changed([latest[place] for place in changed])
        points = {row.place: row.judgement.points for row in last}
        first = _take_down(stacks, last, actions)
        said = [
            (place, stack[-1].judgement if stack else Judgement(points=points[place]))
            for place, stack in stacks.items()
        ]
        return add(connection, assignment, action, said, reason, undoes=first)


def _take_down(stacks: _Stacks, last: list[Review], earlier: Iterator[list[Review]]) -> str:
    """Take an action off the stacks, and the autosaves of the same sentence below it; returns the first of them."""
    first = last
    while _take_off(stacks, first) and (below := next(earlier, None)) is not None:
        there = {row.place for row in below} == set(stacks) and all(_is_on_top(s, below) for s in stacks.values())
        if not there or not all(_is_autosave(stack, below) for stack in stacks.values()):
            break
        first = below
    return first[0].action


def _take_off(stacks: _Stacks, action: list[Review]) -> bool:
    """Take one action off the stacks; returns whether it changed nothing but the comment."""
    is_autosave = all(_is_autosave(stack, action) for stack in stacks.values())
    for stack in stacks.values():
        while _is_on_top(stack, action):
            stack.pop()
    return is_autosave


def _is_on_top(stack: list[Review], action: list[Review]) -> bool:
    return bool(stack) and stack[-1].action == action[0].action


def _is_autosave(stack: list[Review], action: list[Review]) -> bool:
    """Whether the action, on top of the stack, says what is below it, but for the comment."""
    said = [row for row in stack if row.action == action[0].action]
    top = stack[-1].judgement
    below = stack[-1 - len(said)].judgement if len(stack) > len(said) else Judgement(points=top.points)
    return replace(top, comment="", told="") == replace(below, comment="", told="")


def _stacks(connection: Connection, assignment: str, places: Collection[Place]) -> tuple[_Stacks, dict[Place, Review]]:
    """What was said at each place and not taken back, and the latest row there."""
    stacks: _Stacks = {place: [] for place in sorted(places)}
    latest: dict[Place, Review] = {}
    for row in of_contents(connection, assignment, {place.content_hash for place in places}):
        if row.place not in stacks:
            continue
        stack, latest[row.place] = stacks[row.place], row
        if not row.undoes:
            stack.append(row)
            continue
        del stack[next((n for n, said in enumerate(stack) if said.action == row.undoes), len(stack)) :]
    return stacks, latest


def _of_marker(connection: Connection, assignment: str, by: str, round: int) -> Iterator[list[Review]]:
    """What a marker did and has not taken back, from the last to the first."""
    gone: set[str] = set()
    below: dict[Place, str] = {}  # where rows are taken back: the first action that is
    for row in backwards(connection, assignment, by, round):
        if row.undoes:
            gone.add(row.undoes)
            below.setdefault(row.place, row.undoes)
        elif row.action in gone:
            if below.get(row.place) == row.action:
                del below[row.place]
        elif row.place not in below:
            gone.add(row.action)
            yield of_action(connection, assignment, row.action)
