"""`feedback/<name>.html`: what a student may read of a score, and their notebook with the results next to its cells.

For a hidden test the page shows its question, its points and one fixed sentence: never its name, a case or what went
wrong, wherever the score stores them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final

from viva.config import Assignment
from viva.config.rubric import Rubric
from viva.config.rubric_file import load_rubric
from viva.examiner.outcome import HIDDEN
from viva.formats import escaping
from viva.formats.decimal_points import signed, total_in_words, worth_in_words
from viva.model import Entry, Status
from viva.model.attempt import Attempt, ScoredAttempt
from viva.model.errors import UsageError
from viva.model.hand_grading import SET_BY_HAND, feedback_of
from viva.model.score import in_order
from viva.model.totals import Totals
from viva.plugins.report.notebook_view import NotebookError, ShownCell, show_cells
from viva.plugins.report.rendering import render
from viva.submissions.handout import HandoutQuestion, find_question, handout_questions
from viva.submissions.notebook_cells import about

COPY: Final = "_again"
"""How the id of a hidden test ends that repeats a visible one (`with_other_arguments`)."""
NOT_MARKED: Final = "This test is hidden and not graded yet."
NOT_EXECUTED: Final = (
    "These are the cells that were submitted. They were not executed for this page, and outputs saved in the file are "
    "not shown."
)
EXECUTED: Final = "These are the cells that were submitted, executed by the course, with their outputs."
DEFINED: Final = (
    "These are the cells that were submitted. The course has executed only what in them defines names, as this "
    "assignment says."
)
_CELL: Final = re.compile(r"\bcell (\d{1,5})\b", re.IGNORECASE)
_NAME: Final = re.compile(r"`?([^\W\d]\w{2,80})(?:`|\(| )")
_HEADING: Final = re.compile(r"^#{1,6}[^\n]{0,40}?(?<![\d.])(\d+(?:\.\d+)*[a-z]?)(?![\d.]*\d)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook to show."""

    data: bytes
    executed: bool = False
    """Whether the course has run it."""


@dataclass(frozen=True, slots=True)
class ShownResult:
    """What a student may read of the result of one test."""

    number: str
    name: str
    status: Status
    worth: str
    """`3.5 of 4 points`."""
    message: str
    hidden: bool
    word: str
    symbol: str


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """The results of one question."""

    title: str
    """Number and title."""
    worth: str
    """`3.5 of 4 points`, over all its tests."""
    results: tuple[ShownResult, ...]


def render_page(
    graded: ScoredAttempt, assignment: Assignment, notebook: Notebook | None = None, *, why_none: str = ""
) -> bytes:
    """Render the page of one submission.

    Args:
        graded: the submission with its score.
        assignment: the assignment.
        notebook: the notebook to show; None if there is none.
        why_none: a sentence for the student that says why there is none.

    Raises:
        UsageError: jinja2 or nh3 is not installed.
    """
    score = graded.score
    questions = group_by_question(score.entries, assignment)
    results = [result for question in questions for result in question.results]
    cells: list[ShownCell] = []
    if notebook is not None:
        try:
            cells = show_cells(notebook.data, executed=notebook.executed)
        except NotebookError as error:
            why_none = f"The notebook cannot be shown: {error}."
    by_cell, unplaced = assign_to_cells(results, cells)
    return render(
        "feedback.html.j2",
        assignment=assignment,
        attempt=graded.attempt,
        students=", ".join(student.name or student.id for student in graded.attempt.students),
        score=score,
        questions=questions,
        cells=[(cell, by_cell.get(index, ())) for index, cell in enumerate(cells)],
        unplaced=len(unplaced),
        notebook=notebook if cells else None,
        about=describe_notebook(notebook) if notebook is not None else "",
        why_none=why_none,
    )


def describe_notebook(notebook: Notebook) -> str:
    """Return a sentence that says whether the cells of a notebook were executed."""
    if not notebook.executed:
        return NOT_EXECUTED
    return DEFINED if about(notebook.data).load == "definitions" else EXECUTED


def group_by_question(entries: Sequence[Entry], assignment: Assignment) -> list[ShownQuestion]:
    """Return the results by question, in the order of the numbers; a test and its hidden copy are one result."""
    handout = handout_questions(assignment)
    by_number: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: in_order(entry.number)):
        by_number.setdefault(entry.number, []).append(entry)
    return [
        ShownQuestion(
            _find_title(number, handout), total_in_words(Totals.add_up(own)), tuple(_show_results(own, assignment))
        )
        for number, own in by_number.items()
    ]


def _find_title(number: str, handout: Sequence[HandoutQuestion]) -> str:
    question = find_question(handout, number) if number else None
    if question is None:
        return number
    return f"{number} {question.title}".strip()


def _show_results(entries: Sequence[Entry], assignment: Assignment) -> Iterator[ShownResult]:
    """Yield the results of one question."""
    copies = {entry.test_id.removesuffix(COPY): entry for entry in entries if entry.test_id.endswith(COPY)}
    visible = {entry.test_id for entry in entries if entry.visibility == "visible"}
    for entry in entries:
        copy = copies.get(entry.test_id)
        if entry.test_id.endswith(COPY) and entry.test_id.removesuffix(COPY) in visible:
            continue
        shown = show_result(entry)
        if missing := _list_missing_items(entry, assignment):
            shown = replace(shown, message=f"{shown.message}\n{missing}".strip())
        if copy is not None and not shown.hidden:
            shown = _join_copy(shown, entry, copy)
        yield shown


