# ruff: noqa: E501  (tables of answers, one group to a line)
"""Tables of 0 and 1 in every form that students submit; each cell counts."""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.support.table_rows import Rows
from viva.grading import Disagreement, agree_table

Array = NDArray[Any]


TOKENS = ["Jill", "Birt", "[MASK]", "outdoor", "activities", "He", "was", "[MASK]", "hiking"]
N = len(TOKENS)


def sequence_to_sequence(source: int = 5, target: int = 4) -> Array:
    mask = np.zeros((source + target, source + target), dtype=int)
    mask[:source, source:] = 1
    mask[source:, source:] = np.triu(np.ones((target, target), dtype=int), 1)
    return mask


S2S = sequence_to_sequence()
CAUSAL = np.triu(np.ones((N, N), dtype=int), 1)
NOTHING = np.zeros((N, N), dtype=int)


def markdown(mask: Array, tokens: Sequence[str] = TOKENS, corner: str = "") -> str:
    lines = [f"| {corner} | {' | '.join(tokens)} |", "|---" * (len(tokens) + 1) + "|"]
    return "\n".join(lines + [f"| {t} | {' | '.join(map(str, row))} |" for t, row in zip(tokens, mask, strict=True)])


def lines(mask: Iterable[Any], separator: str = " ") -> str:
    return "\n".join(separator.join(map(str, row)) for row in mask)


def labelled(mask: Array, separator: str = "\t", corner: str = "") -> str:
    rows = [separator.join([corner, *TOKENS])]
    return "\n".join(rows + [separator.join([t, *map(str, row)]) for t, row in zip(TOKENS, mask, strict=True)])


FORMS: dict[str, Callable[[Array], Any]] = {
    "markdown": markdown,
    "markdown with a corner": lambda m: markdown(m, corner="from \\ to"),
    "markdown without outer bars": lambda m: "\n".join(x.strip("| ") for x in markdown(m).splitlines()[2:]),
    "markdown in bold": lambda m: markdown(m, [f"**{t}**" for t in TOKENS]),
    "source document": lambda m: labelled(m),
    "spaces": lines,
    "aligned": lambda m: "\n".join("   ".join(f"{c:>3}" for c in row) for row in m),
    "spaces and labels": lambda m: " ".join(TOKENS) + "\n" + "\n".join(f"{t} {lines([r])}" for t, r in zip(TOKENS, m, strict=True)),
    "commas": lambda m: lines(m, ","),
    "commas and spaces": lambda m: lines(m, ", ") + "\n",
    "trailing commas": lambda m: "\n".join(f"{lines([r], ', ')}," for r in m),
    "commas and labels": lambda m: labelled(m, ","),
    "semicolons": lambda m: lines(m, ";"),
    "Python": lambda m: str(m.tolist()),
    "Python lines": lambda m: "\n".join(str(r) for r in m.tolist()),
    "numpy": repr,
    "numpy print": str,
    "tensor": lambda m: "tensor(" + str(m.tolist()) + ")",
    "True and False": lambda m: str((m == 1).tolist()),
    "code block": lambda m: f"```\n{lines(m)}\n```",
    "blank lines": lambda m: "\n\n" + lines(m).replace("\n", "\n\n"),
    "windows": lambda m: lines(m).replace("\n", "\r\n"),
    "array": lambda m: m,
    "bool array": lambda m: m.astype(bool),
    "float array": lambda m: m.astype(float),
    "lists": lambda m: m.tolist(),
    "tuples": lambda m: tuple(map(tuple, m.tolist())),
    "lists of texts": lambda m: [[str(c) for c in r] for r in m.tolist()],
    "rows of text": lambda m: lines(m).splitlines(),
    "labels in lists": lambda m: [["", *TOKENS], *([t, *r] for t, r in zip(TOKENS, m.tolist(), strict=True))],
    "additive": lambda m: np.where(m == 1, -np.inf, 0.0),
    "additive lists": lambda m: np.where(m == 1, -1e9, 0.0).tolist(),
    "additive text": lambda m: lines(np.where(m == 1, "-inf", "0")),
    "infinity sign": lambda m: markdown(np.where(m == 1, "−∞", "0")),
    "numbered": lambda m: "  ".join(str(i + 1) for i in range(N)) + "\n" + "\n".join(f"{i + 1} {lines([r])}" for i, r in enumerate(m)),
    "full-width digits": lambda m: markdown(m).replace("0", "０").replace("1", "１"),
    "letters for digits": lambda m: markdown(np.where(m == 1, "l", "O")),
    "Cyrillic row label": lambda m: markdown(m).replace("| He |", "| Не |"),
    "crosses": lambda m: markdown(np.where(m == 1, "x", "")),
    "ticks": lambda m: markdown(np.where(m == 1, "", "✓")),
    "ticks and crosses": lambda m: markdown(np.where(m == 1, "✗", "✓")),
    "words": lambda m: markdown(np.where(m == 1, "masked", "visible")),
    "other words": lambda m: markdown(np.where(m == 1, "hidden", "seen")),
}  # fmt: skip


