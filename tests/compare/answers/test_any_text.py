"""Any text is read or refused in one printable sentence, whatever kind of answer is expected."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.grading import Disagreement, agree_choice, agree_formula, agree_number, agree_table

COMPARISONS: dict[str, tuple[Callable[[str], None], str]] = {
    "a choice": (lambda text: agree_choice(text, "C"), "ABCabc ,.;()[]'\"-:\n"),
    "several choices": (lambda text: agree_choice(text, {"A", "C"}), "ABCabc ,.;()[]'\"-:\n"),
    "true or false": (lambda text: agree_choice(text, True), "truefalsyno ,.;()"),
    "a word": (lambda text: agree_choice(text, "encoder"), "encoder ,.;()"),
    "a formula": (lambda text: agree_formula(text, "2*d + 2", ["d"]), "0123456789d().,+-*/^= eσ²√\\{}_"),
    "a number": (lambda text: agree_number(text, 0.123456), "0123456789.,'_ eE+-*/^()%=≈x√·"),
    "a table": (lambda text: agree_table(text, [[0, 1], [0, 0]]), "01|-,; \t\n[]xX✓einf"),
}


@pytest.mark.parametrize("kind", COMPARISONS)
@given(data=st.data())
def test_any_text(kind: str, data: Any) -> None:
    compare, alphabet = COMPARISONS[kind]
    text = data.draw(st.text(max_size=250) | st.text(alphabet, max_size=80))
    try:
        compare(text)
        message = ""
    except Disagreement as error:
        message = str(error)
    assert message.isprintable() and len(message) < 500
