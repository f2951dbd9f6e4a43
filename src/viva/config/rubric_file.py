"""rubric.yaml: read strictly into the values of rubric.py, or one sentence about what is wrong."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from viva.config.read_config import CourseDocument, read_document, suggest, values_of
from viva.config.rubric import Group, Item, Misconception, Question, Rubric
from viva.config.strict_yaml import Path as Place
from viva.config.yaml_types import (
    STRICT,
    Deduction,
    FilledTuple,
    Points,
    QuestionNumber,
    Text,
    TextOrNothing,
    UniqueTuple,
)


@dataclass(frozen=True, slots=True)
class GroupFile:
    """Items that count together: within bounds, or one of them alone."""

    cap: Points | None = None
    """The most that its items are worth together."""
    floor: Deduction | None = None
    """The least that its items are worth together; no deduction of the group goes below it."""
    exclusive: bool = False
    """Whether at most one of its items is chosen."""


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """How one written question is graded."""

    title: Text
    """What the question asks."""
    points: Points
    """What the question is worth; the items reach exactly this."""
    items: FilledTuple[Item]
    """What a marker finds in an answer or misses there."""
    model: TextOrNothing = ""
    """The model answer."""
    groups: dict[str, GroupFile] = field(default_factory=dict)
    """Items that count together, by the name that the items give as `group`."""
    accept: UniqueTuple[Text] = ()
    """Other answers that are right as well."""
    note: TextOrNothing = ""
    """What else a marker should know."""
    misconceptions: FilledTuple[Misconception] = ()
    """Wrong answers that students often give, with comments that are ready for them."""
    evidence: UniqueTuple[Text] = ()
    """Tests, by id, function or question number, whose results markers see next to the answer."""
    references: UniqueTuple[Text] = ()
    """Where the answer can be read up."""


@dataclass(frozen=True, slots=True)
class RubricFile:
    """rubric.yaml: how written answers are graded."""

    __pydantic_config__ = STRICT

    questions: Annotated[dict[QuestionNumber, QuestionFile], Field(json_schema_extra={"additionalProperties": False})]
    """The questions by their numbers, such as 2.1a."""


def load_rubric(path: Path) -> Rubric:
    """Read a rubric; an assignment without the file has an empty one.

    Raises:
        CourseError: the file is wrong, or a question's items cannot reach its points exactly.
    """
    if not path.exists():
        return Rubric()
    document = read_document(path)
    questions = document.read(RubricFile).questions
    return Rubric(tuple(_question(document, number, written) for number, written in questions.items()))


def _question(document: CourseDocument, number: str, written: QuestionFile) -> Question:
    at: Place = ("questions", number)
    groups = tuple(Group(name, **values_of(group)) for name, group in written.groups.items())
    _check_names(document, at, written)
    question = Question(number=number, **{**values_of(written), "groups": groups})
    _check_reach(document, at, question)
    return question


def _check_names(document: CourseDocument, at: Place, written: QuestionFile) -> None:
    """Refuse two items with one id, and names of groups and items that do not exist."""
    items = [item.id for item in written.items]
    groups = list(written.groups)
    for index, item in enumerate(written.items):
        if item.id in items[:index]:
            raise document.error(
                (*at, "items", index, "id"), f"there are two items `{item.id}`; give each an id of its own."
            )
        if item.group and item.group not in groups:
            raise document.error(
                (*at, "items", index, "group"), f"no group `{item.group}` is declared{suggest(item.group, groups)}"
            )
    for group in groups:
        if group not in {item.group for item in written.items}:
            raise document.error((*at, "groups", group), "no item is in this group; name it in one, or take it out.")
    for index, wrong in enumerate(written.misconceptions):
        if wrong.item and wrong.item not in items:
            raise document.error(
                (*at, "misconceptions", index, "item"), f"there is no item `{wrong.item}`{suggest(wrong.item, items)}"
            )


def _check_reach(document: CourseDocument, at: Place, question: Question) -> None:
    most = question.most()
    if most < question.points:
        raise document.error(at, f"the items reach {most} points at most, expected {question.points}.")
    if most > question.points:
        raise document.error(
            at,
            f"the items reach {most} points, expected {question.points}; put alternatives into a group "
            "with `exclusive: true` or a `cap`.",
        )
