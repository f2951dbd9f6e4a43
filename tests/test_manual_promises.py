"""Every paragraph and row of two manuals has tests that keep what it promises (tests/sandbox does it for the third).

A paragraph that is new or begins otherwise fails here until someone says which test keeps it.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from rows import Rows

TESTS = Path(__file__).parent
DOCS = TESTS.parent / "docs"
MANUALS: dict[str, dict[str, list[str]]] = yaml.safe_load((TESTS / "manual_promises.yaml").read_text("utf-8"))


def paragraphs(manual: str) -> list[str]:
    """Paragraphs, items and rows, each in one line; no headings and no code."""
    text = re.sub(r"^```.*?^```$", "", (DOCS / manual).read_text("utf-8"), flags=re.M | re.S)
    parts = [each for part in re.split(r"\n\s*\n", text) for each in re.split(r"\n(?=- |\| )", part.strip())]
    lines = [" ".join(part.split()) for part in parts]
    return [line for line in lines if line and not line.startswith("#")]


@cache
def names_in(file: Path) -> set[str]:
    """The names of the tests in a file."""
    nodes = ast.walk(ast.parse(file.read_text("utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@pytest.mark.parametrize("manual", MANUALS)
def test_every_paragraph_says_which_test_keeps_it(manual: str) -> None:
    kept = MANUALS[manual]
    with Rows() as row:
        for line in paragraphs(manual):
            with row(line[:60]):
                assert [begin for begin in kept if line.startswith(begin)]
        for begin, tests in kept.items():
            with row(begin):
                assert [line for line in paragraphs(manual) if line.startswith(begin)], "nothing begins so"
                for test in tests:
                    file, _, name = test.partition("::")
                    assert name in names_in(TESTS / file), test
