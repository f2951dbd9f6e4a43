"""The questions of a solved notebook, and what of it students are to write.

Questions are found by headings with numbers (`## 2.1 Attention (5 points)`), by otter's raw cells or by nbgrader's
metadata. Students write what is between solution markers. In a notebook without markers, they write every function and
class below a question, and every variable in which viva looks for an answer: `answer_7_2`, `answers`.
"""

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import yaml

from viva.config.yaml_types import as_name
from viva.examiner.fixtures.submission_fixture import ANSWER_VARIABLES
from viva.plugins.authoring.source.solution_markers import solution_lines
from viva.plugins.authoring.source.source_cells import Cell
from viva.submissions.code_names import NOT_PYTHON, Definition

_HEADING: Final = re.compile(
    r"^ {0,3}(?:(?P<rank>#{1,6})[ \t]+(?P<marks>.+)|(?:\*\*|__)(?P<bold>[^*\n]+)(?:\*\*|__)[^\n]*)$", re.M
)
_BOLD_RANK: Final = 3
_ANSWER: Final = re.compile(r"\b(?:answer|solution|response|explanation|discussion|antwort|lösung)", re.IGNORECASE)
"""In the heading of a cell: it does not end the question above it."""
_NUMBER: Final = re.compile(
    r"(?P<word>(?:question|exercise|problem|task|part|aufgabe|q)\b[ \t.:#]*|q(?=\d))?"
    r"\(?(?P<number>\d{1,3}(?:\.\d{1,3})*(?: ?\([a-z](?=\))|[.]?[a-z](?![a-z]))?|(?<![^\s(])[a-z](?=\)))"
    r"\)?[.:)]?(?:\s+|$)(?P<title>.*)",
    re.I,
)
_POINTS: Final = re.compile(
    r"[\[(]?\s*(?:(?P<points>\d+(?:[./]\d+)?)\s*(?:points?|pts?|marks?|punkte?|p)\b\.?"
    r"|\b(?:points?|pts|marks?|punkte)\s*[:=]\s*(?P<after>\d+(?:[./]\d+)?))\s*[\])]?",
    re.IGNORECASE,
)
_GENERATED_ID: Final = re.compile(r"cell-[0-9a-f]{16}")
"""A grade_id that nbgrader chose; the heading above names the question better."""
_OTTER: Final = re.compile(r"#\s*(?P<edge>BEGIN|END)\s+QUESTION\b", re.IGNORECASE)
_OTTER_SOLUTION: Final = re.compile(r"#\s*(?P<edge>BEGIN|END)\s+SOLUTION\b", re.IGNORECASE)
_ANSWER_VARIABLE: Final = re.compile(r"(?:answers?|ans)(?:_\w+)?")
_BEGIN: Final = re.compile(r"^\s*(?:#{1,3}|<!--)\s*BEGIN SOLUTION\b", re.MULTILINE)
_OWN_WORDS: Final = re.compile(rf"{_BEGIN.pattern}|#\s*SOLUTION\b", re.MULTILINE)
"""In a markdown cell: it is the author's own answer."""


@dataclass(slots=True)
class Question:
    """One question, and what of the notebook belongs to it."""

    number: str
    title: str = ""
    points: Fraction | None = None
    """None where the notebook does not say."""
    functions: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    """Variables that students are to set."""
    prose: list[str] = field(default_factory=list)
    """The author's own answer in words: marked cells, or all below the heading if the notebook marks nothing."""
    asked: list[str] = field(default_factory=list)
    """The markdown of its heading, and what is below it."""
    rank: int = 0
    """The rank of its heading, 3 for a line in bold type; another heading of this rank ends its text. 0: none does."""
    ended: bool = False
    """Whether its text has ended. Code below belongs to it all the same, until the next question."""
    cell: Cell | None = None
    """The cell of nbgrader that a person grades, or its task, if it has no heading of its own."""

    @property
    def names(self) -> list[str]:
        """Return the names of all code that it asks for."""
        return [*self.functions, *self.classes, *self.values]

    @property
    def is_written(self) -> bool:
        """Return whether it is answered in words: nothing of it is code."""
        return not self.names