def share_of_cells(answer: Any, mask: Any) -> Fraction:
    """The share of the points that an answer earns."""
    try:
        agree_table(answer, mask)
    except Disagreement as error:
        return error.share or Fraction(0)
    return Fraction(1)


def digits(mask: Array) -> list[str]:
    return ["".join(map(str, row)) for row in mask.tolist()]


DIGITS: dict[str, Callable[[Array], Any]] = {
    "digits": lambda m: "\n".join(digits(m)),
    "a list of digits": digits,
    "as YAML reads rows of digits": lambda m: [row if row[0] == "0" else int(row) for row in digits(m)],
    "large negative numbers": lambda m: (m * -1e9).tolist(),
}


def test_digits_without_spaces() -> None:
    with Rows() as row:
        for mask in (CAUSAL, S2S):
            for form, written in DIGITS.items():
                with row(form):
                    agree_table(written(mask), mask)
                    with pytest.raises(Disagreement, match="is right in"):
                        agree_table(written(sequence_to_sequence(4, 5)), mask)


FOR_A_PERSON: dict[str, Callable[[Array], Any]] = {
    "another size": lambda m: m[:8].tolist(),
    "one more column": lambda m: np.hstack([m, m[:, :1]]),
    "as YAML joins lines": lambda m: " ".join(" ".join(row) for row in digits(m)),
    "marks of their own": lambda m: "\n".join(row.replace("0", ".").replace("1", "M") for row in digits(m)),
    "row 1:": lambda m: "\n".join(f"row {i}: {row}" for i, row in enumerate(digits(m), 1)),
    "remarks": lambda m: "\n".join(f"{row}  # token {i}" for i, row in enumerate(digits(m))),
    "a sentence": lambda m: "The mask is as follows\n" + "\n".join(digits(m)),
    "a dict": lambda m: dict(enumerate(digits(m))),
    "LaTeX": lambda m: r"\begin{bmatrix}" + r" \\ ".join(" & ".join(row) for row in digits(m)) + r"\end{bmatrix}",
}


def test_other_forms_are_left_to_a_person() -> None:
    with Rows() as row:
        for form, written in FOR_A_PERSON.items():
            with row(form), pytest.raises(Disagreement, match="cannot be read as a table") as raised:
                agree_table(written(S2S), S2S)
            assert raised.value.is_unreadable and raised.value.share is None


def test_right_table() -> None:
    with Rows() as row:
        for which, mask in {"sequence to sequence": S2S, "causal": CAUSAL, "one mark": NOTHING}.items():
            for form in FORMS:
                with row(which, form):
                    agree_table(FORMS[form](mask), mask)
                    if which == "one mark":
                        continue
                    assert share_of_cells(FORMS[form](mask), mask) == 1
                    if form not in ("additive", "additive lists", "additive text", "infinity sign"):
                        agree_table(FORMS[form](1 - mask), mask)  # the other polarity


