"""Grades as a table: cells survive spreadsheets, changed rows are taken once, and nothing wrong is taken."""

import csv
import io
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.config.rubric import Group, Item, Question, Rubric
from viva.formats import escaping
from viva.model import Attempt
from viva.model.errors import UsageError
from viva.model.hand_grading import SECOND, Judgement, Place
from viva.plugins.review import spreadsheet_cells
from viva.plugins.review.grades_csv import COLUMNS, ReadMark, read_marks, to_csv
from viva.plugins.review.rubric_points import judge
from viva.plugins.review.spreadsheet_cells import cell, text_of
from viva.plugins.review.written_answers import Answer, GradedSubmission, Key, Written

TRICKY = st.text(alphabet=st.one_of(st.sampled_from("'=+-@＝ 12./\t\n\u00a0e"), st.characters()), max_size=30)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=SUM(1)", "'=SUM(1)"),
        ("'=SUM(1)", "''=SUM(1)"),
        ("''=SUM(1)", "'''=SUM(1)"),
        (" =SUM(1)", "' =SUM(1)"),
        ("-5", "'-5"),
        ("2.10", "'2.10"),
        ("1/2", "'1/2"),
        ("Mar 1", "'Mar 1"),
        ("- a list\n- of two", "'- a list\n- of two"),
        ("'tis right", "'tis right"),
        ("a sentence in which 2 numbers are: 1", "a sentence in which 2 numbers are: 1"),
        ("", ""),
        ("'", "'"),
    ],
)
def test_cell_is_quoted(text: str, written: str) -> None:
    assert cell(text) == written
    assert text_of(written) == text


@given(TRICKY)
def test_cell_round_trip(text: str) -> None:
    shown = escaping.terminal(text)
    out = io.StringIO(newline="")
    csv.writer(out).writerow([cell(text), "next"])
    ((first, second),) = csv.reader(io.StringIO(out.getvalue(), newline=""))
    assert (text_of(first), second) == (shown, "next")
    assert text_of(first.replace("\n", "\r\n")) == shown
    assert not first.lstrip(" \u00a0").startswith(("=", "+", "-", "@", "\t", "＝"))


@given(TRICKY)
def test_cell_without_its_quote(text: str) -> None:
    shown = escaping.terminal(text)
    if not shown.startswith("'"):
        assert text_of(shown) == shown


F = Fraction
QUESTION = Question(
    "2.10",
    "Why?",
    F(4),
    (
        Item("why", F(3), "the reason"),
        Item("whole", F(1), "all is said", "scope"),
        Item("part", F(1, 3), "a part is said", "scope"),
        Item("1.0", F(-1), "mixes up the masks"),
    ),
    (Group("scope", exclusive=True),),
)
RUBRIC = Rubric((QUESTION,))
ADA, BO, EVE = ("1" * 64, "2.10"), ("b0" * 32, "2.10"), ("e" * 64, "2.10")


def answer(key: Key, text: str) -> Answer:
    submission = GradedSubmission(Attempt("path", Path("path"), ()), key[0], 1)
    return Answer(key[0], Written(key[1], "test_2.py::test", F(4), text, ""), (submission,))


ANSWERS = {key: answer(key, text) for key, text in {ADA: "=1+1\r\nBecause", BO: "true", EVE: ""}.items()}
MARKED = judge(QUESTION, ["why", "part"], F(0), "Well, well.", F(4), done=True)
DRAFT = judge(QUESTION, [], F(-1, 2), "=SUM(1)", F(4), done=False)
LATEST = {ADA: (7, MARKED), BO: (8, DRAFT)}
Table = list[dict[str, str]]