def questions_of(cells: Sequence[Cell]) -> list[Question]:
    """Return the questions in their order; one for each function where the notebook numbers none."""
    marked = has_markers(cells)
    found: list[Question] = []
    current: Question | None = None
    names: dict[str, Question] = {}
    solution = of_otter = False
    for cell in cells:
        if edge := _OTTER_SOLUTION.match(cell.source) if cell.kind == "raw" else None:
            solution = edge["edge"].upper() == "BEGIN"
        if edge := _OTTER.match(cell.source) if cell.kind == "raw" else None:
            of_otter = edge["edge"].upper() == "BEGIN"
        started = _begins(cell) if cell.kind == "raw" or not of_otter else None
        if started is not None and current is not None and _is_of_heading(cell, current):
            current.points = started.points or current.points
            started = None
        if started is not None:
            current = started
            found.append(current)
        if current is None:
            current = Question("")
            found.append(current)
        _take(cell, current, marked=marked, solution=solution, names=names)
    asked = [question for question in found if _is_question(question, found, marked=marked)]
    if not any(question.number for question in asked):
        asked = [single for question in asked for single in ([question] if question.cell else _each_name(question))]
    for question in asked:
        if question.is_written and not marked:
            question.prose = question.asked[1:]
    return _numbered(asked)


def has_markers(cells: Iterable[Cell]) -> bool:
    """Return whether the author has marked what students do not get."""
    return any(
        (cell.kind == "code" and bool(solution_lines(cell.source)))
        or (cell.kind == "markdown" and _BEGIN.search(cell.source) is not None)
        or bool(cell.nbgrader and cell.nbgrader.get("solution"))
        or (cell.kind == "raw" and re.match(r"#\s*BEGIN (QUESTION|SOLUTION)", cell.source, re.IGNORECASE) is not None)
        for cell in cells
    )  # fmt: skip


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree of a cell without its shell lines; None where it is not Python."""
    try:
        return ast.parse(NOT_PYTHON.sub("", source))
    except (SyntaxError, ValueError):
        return None


def _begins(cell: Cell) -> Question | None:
    """Return the question that begins with a cell; None if none does."""
    if cell.kind == "raw":
        return _of_otter(cell.source)
    if cell.nbgrader is not None and (started := _of_nbgrader(cell, cell.nbgrader)):
        return started
    if cell.kind != "markdown":
        return None
    found: Question | None = None
    for match in _HEADING.finditer(cell.source):
        text = (match["marks"] or match["bold"]).strip()
        if question := _of_heading(text, bold=match["marks"] is None):
            line = cell.source[match.start() :].partition("\n\n")[0]
            question.points = question.points or points_in(line)
            question.rank = len(match["rank"] or "") or _BOLD_RANK
            found = question  # of a section and its first question in one cell, the question
    return found


def _of_nbgrader(cell: Cell, about: Mapping[str, object]) -> Question | None:
    """Return the question of a cell of nbgrader, None if it is neither a solution nor a task.

    What nbgrader leaves to a person is found by a heading with a number, which viva writes: the id would not do.
    """
    points, named = _exact(about.get("points")), str(about.get("grade_id") or "")
    if _is_manual(cell):
        title = "" if _GENERATED_ID.fullmatch(named) else re.sub(r"[\W_]+", " ", named).strip().capitalize()
        return Question("", title, points, cell=cell)
    return Question(named or str(cell.number), points=points) if cell.kind == "code" and about.get("solution") else None


def _is_manual(cell: Cell) -> bool:
    """Return whether nbgrader leaves a cell to a person: a task, or an answer with points that defines no function."""
    about = cell.nbgrader or {}
    if not (about.get("task") or (about.get("solution") and about.get("grade"))) or not _exact(about.get("points")):
        return False
    tree = parsed(cell.source) if cell.kind == "code" else None
    return tree is None or not any(isinstance(node, Definition) for node in tree.body)


def _is_of_heading(cell: Cell, current: Question) -> bool:
    """Return whether a solution of nbgrader belongs to the heading above it.

    Code does if its own id says nothing, and what goes to a person if it is the first answer below the heading.
    """
    if not current.rank or not current.number or cell.nbgrader is None:
        return False
    if _is_manual(cell):
        return (
            current.is_written and not current.prose and not (cell.kind == "markdown" and _HEADING.match(cell.source))
        )
    return cell.kind == "code" and _GENERATED_ID.fullmatch(str(cell.nbgrader.get("grade_id"))) is not None


def _of_heading(text: str, *, bold: bool) -> Question | None:
    found = _NUMBER.match(text.strip("* \t"))
    if found is None or (bold and not found["word"] and "." not in found["number"]):
        return None
    title = _POINTS.sub("", found["title"]).strip(" :-–—*#.")
    return Question(re.sub(r"[() ]", "", found["number"]), title, points_in(found["title"]))


def points_in(text: str) -> Fraction | None:
    """Return the points that a heading gives."""
    found = _POINTS.search(text)
    return _exact(found["points"] or found["after"]) if found else None


def _of_otter(source: str) -> Question | None:
    found = _OTTER.match(source)
    if found is None or found["edge"].upper() == "END":
        return None
    try:
        written = yaml.safe_load(source.partition("\n")[2])
    except yaml.YAMLError:
        written = None
    settings = written if isinstance(written, dict) else {}
    points = settings.get("points")
    if isinstance(points, dict):
        points = points.get("total") or points.get("each")
    if isinstance(points, list):  # one number for each test
        points = sum((_exact(each) or Fraction(0) for each in points), start=Fraction(0))
    return Question(str(settings.get("name") or ""), points=_exact(points))


def _exact(value: object) -> Fraction | None:
    try:
        return Fraction(str(value)) if value is not None and not isinstance(value, bool) else None
    except (ValueError, ZeroDivisionError):
        return None


def _take(cell: Cell, question: Question, *, marked: bool, solution: bool, names: dict[str, Question]) -> None:
    """Note what a cell adds to its question; a name that is defined again belongs to its first question.

    Args:
        cell: the cell.
        question: the question to which it belongs.
        marked: whether the notebook marks what students write.
        solution: whether all of the cell is a solution, because it is between two raw cells of otter.
        names: the question of each name so far.
    """
    if cell.kind == "markdown":
        heading = _HEADING.match(cell.source.lstrip("\n"))
        is_below = bool(question.asked or question.prose)
        if is_below and heading and heading["rank"] and len(heading["rank"]) <= question.rank:
            question.ended |= _ANSWER.search(heading["marks"]) is None
        if question.ended:
            return
        own = solution or (cell.nbgrader is not None and bool(cell.nbgrader.get("solution")))
        (question.prose if own or _OWN_WORDS.search(cell.source) else question.asked).append(cell.source)
        return
    tree = parsed(cell.source) if cell.kind == "code" else None
    if cell.kind == "code" and cell.nbgrader and cell.nbgrader.get("grade") and not cell.nbgrader.get("solution"):
        question.points = (question.points or Fraction(0)) + (_exact(cell.nbgrader.get("points")) or 0)
        return
    for node in tree.body if tree is not None else ():
        if marked and not solution and not _in_region(cell, node):
            continue
        for kind, name in _written_names(node):
            if kind == "values" and (_is_manual(cell) if marked else not is_answer(name, question.number)):
                continue
            if name not in names and not name.startswith("_"):
                names[name] = question
                getattr(question, kind).append(name)


def _in_region(cell: Cell, node: ast.stmt) -> bool:
    """Return whether a statement holds, or is part of, something that students do not get."""
    solutions = solution_lines(cell.source)
    if cell.nbgrader and cell.nbgrader.get("solution") and not solutions:
        return True
    return not solutions.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def is_answer(name: str, number: str) -> bool:
    """Return whether viva looks in a variable of that name for an answer, to this question or to any."""
    spelled = re.sub(r"\W", "_", number)
    return _ANSWER_VARIABLE.fullmatch(name) is not None or name in [form.format(spelled) for form in ANSWER_VARIABLES]


def _written_names(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield what a top-level statement defines: the field of `Question`, and the name."""
    if isinstance(node, ast.ClassDef):
        yield "classes", node.name
    elif isinstance(node, Definition):
        yield "functions", node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (("values", part.id) for part in ast.walk(target) if isinstance(part, ast.Name))


