"""Reads an answer by hand as the form that the assignment declares for it."""

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from viva.compare.answers.choice import read_choice
from viva.compare.answers.formula import read_formula
from viva.compare.answers.number import read_number
from viva.compare.answers.table_text import read_table
from viva.compare.answers.unreadable import Unreadable
from viva.compare.normalize import one_number, plain
from viva.model.answer_form import AnswerForm
from viva.model.counting import counted

_MOST: Final = 1000
"""Elements of a list, and characters of a text."""
_SEPARATORS: Final = (r"\n", ";", r"/|\|", ",")
_QUOTED: Final = re.compile(r"[\"“”„«]([^\"“”„«»\n]+)[\"“”»]")
_AROUND_NUMBERS: Final = re.compile(r"[\[\](){}]|\^?\{?T\}?\s*$")
"""Brackets, and the T of a column that is written as a row."""
_BETWEEN_ROWS: Final = re.compile(r"[\n;]|\]\s*,?")


def is_empty(answer: object) -> bool:
    """Return whether nothing is answered: None, or a text of spaces."""
    return answer is None or (isinstance(answer, str) and not answer.strip())


def read_answer(answer: object, form: AnswerForm) -> Any:
    """Return an answer as its form says; what needs no reading is returned as it was written.

    A choice becomes the declared option, several become a list of them; lists become lists of numbers, texts or
    mappings, and a matrix becomes rows of numbers.

    Raises:
        Unreadable: the answer does not have the form.
    """
    match form.kind:
        case "choice" | "choices":
            return _read_options(answer, form)
        case "number":
            read_number(answer)
        case "formula" | "order":
            read_formula(answer, form.letters)
        case "table":
            _check_size(read_table(answer).shape, form)
        case "matrix":
            return _read_matrix(answer, form)
        case "numbers":
            return [_read_item(item) for item in _read_list(answer, form)]
        case "texts":
            return [_read_text(item) for item in _read_list(answer, form)]
        case "runs":
            return _read_runs(answer)
        case "text":
            return _read_text(answer)
    return answer


def _read_options(answer: object, form: AnswerForm) -> str | list[str]:
    spelled = {next(iter(read_choice(option, frozenset({option})))): option for option in form.options}
    if all(option.isdecimal() for option in spelled):
        answer = str(read_number(answer)[0])  # 50,001 is 50001
    try:
        chosen = read_choice(answer, frozenset(spelled), frozenset(spelled))
    except Unreadable:
        raise Unreadable("write the choice alone, without other words") from None
    if form.kind == "choices":
        return [option for key, option in spelled.items() if key in chosen]
    if len(chosen) != 1:
        raise Unreadable("write one of them")
    return spelled[next(iter(chosen))]


def _read_list(answer: object, form: AnswerForm) -> list[object]:
    answer = plain(answer)
    if isinstance(answer, np.ndarray):
        answer = answer.tolist()
    if isinstance(answer, Mapping):
        answer = list(answer.values())
    if isinstance(answer, str):
        answer = _split(answer, form)
    if not isinstance(answer, list | tuple) or len(answer) > _MOST:
        raise Unreadable(f"write {form.description}")
    if form.length is not None and len(answer) != form.length:
        raise Unreadable(f"it has {counted(len(answer), 'part')}; write {form.description}")
    return list(answer)


def _split(text: str, form: AnswerForm) -> list[str]:
    """Return the parts of a list that is written as one text: the first way of splitting that fits the form."""
    if len(text) > _MOST:
        raise Unreadable(f"it is too long; write {form.description}")
    if form.kind == "numbers":
        text = _AROUND_NUMBERS.sub(" ", text)
        ways = [re.split(r"[,;\n]", text), text.split()]
    else:
        ways = [_QUOTED.findall(text), *(re.split(sign, text) for sign in _SEPARATORS)]
    ways = [[part.strip() for part in way if part.strip()] for way in ways]
    if form.length is None:
        return next((way for way in ways if len(way) > 1), ways[-1])
    return next((way for way in ways if len(way) == form.length), ways[-1])


def _read_item(item: object) -> object:
    """Return a number of a list: as it came, or the value of a text such as 7/15 or 82 %."""
    item = one_number(plain(item))
    readings = read_number(item)
    return float(readings[0]) if isinstance(item, str) else item


def _read_matrix(answer: object, form: AnswerForm) -> list[list[object]]:
    answer = plain(answer)
    if isinstance(answer, str) and len(answer) <= _MOST:
        answer = [row for row in _BETWEEN_ROWS.split(answer) if re.search(r"\d", row)]
    of_rows = AnswerForm("numbers", length=form.size[1] if form.size else None)
    rows = [[_read_item(item) for item in _read_list(row, of_rows)] for row in _read_list(answer, AnswerForm("texts"))]
    if form.size is not None and len(rows) != form.size[0]:
        raise Unreadable(f"it has {counted(len(rows), 'row')}; write {form.description}")
    return rows


def _check_size(shape: tuple[int, int], form: AnswerForm) -> None:
    if form.size is not None and shape != form.size:
        rows, columns = shape
        raise Unreadable(f"it has {counted(rows, 'row')} and {counted(columns, 'column')}; write {form.description}")


def _read_text(answer: object) -> str:
    answer = plain(answer)
    if isinstance(answer, list | tuple) and len(answer) <= _MOST and all(isinstance(part, str) for part in answer):
        answer = " ".join(answer)
    if not isinstance(answer, str) or len(answer) > _MOST:
        raise Unreadable("write it as one short text")
    return answer


def _read_runs(answer: object) -> list[object]:
    answer = plain(answer)
    if isinstance(answer, dict):
        answer = [answer]
    if not isinstance(answer, list | tuple) or not all(isinstance(run, dict) for run in answer):
        raise Unreadable("write a list of runs, each with its values by name, such as {lr: 1e-4, dev: 0.71}")
    return list(answer)