def _join_copy(shown: ShownResult, entry: Entry, copy: Entry) -> ShownResult:
    """Return the result of a test and of the hidden test that repeats it with other inputs."""
    both = replace(entry, earned=entry.earned + copy.earned, points=entry.points + copy.points)
    if copy.status is Status.PASSED:
        return replace(shown, worth=worth_in_words(both))
    hidden = f"With other, hidden inputs: {copy.word}, {worth_in_words(copy)}."
    if entry.status is not Status.PASSED or copy.status.is_open:
        return replace(shown, message=f"{shown.message}\n{hidden}".strip())
    return replace(
        shown, status=copy.status, word=copy.word, symbol=copy.symbol, worth=worth_in_words(both), message=hidden
    )


def _list_missing_items(entry: Entry, assignment: Assignment) -> str:
    """Return what would have earned more in an answer that a person has graded; empty if nothing would."""
    if not (entry.is_manual and entry.rubric and entry.earned < entry.points):
        return ""
    question = _load_rubric(assignment.folder / "rubric.yaml").question(entry.rubric)
    if question is None:
        return ""
    exclusive = {group.name for group in question.groups if group.exclusive}
    is_chosen = {item.id: escaping.line(item.text, characters=1000) in entry.message for item in question.items}
    decided = {item.group for item in question.items if is_chosen[item.id] and item.group in exclusive}
    more = [i for i in question.items if i.points > 0 and not is_chosen[i.id] and i.group not in decided]
    if not more:
        return ""
    return "\n".join(["Missing for full marks:", *(f"{signed(item.points)}  {item.text}" for item in more)])


@lru_cache(maxsize=8)
def _load_rubric(path: Path) -> Rubric:
    return load_rubric(path)


def show_result(entry: Entry) -> ShownResult:
    """Return what a student may read of the result of a test."""
    hidden = entry.visibility != "visible"
    worth = worth_in_words(entry)
    if not hidden:
        message = "\n".join(filter(None, [entry.message, *feedback_of(entry.staff_message)]))
        return ShownResult(entry.number, entry.name, entry.status, worth, message, hidden, entry.word, entry.symbol)
    message = ""
    if entry.status.is_open:
        message = NOT_MARKED
    elif entry.status is not Status.PASSED:
        message = _describe_hidden(entry)
    return ShownResult(entry.number, "A hidden test", entry.status, worth, message, hidden, entry.word, entry.symbol)


def _describe_hidden(entry: Entry) -> str:
    """Return what a student reads of a hidden test: one sentence, and the author's advice if there is any."""
    first = entry.message.partition("\n")[0]
    return first if first.startswith((HIDDEN, SET_BY_HAND)) else HIDDEN


def assign_to_cells(
    results: Sequence[ShownResult], cells: Sequence[ShownCell]
) -> tuple[dict[int, list[ShownResult]], list[ShownResult]]:
    """Assign results to cells; return them by the index of their cell, and those that belong to no cell.

    A result belongs to the cell that its message names, or else to the cell that defines the name with which the
    message begins, or else to the text cell whose heading has the number of its question.
    """
    by_number = {cell.number: index for index, cell in enumerate(cells) if cell.number}
    by_name: dict[str, int] = {}
    by_heading: dict[str, int] = {}
    for index, cell in enumerate(cells):
        if cell.number:
            for name in re.findall(r"^(?:async +)?(?:def|class) +(\w+)", cell.source, re.MULTILINE):
                by_name[name] = index  # the last definition is the one that was tested
        else:
            for number in _HEADING.findall(cell.source):
                by_heading.setdefault(number, index)
    by_cell: dict[int, list[ShownResult]] = {}
    unplaced: list[ShownResult] = []
    for result in results:
        at = _find_cell(result, by_number, by_name, by_heading)
        (unplaced if at is None else by_cell.setdefault(at, [])).append(result)
    return by_cell, unplaced


def name_page(attempt: Attempt) -> PurePosixPath:
    """Return the path of the page of a submission, relative to the folder of all pages.

    Raises:
        UsageError: the name of the submission leads out of the folder.
    """
    path = PurePosixPath(attempt.name)
    parts = attempt.name.split("/")
    if path.is_absolute() or any(part in ("", ".", "..") for part in parts) or set(attempt.name) & set("\\\0\n\r"):
        raise UsageError(f"The submission {attempt.name!r} cannot give a page its name: a relative path is expected.")
    return path.with_name(f"{path.name}.html")


def _find_cell(
    result: ShownResult, by_number: dict[int, int], by_name: dict[str, int], by_heading: dict[str, int]
) -> int | None:
    if not result.hidden:
        for number in _CELL.findall(result.message):
            if int(number) in by_number:
                return by_number[int(number)]
        if (named := _NAME.match(result.message)) and named[1] in by_name:
            return by_name[named[1]]
    return by_heading.get(result.number)