def test_wrong_cell() -> None:
    with Rows() as row:
        for form in [f for f in FORMS if f != "ticks"]:
            with row(form):
                wrong = S2S.copy()
                wrong[6, 2] = 1
                with pytest.raises(Disagreement, match=r"is right in 80 of 81 cells\.$") as raised:
                    agree_table(FORMS[form](wrong), S2S)
                assert re.match(r"The first wrong cell is in row 7.*, column 3", raised.value.feedback)
                assert raised.value.share == Fraction(25, 26) == share_of_cells(FORMS[form](wrong), S2S)


def test_labels_in_the_message() -> None:
    wrong = S2S.copy()
    wrong[5, 2] = 1
    with pytest.raises(Disagreement) as raised:
        agree_table(markdown(wrong), S2S, name="your answer to 3.3")
    assert str(raised.value) == "Your answer to 3.3 is right in 80 of 81 cells."
    assert "row 6 (He), column 3 ([MASK])" in raised.value.feedback


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("0 1 \x10\n0 0 0\n0 0 0", "row 1, column 3 holds `?`;"),
        ("0 1 \u202e2\n0 0 0\n0 0 0", "row 1, column 3 holds `?2`;"),
        ([["x", "y", "z\x1b[2J"], [0, 0, 1], [0, 0, 0], [0, 0, 0]], "is in row 1, column 3 (z?[2J)."),
    ],
)
def test_control_characters(answer: Any, said: str) -> None:
    """A fuzzer found control characters in sentences that name a cell or quote it."""
    with pytest.raises(Disagreement) as raised:
        agree_table(answer, [[0, 0, 0]] * 3)
    told = f"{raised.value}{raised.value.feedback}"
    assert said in told and told.isprintable()


@pytest.mark.parametrize(
    "answer", [{10**5000: [0, 1], 2: [1, 0]}, [[10**5000, 1], [0, 0]], [{10**5000: 0, "b": 1}] * 2]
)
def test_huge_numbers(answer: Any) -> None:
    """str() refuses whole numbers of more than 4,300 digits, which a box may send as well as any other."""
    with pytest.raises(Disagreement) as raised:
        agree_table(answer, [[0, 1], [0, 0]])
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 300


def test_labelled_rows_in_another_order() -> None:
    tokens = ["a", "b", "c", "d"]
    mask = sequence_to_sequence(2, 2)
    order = [2, 0, 3, 1]
    shuffled = markdown(mask[np.ix_(order, order)], [tokens[i] for i in order])
    agree_table(shuffled, markdown(mask, tokens))
    agree_table(shuffled.replace("a", "а"), markdown(mask, tokens))  # a Cyrillic a
    with pytest.raises(Disagreement):
        agree_table(shuffled, mask)


def test_labels() -> None:
    """Labels that occur twice keep their order, and a misspelled one costs nothing."""
    agree_table(markdown(S2S), markdown(S2S))
    agree_table(markdown(S2S).replace("outdoor", "outdor"), markdown(S2S))
    with pytest.raises(Disagreement):
        agree_table(markdown(S2S.T), markdown(S2S))


def test_swapped_polarity_is_refused() -> None:
    agree_table(lines(S2S), S2S, up_to=())
    agree_table((S2S == 1).tolist(), S2S, up_to=())
    for wrong in (1 - S2S, markdown(np.where(S2S == 1, "x", "")), lines(1 - S2S)):
        with pytest.raises(Disagreement):
            agree_table(wrong, S2S, up_to=())
    with pytest.raises(ValueError, match="polarity or nothing"):
        agree_table(S2S, S2S, up_to=("transpose",))


NO_TABLE = [
    ("", "is empty; expected a table"),
    ([], "it has no rows"),
    (5, "write its rows below each other"),
    ([1, 2], "write each of its rows as a list"),
    ([[0, 1], [0]], "row 1 has 2 cells and row 2 has 1"),
    ("0 1\n0", "row 1 has 2 cells and row 2 has 1"),
    (lines(S2S).replace("1", "2", 1), r"row 1, column 6 holds `2`; write 0 or 1"),
    (markdown(np.where(S2S == 1, "x", "0")).replace("x", "", 1), "is empty"),
    (np.zeros((2000, 2000)), "it has the shape"),
    (object(), "write its rows below each other"),
    ([[object()]], "has 1 row and 1 column"),
    (CAUSAL[:3, :3], "has 3 rows and 3 columns; expected 9 rows and 9 columns"),
]


