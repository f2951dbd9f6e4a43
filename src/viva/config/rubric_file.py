"""rubric.yaml: read strictly into the values of rubric.py, or one sentence about what is wrong."""

from pathlib import Path

from viva.config.checks import Expected, name
from viva.config.read_config import CourseDocument, read_document, suggest
from viva.config.rubric import Group, Item, Misconception, Question, Rubric
from viva.config.schema import GROUP, ITEM, MISCONCEPTION, QUESTION, RUBRIC
from viva.config.strict_yaml import Path as Place


def load_rubric(path: Path) -> Rubric:
    """Read a rubric; an assignment without the file has an empty one.

    Raises:
        CourseError: the file is wrong, or a question's items cannot reach its points exactly.
    """
    if not path.exists():
        return Rubric()
    document = read_document(path)
    numbers = document.table(RUBRIC)["questions"]
    return Rubric(tuple(_question(document, number) for number in numbers))


def _question(document: CourseDocument, number: str) -> Question:
    at: Place = ("questions", number)
    try:
        name(number)
    except Expected:
        raise document.error(
            at, "a question's number is made of letters, digits, `_`, `-` and `.`, such as 2.1a."
        ) from None
    written = document.table(QUESTION, at)
    groups = _groups(document, at, list(written["groups"]))
    items = _items(document, at, len(written["items"]), list(groups))
    question = Question(
        number=number,
        title=written["title"],
        points=written["points"],
        items=items,
        groups=tuple(groups.values()),
        model=written["model"] or "",
        accept=written["accept"],
        note=written["note"] or "",
        misconceptions=_misconceptions(document, at, len(written["misconceptions"]), [item.id for item in items]),
        evidence=written["evidence"],
        references=written["references"],
    )
    _check_reach(document, at, question)
    return question


def _groups(document: CourseDocument, at: Place, names: list[str]) -> dict[str, Group]:
    return {name: Group(name, **document.table(GROUP, (*at, "groups", name))) for name in names}


def _items(document: CourseDocument, at: Place, count: int, groups: list[str]) -> tuple[Item, ...]:
    items: list[Item] = []
    for index in range(count):
        here = (*at, "items", index)
        row = document.table(ITEM, here)
        if any(item.id == row["id"] for item in items):
            raise document.error((*here, "id"), f"there are two items `{row['id']}`; give each an id of its own.")
        if row["group"] is not None and row["group"] not in groups:
            raise document.error(
                (*here, "group"), f"no group `{row['group']}` is declared{suggest(row['group'], groups)}"
            )
        items.append(Item(row["id"], row["points"], row["text"], row["group"] or ""))
    used = {item.group for item in items}
    for group in groups:
        if group not in used:
            raise document.error((*at, "groups", group), "no item is in this group; name it in one, or take it out.")
    return tuple(items)


def _misconceptions(document: CourseDocument, at: Place, count: int, items: list[str]) -> tuple[Misconception, ...]:
    found = []
    for index in range(count):
        here = (*at, "misconceptions", index)
        row = document.table(MISCONCEPTION, here)
        if row["item"] is not None and row["item"] not in items:
            raise document.error((*here, "item"), f"there is no item `{row['item']}`{suggest(row['item'], items)}")
        found.append(Misconception(row["text"], row["comment"], row["item"] or ""))
    return tuple(found)


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