def _is_question(question: Question, others: Sequence[Question], *, marked: bool) -> bool:
    """Return whether students are to do something: write code, or, where points are given, an answer in words.

    "2 (10 points)" above 2.1 and 2.2 sums them up. In a notebook without markers, its code is then given.
    """
    below = [other for other in others if _is_below(other, question)]
    if question.is_written:
        return bool((question.number or question.cell) and question.points) and not below
    parts = [other for other in below if not any(_is_below(each, other) for each in below)]
    total = sum((other.points or Fraction(0) for other in parts), start=Fraction(0))
    return marked or not below or total != question.points


def _is_below(part: Question, whole: Question) -> bool:
    """Return whether a question is a part of another by its number, as 2.1 and 2a are of 2."""
    rest = part.number.removeprefix(whole.number)
    return bool(whole.number) and rest != part.number and (rest[:1] == "." or rest[:1].isalpha())


def _each_name(question: Question) -> Iterator[Question]:
    """Yield a question for each name of one that has no number."""
    for kind in ("functions", "classes", "values"):
        for name in getattr(question, kind):
            single = Question("")
            getattr(single, kind).append(name)
            yield single


def _numbered(found: list[Question]) -> list[Question]:
    """Return the questions, each with a number of its own that rubric.yaml can hold."""
    taken: set[str] = set()
    for place, question in enumerate(found, 1):
        own = "" if _GENERATED_ID.fullmatch(question.number) else question.number
        number = as_name(own, str(place))
        again = (f"{number}_{count}" for count in itertools.count(2))
        question.number = number if number not in taken else next(each for each in again if each not in taken)
        taken.add(question.number)
    return found
