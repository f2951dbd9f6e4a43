"""Documents, messages and docstrings keep to plain English: a short list of words that read as translated or clever."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    path
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "assignments/*/*.md",
        "bench/*.md",
        "reference/*.md",
        "tests/**/README.md",
        "src/viva/authoring/templates/**/*.md",
        "src/viva/**/*.j2",
        "src/viva/**/*.html",
        "src/viva/**/*.js",
        "assignments/**/*.yaml",
        "*.y*ml",
        "*.toml",
        "*.cff",
        "Makefile",
        "Dockerfile",
        ".ci/*",
        ".github/**/*.yml",
        "ci/**/*.py",
        "ci/**/*.y*ml",
    )
    for path in sorted(ROOT.glob(pattern))
]
# Each pattern, and what to write instead. Code between backticks and in blocks is not read.
_IS_NO = r"(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|one\b|different\b)\w+"
AVOID = {
    r"\bnobody\b": "no one",
    r"\banew\b": "again",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bbeside\b(?!:)": "next to, with, besides",
    r"\bin vain\b": "name what is missing",
    r"(?<!by )\bhand(?:s|ed|ing)? in\b(?! nothing)": "submit",
    r"\b(?:deliver(?:y|ies|ed)|hand-ins?)\b": "submission",
    _IS_NO: "is not a …, or there is no …",
    r"\bfor ever\b": "forever",
    r"\bstands? (?:in|at|above|below|under|for)\b": "is in, is at, means",
    r"\bof (?:ours|yours|theirs)\b|\bof the course's\b(?! \w)": "our, your, the course's",
    r"\b(?:walls?(?! (?:seconds|time|clock)|-clock)|doors?|gates?)\b": "isolation layer, connection, escaping",
    r"\bmarkers? marks?\b|\bmarks? (?:of|for) (?:a|the|each) (?:student|question)": "grade, points",
}  # fmt: skip
READ = {ROOT / "src/viva/review/wording.py"}
"""It lists words that it looks for in answers."""
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`|\]\([^)]*\)|^#+ [^\n]*$", re.MULTILINE | re.DOTALL)


def prose(text: str) -> str:
    """The text without code, link targets and headings; line breaks stay, so that a line can be named."""
    return CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def avoided(text: str) -> list[str]:
    """Each word or construction of the list in a text, with its line and what to write instead."""
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1}: {' '.join(match[0].split())!r}; write: {better}"
        for pattern, better in AVOID.items()
        for match in re.finditer(pattern, text, re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_reads_as_a_native_writer_would_write(page: Path) -> None:
    assert avoided(prose(page.read_text("utf-8"))) == []


def test_messages_and_docstrings_do_too() -> None:
    found = [
        f"{path.relative_to(ROOT)}, line {node.lineno}: {complaint}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        if path not in READ
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
        for complaint in avoided(prose(node.value))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("This is no notebook.", True),
        ("# A title\n\nThis is no notebook.", True),
        ("There is no notebook.", False),
        ("Nobody is asked.", True),
        ("No one is asked.", False),
        ("Run `make` in the folder beside it.", True),
        ("`nobody` is a user name.", False),
        ("Files lie next to the notebook.", False),
    ],
)
def test_the_list_finds_what_it_names(sentence: str, found: bool) -> None:
    assert any(re.search(pattern, prose(sentence), re.IGNORECASE) for pattern in AVOID) == found