def opened(data: bytes) -> Table:
    """As a spreadsheet shows it."""
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def saved(rows: Table, **how: Any) -> bytes:
    """As a spreadsheet writes it."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), **how)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def written() -> Table:
    return opened(to_csv(ANSWERS.values(), LATEST))


def read(data: bytes, latest: Mapping[Key, tuple[int, Judgement]] = LATEST) -> list[ReadMark]:
    return read_marks(data, ANSWERS, RUBRIC, latest)


def problem(rows: Table, latest: Mapping[Key, tuple[int, Judgement]] = LATEST) -> str:
    with pytest.raises(UsageError) as raised:
        read(saved(rows), latest)
    first, *problems = str(raised.value).split("\n")
    assert first == "Nothing was taken from the table."
    return "\n".join(problems)


def test_written_table() -> None:
    data = to_csv(ANSWERS.values(), LATEST)
    assert data.startswith(b"\xef\xbb\xbf" + ",".join(COLUMNS).encode() + b"\r\n")
    ada, bo, eve = opened(data)
    assert list(ada.values())[:-1] == [
        "1" * 64, "'2.10", "'=1+1\nBecause", "why part", "", "Well, well.", "yes", "'10/3",
    ]  # fmt: skip
    assert list(bo.values())[:-1] == ["b0" * 32, "'2.10", "true", "", "-0.5", "'=SUM(1)", "", "0"]
    assert list(eve.values()) == ["e" * 64, "'2.10", "", "", "", "", "", "", ""]
    assert ada["seen"].startswith("7-") and bo["seen"].startswith("8-")


def test_unchanged_table() -> None:
    assert read(to_csv(ANSWERS.values(), LATEST)) == []


def test_changed_rows() -> None:
    rows = written()
    rows[0]["adjust"] = "-1/3"
    rows[1]["done"] = "Yes "
    rows[2] |= {"items": "1.0 why", "comment": "- Look.\n- Again.", "done": "yes"}
    assert read(saved(rows)) == [
        ReadMark(Place(*ADA), judge(QUESTION, ["why", "part"], F(-1, 3), "Well, well.", F(4), done=True), 7),
        ReadMark(Place(*BO), judge(QUESTION, [], F(-1, 2), "=SUM(1)", F(4), done=True), 8),
        ReadMark(Place(*EVE), judge(QUESTION, ["why", "1.0"], F(0), "- Look.\n- Again.", F(4), done=True), None),
    ]
    second = read_marks(saved(rows[2:]), ANSWERS, RUBRIC, LATEST, SECOND)
    assert [mark.place for mark in second] == [Place(*EVE, round=SECOND)]


def test_grade_taken_back() -> None:
    rows = written()
    rows[0] |= dict.fromkeys(["items", "comment", "done", "points"], "")
    assert read(saved(rows)) == [ReadMark(Place(*ADA), Judgement(points=F(4)), 7)]


def shuffled(rows: Table) -> bytes:
    return saved([{name: row[name] for name in reversed(row)} for row in reversed(rows)])


@pytest.mark.parametrize(
    "save",
    [
        shuffled,
        lambda rows: saved(rows, delimiter=";"),
        lambda rows: saved(rows, delimiter="\t"),
        lambda rows: saved(rows, quoting=csv.QUOTE_ALL),
        lambda rows: saved(rows, lineterminator="\n"),
        lambda rows: saved(rows, lineterminator="\r", quoting=csv.QUOTE_ALL),
        lambda rows: saved(rows).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
        lambda rows: b"\xef\xbb\xbf" + saved(rows),
        lambda rows: saved(rows) + b"\r\n,,,,,,,,\r\n \r\n",
        lambda rows: saved([row | {"my notes": "later", "": "1"} for row in rows]),
        lambda rows: saved([{name.upper(): cell for name, cell in row.items()} for row in rows]),
        lambda rows: saved([{name: cell for name, cell in row.items() if name != "points"} for row in rows]),
        lambda rows: saved([row | {"answer": row["answer"].lstrip("'").upper()} for row in rows]),
        lambda rows: saved([row | {"question": "2.10", "comment": row["comment"].lstrip("'")} for row in rows]),
        lambda rows: saved([row | {"adjust": row["adjust"].replace(".", ",")} for row in rows]),
    ],
)
def test_spreadsheet_formats(save: Callable[[Table], bytes]) -> None:
    assert read(save(written())) == []
    rows = written()
    rows[1]["done"] = "yes"
    assert [(mark.place, mark.seen, mark.judgement.comment) for mark in read(save(rows))] == [
        (Place(*BO), 8, "=SUM(1)")
    ]


AND_WORTH = "and items and adjust are worth {}; choose items or adjust, and leave points empty."
EDITED = "the answer is not the one that was submitted; leave that column as it was written."
EXCLUSIVE = "Question 2.10: `whole` and `part` exclude each other (group `scope`); choose one of them."


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"submission": "f" * 64}, f"there is no answer to question `2.10` in a submission `{'f' * 64}`."),
        ({"question": "2.1"}, f"there is no answer to question `2.1` in a submission `{'1' * 64}`."),
        ({"answer": "=1+1\nWhy not"}, EDITED),
        ({"answer": ""}, EDITED),
        ({"items": "why what"}, "Question 2.10 has no rubric item `what`; there are: why, whole, part, 1.0."),
        ({"items": "whole part"}, EXCLUSIVE),
        ({"adjust": "some"}, "`some` is not a number of points; write one such as 1, -0.5, 1/2."),
        ({"comment": "x" * 20_001}, "The comment has 20,001 characters; write at most 20,000."),
        ({"done": "maybe"}, "done is `maybe`; write yes, or leave the cell empty."),
        ({"points": "4"}, f"points are 4, {AND_WORTH.format('10/3')}"),
        ({"items": "why", "points": "3.5"}, f"points are 7/2, {AND_WORTH.format(3)}"),
        ({"points": "four"}, "`four` is not a number of points; write one such as 1, -0.5, 1/2."),
        ({"seen": "7"}, "seen is `7`; leave that column as it was written."),
    ],
)
def test_wrong_cell(change: dict[str, str], said: str) -> None:
    rows = written()
    rows[2]["done"] = "yes"
    rows[0] |= change
    assert problem(rows) == f"row 2: {said}"


def test_points_alone() -> None:
    rows = written()
    rows[2]["points"] = "3"
    assert problem(rows).startswith("row 4: points are 3, and items and adjust are worth 0; ")
    rows[2]["points"] = "0"
    assert read(saved(rows)) == []
    rows[0] |= {"items": "why", "points": "3"}
    rows[1] |= {"adjust": "1"}  # with the points of before, which are information only
    assert [mark.judgement.earned for mark in read(saved(rows))] == [3, 1]


def test_duplicate_row() -> None:
    rows = written()
    said = problem([*rows, rows[0]])
    assert said.startswith("row 5: ") and "as row 2" in said and "\n" not in said


def test_stale_row() -> None:
    since = {**LATEST, ADA: (9, DRAFT), EVE: (10, MARKED)}
    stale = "someone graded this answer after the table was written; grade it in a new table."
    rows = written()
    assert read(saved(rows), since) == []  # nothing was changed in the table
    rows[1]["done"] = "yes"
    assert [mark.place for mark in read(saved(rows), since)] == [Place(*BO)]
    rows[0]["comment"] = "Not so well."
    rows[2]["done"] = "yes"
    assert problem(rows, since) == f"row 2: {stale}\nrow 4: {stale}"
    rows = written()
    rows[2] |= {"items": "part why", "comment": "Well, well.", "done": "yes"}  # what the other one has said as well
    assert read(saved(rows), since) == []
    rows[0]["adjust"] = "1"
    assert problem(rows[:1], {}) == f"row 2: {stale}"  # what it was written from is gone


def test_many_problems() -> None:
    keys = [(f"{index:064}", "2.10") for index in range(12)]
    rows = opened(to_csv([answer(key, "") for key in keys], {}))
    said = problem(rows).split("\n")
    assert len(said) == 11 and said[-1] == "and 2 more." and said[9].startswith("row 11: ")


def test_changed_rubric() -> None:
    rubric = Rubric((Question("2.10", "Why?", F(4), QUESTION.items[:1]),))
    rows = written()
    assert read_marks(saved(rows), ANSWERS, rubric, LATEST) == []
    rows[0]["comment"] = "Well."
    with pytest.raises(UsageError, match=r"row 2: Question 2\.10 has no rubric item `part`"):
        read_marks(saved(rows), ANSWERS, rubric, LATEST)
    with pytest.raises(UsageError, match=r"row 2: the rubric has no question `2\.10` any more"):
        read_marks(saved(rows), ANSWERS, Rubric(), LATEST)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "The table is empty; a header is expected: submission, question"),
        (b"\r\n , \r\n", "The table is empty"),
        ("größe".encode("latin-1"), r"The table is not UTF-8 text \(byte 2\); save it as CSV in UTF-8."),
        (b"PK\x03\x04\xff", "The table is not UTF-8 text"),
        (b"submission,question,done\r\n", "The table has no column answer, items, adjust, comment, seen; its header"),
        (",".join([*COLUMNS, "items"]).encode(), "The table has two columns items; keep one of them."),
        (",".join(COLUMNS).encode() + b"\r\n" + b"x" * 200_000, "The table cannot be read"),
        (b"," * (spreadsheet_cells.MOST_CELLS + 1), "The table is larger than 64 MiB or 4,000,000 cells"),
    ],
)
def test_no_table(data: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(data)


def test_huge_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheet_cells, "MOST_BYTES", 1 << 20)
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        read(b"x" * ((1 << 20) + 1))


def test_long_answer_is_cut() -> None:
    key = ("a" * 64, "2.10")
    long = answer(key, "word " * 20_000)
    rows = opened(to_csv([long], {}))
    assert len(rows[0]["answer"]) < 8100
    rows[0]["items"] = "why"
    assert len(read_marks(saved(rows), {key: long}, RUBRIC, {})) == 1


judgements = st.builds(
    lambda items, adjust, comment, done: judge(QUESTION, items, adjust, comment, F(4), done=done),
    st.sampled_from([[], ["why"], ["1.0"], ["why", "whole", "1.0"]]),
    st.fractions(-99, 99, max_denominator=99),
    st.text(alphabet=st.one_of(st.sampled_from("'=+-@＝ 12./\t\r\n\"\u00a0,;"), st.characters()), max_size=60),
    st.booleans(),
)


@given(judgements, st.text(max_size=60))
def test_judgement_round_trip(judgement: Judgement, text: str) -> None:
    asked = {ADA: answer(ADA, text)}
    data = to_csv(asked.values(), {ADA: (3, judgement)})
    assert read_marks(data, asked, RUBRIC, {ADA: (3, judgement)}) == []
    rows = opened(data)
    rows[0]["seen"] = ""
    back = read_marks(saved(rows), asked, RUBRIC, {})
    assert back == ([] if judgement == Judgement(points=F(4)) else [ReadMark(Place(*ADA), judgement, None)])


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    with pytest.raises(UsageError):
        read(data)


HOSTILE = st.text(
    alphabet=st.one_of(st.sampled_from("\",;\t\r\n'=-/0123456789\0"), st.characters(exclude_categories=["Cs"]))
)


@given(st.dictionaries(st.sampled_from(COLUMNS), HOSTILE, min_size=1), st.binary(max_size=20))
def test_any_cell(change: dict[str, str], after: bytes) -> None:
    rows = written()
    rows[0] |= change
    try:
        marks = read(saved(rows) + after)
    except UsageError:
        return
    assert all(isinstance(mark, ReadMark) and mark.place.content_hash in (ADA[0], BO[0], EVE[0]) for mark in marks)