def test_no_table() -> None:
    with Rows() as row:
        for n, (answer, says) in enumerate(NO_TABLE):
            with row(n, says):
                with pytest.raises(Disagreement, match=says) as raised:
                    agree_table(answer, S2S)
                assert str(raised.value).isprintable()
                assert not raised.value.share
                assert share_of_cells(answer, S2S) == 0


def test_all_or_nothing() -> None:
    with pytest.raises(Disagreement) as raised:
        agree_table(S2S.T, S2S, partial=False)
    assert raised.value.share is None
    assert share_of_cells(S2S.T, S2S) == 0


@pytest.mark.parametrize("expected", [[[0, 2]], "", [[0], [1, 0]], "a b\nc d"])
def test_invalid_expected_table(expected: Any) -> None:
    with pytest.raises(ValueError, match="agree_table: the expected table"):
        agree_table([[0, 1]], expected)


LONG = [
    "0 " * 49_000, "-" * 90_000 + "x", "=" * 99_000, "[0," * 30_000, "|" * 99_000, "0," * 49_000, "[" * 90_000, "0\n" * 49_000,
    "\t" * 99_000, " \n" * 40_000, "x" * 10_000_000, ["0 1"] * 500_000, [[0] * 3] * 300_000, {i: [0] for i in range(200_000)},
    [["x" * 5_000_000]], [0, [0]] * 5, "[" + "0e-" * 30_000 + "]",
    "[" + "dtype=00 " * 5_000 + "!", "[dtype=" + "0" * 90_000 + "!",
]  # fmt: skip


def test_hostile_tables_are_fast() -> None:
    with Rows() as row:
        for n, answer in enumerate(LONG):
            with row(n):
                start = time.process_time()
                with pytest.raises(Disagreement) as raised:
                    agree_table(answer, S2S)
                assert time.process_time() - start < 5
                assert len(str(raised.value)) < 300


@given(st.integers(1, 6), st.data())
def test_share_of_cells(n: int, data: st.DataObject) -> None:
    mask = np.triu(np.ones((n, n), dtype=int), 1)
    cells = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda cell: cell[0] != cell[1])
    flips = data.draw(st.sets(cells, max_size=4)) if n > 1 else set()
    answer = mask.copy()
    for i, j in flips:
        answer[i, j] ^= 1
    polarity = data.draw(st.booleans())
    form = data.draw(st.sampled_from(["spaces", "commas", "Python", "array", "lists", "code block"]))
    assert share_of_cells(FORMS[form](1 - answer if polarity else answer), mask) == max(
        1 - Fraction(len(flips), max(n * (n - 1) // 2, 1)), 0
    )


def test_table_of_one_value() -> None:
    for table in (np.zeros_like(S2S), np.ones_like(S2S)):
        assert share_of_cells(table, S2S) == 0
    half = S2S.copy()
    half[:4] = 0
    by_chance, right = max((S2S == 0).sum(), (S2S == 1).sum()), (half == S2S).sum()
    assert share_of_cells(half, S2S) == Fraction(int(right - by_chance), int(81 - by_chance)) > 0


def test_same_table_for_all_questions() -> None:
    causal = np.triu(np.ones((3, 3), dtype=int), 1)
    text = "0 1 1\n0 0 1\n0 0 0"
    with pytest.raises(Disagreement, match="is the same as for the other 2 of these questions") as raised:
        agree_table(causal, causal, beside=[text, causal.tolist()])
    assert raised.value.share == 0
    for other in (None, "", "0 1 1\n0 0 1\n0 0 1", "later"):
        agree_table(causal, causal, beside=[text, other])
