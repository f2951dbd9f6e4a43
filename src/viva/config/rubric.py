"""How written answers are graded: a question has a model answer, and items with points that a marker chooses."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from viva.config.yaml_types import ItemId, SignedPoints, Text, TextOrNothing
from viva.model import Entry
from viva.model.errors import UsageError

NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a marker finds in an answer or misses there, and what it is worth."""

    id: ItemId
    """The item's name in what markers record; of letters, digits, `_`, `-` and `.`."""
    points: SignedPoints
    """What the item is worth; negative for a deduction."""
    text: Text
    """What a marker looks for."""
    group: TextOrNothing = ""
    """The group whose bounds it shares; null for none."""


@dataclass(frozen=True, slots=True)
class Group:
    """Items that count together: within bounds, or one of them alone."""

    name: str
    cap: Fraction | None = None
    """The most that its items are worth together."""
    floor: Fraction | None = None
    """The least; no deduction of the group goes below it."""
    exclusive: bool = False
    """Whether at most one of its items is chosen."""

    def worth(self, points: Iterable[Fraction]) -> Fraction:
        """Return what chosen items of these points are worth together."""
        total = sum(points, NOTHING)
        if self.cap is not None:
            total = min(total, self.cap)
        return total if self.floor is None else max(total, self.floor)

    def most(self, points: Sequence[Fraction]) -> Fraction:
        """Return the most that a marker can give with items of these points."""
        won = [p for p in points if p > 0]
        return self.worth([max(won)] if self.exclusive and won else won)


@dataclass(frozen=True, slots=True)
class Misconception:
    """Something wrong that students often write, and the comment that is ready for it."""

    text: Text
    """What students write."""
    comment: Text
    """What the marker answers."""
    item: TextOrNothing = ""
    """The item that it goes with: a deduction that it brings, or points that it misses; null for none."""


@dataclass(frozen=True, slots=True)
class Question:
    """How one written question is graded."""

    number: str
    title: str
    points: Fraction
    items: tuple[Item, ...]
    groups: tuple[Group, ...] = ()
    model: str = ""
    """The model answer."""
    accept: tuple[str, ...] = ()
    """Other answers that are right as well."""
    note: str = ""
    """What else a marker should know."""
    misconceptions: tuple[Misconception, ...] = ()
    evidence: tuple[str, ...] = ()
    """Tests, by id, function or question number, whose results markers see next to the answer."""
    references: tuple[str, ...] = ()
    """Where to read more."""

    def item(self, identifier: str) -> Item | None:
        """Return the item of that id, None if the question has none."""
        return next((item for item in self.items if item.id == identifier), None)

    def most(self) -> Fraction:
        """Return the most that the items can reach, before it is bounded by the question's points."""
        return sum((group.most([item.points for item in items]) for group, items in self.grouped(self.items)), NOTHING)

    def grouped(self, items: Iterable[Item]) -> Iterator[tuple[Group, list[Item]]]:
        """Yield items by their group; one without a group is alone in one that has no bounds."""
        groups = {group.name: group for group in self.groups}
        members: dict[str, list[Item]] = {}
        for item in items:
            if item.group:
                members.setdefault(item.group, []).append(item)
            else:
                yield Group(""), [item]
        for name, found in members.items():
            yield groups[name], found


@dataclass(frozen=True, slots=True)
class Rubric:
    """Every written question of an assignment, in the order of the file."""

    questions: tuple[Question, ...] = ()

    def question(self, number: str) -> Question | None:
        """Return the question of that number, None if the rubric has none."""
        return next((q for q in self.questions if q.number == number), None)


def earned(question: Question, chosen: Iterable[str]) -> Fraction:
    """Return what an answer earns for which a marker has chosen these items: from 0 to the question's points.

    An item counts once, however often it is named, and the order does not matter.

    Args:
        question: the question that is graded.
        chosen: ids of its items.

    Raises:
        UsageError: an item does not exist, or two of an exclusive group were chosen.
    """
    wanted = set(chosen)
    there = {item.id for item in question.items}
    if unknown := sorted(wanted - there):
        raise UsageError(
            f"Question {question.number} has no rubric item `{unknown[0]:.60}`; there are: "
            f"{', '.join(item.id for item in question.items)}."
        )
    total = NOTHING
    for group, items in question.grouped(item for item in question.items if item.id in wanted):
        if group.exclusive and len(items) > 1:
            raise UsageError(
                f"Question {question.number}: {' and '.join(f'`{item.id}`' for item in items)} exclude each other "
                f"(group `{group.name}`); choose one of them."
            )
        total += group.worth(item.points for item in items)
    return min(max(total, NOTHING), question.points)


def evidence(question: Question, entries: Sequence[Entry]) -> list[Entry]:
    """Return the results of one submission that markers see next to its prose, in the order of the entries.

    A number names all tests of a question. What a person grades is never evidence, graded or not, and no test is listed
    twice.
    """
    return [e for e in entries if not e.rubric and not e.names.isdisjoint(question.evidence)]
