"""answers.yaml: any bytes give a sheet of plain values, each of which can be asked for as any kind of answer."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tests.fuzz.target import Broken, Target, expect, expect_disagreement, expect_sentence, fixtures
from viva.config.strict_yaml import MAX_DEPTH, YamlProblem, read_yaml
from viva.grading import agree_choice, agree_formula, agree_number, agree_table
from viva.submissions.answers_file import as_text, find, read_answers

ASKED: tuple[Callable[[Any], None], ...] = (
    lambda value: agree_choice(value, {"A", "C"}, partial=True),
    lambda value: agree_choice(value, True),
    lambda value: agree_choice(value, ["left to right"]),
    lambda value: agree_number(value, "7/15", hints={"turned round": "15/7"}),
    lambda value: agree_formula(value, "2*d + n", ["d", "n"]),
    lambda value: agree_table(value, np.triu(np.ones((3, 3)), 1)),
)
PLAIN = (type(None), bool, int, float, str)
MOST_ASKED = 12


def check(data: bytes) -> None:
    """Read it as a sheet and as YAML, and ask for its answers."""
    sheet = read_answers(data)
    if sheet.problem:
        expect_sentence(sheet.problem)
    expect(_is_plain(dict(sheet.answers), 0), "an answer that is not plain")
    expect(_is_plain(dict(sheet.written), 0), "prose that is not plain")
    expect(all(type(as_text(value)) is str for value in sheet.written.values()), "prose that is no text")
    for name in sheet.names[:MOST_ASKED]:
        find(sheet.answers, name)
    for value in list(sheet.answers.values())[:MOST_ASKED]:
        for ask in ASKED:
            expect_disagreement(partial(ask, value))
    _strict(data.decode("utf-8", "replace"))


def _strict(text: str) -> None:
    try:
        document = read_yaml(text)
    except YamlProblem as problem:
        expect(problem.text and (problem.line is None or problem.line >= 1), "no problem that can be told")
        return
    expect(set(document.texts) <= set(document.lines), "a value without its line")
    expect(_is_plain(document.value, 0), "a value that is not plain")
    if max(text, default="") > "\uffff":  # JSON writes them as pairs, which YAML does not read
        return
    try:
        again = read_yaml(json.dumps(document.value)).value
    except YamlProblem as problem:
        raise Broken(f"written as JSON, it cannot be read: {problem}") from problem
    expect(_alike(again, document.value), "written as JSON, it is another value")


def _is_plain(value: Any, depth: int) -> bool:
    if type(value) is dict:
        return depth <= MAX_DEPTH and all(type(k) is str and _is_plain(v, depth + 1) for k, v in value.items())
    if type(value) is list:
        return depth <= MAX_DEPTH and all(_is_plain(item, depth + 1) for item in value)
    return type(value) in PLAIN


def _alike(again: Any, value: Any) -> bool:
    """Equal, but for what JSON and YAML write differently: infinite numbers, and whole numbers of over 40 digits."""
    if type(value) is dict and type(again) is dict:
        return list(again) == list(value) and all(_alike(again[key], value[key]) for key in value)
    if type(value) is list and type(again) is list:
        return len(again) == len(value) and all(map(_alike, again, value))
    return again == value or str(again).lower() == json.dumps(value).lower()


def seeds() -> Iterator[bytes]:
    """Submissions, and every construct of YAML."""
    yield from fixtures("answers.yaml", "answers.yml")
    for text in (
        '"1.6": B\n1.7: [A, C]\n1.10: {P1: 11/12, P2: 9}\n',
        "answers:\n  1.6: 2(d+1) + n\nwritten:\n  2.1: |\n    Why.\n", "a: &x [1]\nb: *x\n",
        "a: !!python/object/apply:os.system ['true']\n", "<<: {a: 1}\n", "? [a]\n: b\n",
        "a: 2026-12-01\nb: 0x1F\nc: 1:30\nd: 010\ne: 1e9999\nf: -.5E-3\n", "--- a\n...\n--- b\n",
        "%YAML 1.2\n---\na: b\n", "a: >-\n  x\n\n  y\nb: 'it''s'\nc: \"\\x41\\u263a\\\n  z\"\n", "1.6: A\n1.6: B\n",
        "a: |\n  0 1 1\n  0 0 1\n  0 0 0\n",
        "a:\n  - [0, 1, 1]\n  - [0, 0, 1]\n  - [0, 0, 0]\nb: {A: true, B: x}\nc: 46.67 %\n",
        "{a: [b, {c: d}], ? e : f}", "a: 1,008,100\nb: 4.6·10⁻¹\nc: (7/15)^(1/4)\nd: 0.467 ≈ 7/15\n",
        "1.6: B\0\n\x0c1.7: C\n", "x: " + "9" * 50 + "\n",
    ):  # fmt: skip
        yield text.encode()
    yield "1.6: größer\n".encode("utf-16")
    yield b"[" * 30


WORDS = (
    "answers:", "written:", "\n  ", ": ", "- ", "? ", "&a ", "*a", "!!", "|\n ", ">-\n ", "---\n", "...\n",
    "%YAML 1.2", "'", '"', "\\x", "\\u", "<<", "~", "null", "true", "1e9", ".inf", "0x", "[", "{", "\u00a0",
    "\u0085", "\u2028", "\ufeff",
)  # fmt: skip
TARGET = Target(check, seeds, WORDS)
