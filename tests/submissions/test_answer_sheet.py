"""answers.yaml: what the student wrote comes back as the student wrote it, and no file takes the grader down."""

import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.submissions.answers_file import as_text, find, read_answers


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ('"1.6": B\n', {"1.6": "B"}),
        ("1.6: B\n", {"1.6": "B"}),
        ("answers:\n  1.6: B\n", {"1.6": "B"}),
        # numbers of questions are text: 1.10 is not 1.1
        ("1.1: A\n1.10: B\n2: C\n", {"1.1": "A", "1.10": "B", "2": "C"}),
        ("1e3: A\nyes: B\nnull: C\n", {"1e3": "A", "yes": "B", "null": "C"}),
        # values
        ("a: [A, C]\n", {"a": ["A", "C"]}),
        ("b: {P1: 11/12, P2: 9}\n", {"b": {"P1": "11/12", "P2": 9}, "b.P1": "11/12", "b.P2": 9}),
        ("a: 1008100\nb: 1,008,100\nc: 0.8265\nd: 1e-3\ne: .5\nf: 82.65 %\n",
         {"a": 1008100, "b": "1,008,100", "c": 0.8265, "d": 0.001, "e": 0.5, "f": "82.65 %"}),
        ("a: true\nb: False\nc: no\nd: N\ne: on\n", {"a": True, "b": False, "c": "no", "d": "N", "e": "on"}),
        ("a: 010\nb: 0x1F\nc: 1:30\nd: 1_000\ne: 2026-12-01\nf: +7\ng: -0.0\n",
         {"a": "010", "b": "0x1F", "c": "1:30", "d": "1_000", "e": "2026-12-01", "f": 7, "g": -0.0}),
        ("a: 2*d + 2\nb: n^2\nc: '*d'\n", {"a": "2*d + 2", "b": "n^2", "c": "*d"}),
        ("a:\nb: ~\nc: ''\n", {"a": None, "b": None, "c": ""}),
        ("a: |\n  0 1 1\n  0 0 1\n", {"a": "0 1 1\n0 0 1\n"}),
        ("a: " + "9" * 50 + "\n", {"a": "9" * 50}),
        # what editors do
        ("\ufeff1.6: B\r\n1.7: C\r", {"1.6": "B", "1.7": "C"}),
        ("1.6:\u00a0B\n", {"1.6": "B"}),
        ("1.6: B\0\n\x0c1.7: C\n", {"1.6": "B", "1.7": "C"}),
        ("# only a comment\n", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_answers_keep_numbers_and_types(text: str, answers: dict[str, Any]) -> None:
    sheet = read_answers(text.encode())
    assert sheet.problem == ""
    assert dict(sheet.answers) == answers
    assert [type(sheet.answers[k]) for k in answers] == [type(v) for v in answers.values()]


def test_prose_is_read_as_text() -> None:
    sheet = read_answers(b"1.6: B\nwritten:\n  2.1: Because.\n  2.2: 42\n  2.3:\n  2.4: [one, two]\n  2.5: {a: b}\n")
    texts = {name: as_text(text) for name, text in sheet.written.items()}
    assert texts == {"2.1": "Because.", "2.2": "42", "2.3": "", "2.4": "one\ntwo", "2.5": "", "2.5.a": "b"}
    assert sheet.answers == {"1.6": "B"}


def test_answers_beside_a_section() -> None:
    sheet = read_answers(b"Answers: {1.4: 42}\n2.1: Because.\nwritten: text\n")
    assert sheet.answers == {"1.4": 42, "2.1": "Because.", "written": "text"}
    assert sheet.names == ("1.4", "2.1", "written")


def test_one_line_of_another_encoding() -> None:
    """An old editor wrote a name into a file of UTF-8; "x₁·x₂" below it became "xâ‚\x81Â·…" and lost its points."""
    sheet = read_answers("# Zoé\n".encode("cp1252") + 'answers: {"1": x₁·x₂}\nwritten: {"2": café}\n'.encode())
    assert sheet.answers == {"1": "x₁·x₂"}
    assert sheet.written == {"2": "café"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_sheet_is_read_in_usual_encodings(encoding: str) -> None:
    assert read_answers("1.6: größer\n".encode(encoding)).answers == {"1.6": "größer"}


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(20)
)


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"x: !!python/object/apply:os.system ['touch /tmp/pwned']\n", "line 1: a text that begins with `!`"),
        (b"1.6 B\n1.7 C\n", 'expected lines such as `"1.6": B`'),
        (b"- A\n- B\n", 'expected lines such as `"1.6": B`'),
        (b"[" * 200_000, "nested deeper than 24 levels"),
        (b"{a: " * 50_000, "nested deeper than 24 levels"),
        (b"- " * 100_000, "nested deeper than 24 levels"),
        (b"a: [" + b"1," * 50_000 + b"]", "there are more than 20,000 values"),
        (b"a: " + b"x" * 300_000, "the text is longer than 256 KiB"),
        (b"--- a\n--- b\n", "a second document begins here"),
        (b"? " + b"a" * 150_000 + b"\n: {" + b",".join(b"%d: 1" % i for i in range(9_000)) + b"}\n",
         "line 1: a key is longer than 1,024 characters"),
    ],
)  # fmt: skip
def test_unreadable_file(data: bytes, part: str) -> None:
    started = time.thread_time()
    sheet = read_answers(data)
    assert part in sheet.problem
    assert (dict(sheet.answers), dict(sheet.written)) == ({}, {})
    assert time.thread_time() - started < 3


BROKEN = [
    ("1.6: B: because\n1.7: C\n", {"1.6": "B: because", "1.7": "C"}, "line 1: invalid YAML: "),
    ("1.6: [A, B\n1.7: C\n", {"1.6": "[A, B", "1.7": "C"}, "line 2: invalid YAML: "),
    ('1.6: "B\n1.7: C\n', {"1.6": "B", "1.7": "C"}, "invalid YAML: "),
    ("1.6: A\n\t1.7: B\n", {"1.6": "A", "1.7": "B"}, "line 2: invalid YAML: "),
    ("1.6: **B**\n1.7: 4*d^2\n", {"1.6": "**B**", "1.7": "4*d^2"}, "line 1"),
    ("1.2: *d\n1.3: 2\n", {"1.2": "*d", "1.3": 2}, "line 1: a text that begins with `*` must be in quotes"),
    ("1.2: !x\n1.3: 2\n", {"1.2": "!x", "1.3": 2}, "line 1: a text that begins with `!` must be in quotes"),
    ("1.6: A\n1.7: B\n1.6: C\n", {"1.7": "B"}, "line 3: the key `1.6` is written twice (first in line 1)"),
    ("3.3: |\n0 1\n1 0\n1.7: C\n", {"3.3": "0 1\n1 0", "1.7": "C"}, "invalid YAML: "),
    ("1.6) B\n1.7) C\n", {"1.6": "B", "1.7": "C"}, ""),
    ("1.4: {P1: 1, P2: 2}\n1.6: %\n", {"1.4": {"P1": 1, "P2": 2}, "1.4.P1": 1, "1.4.P2": 2, "1.6": "%"}, "line 2"),
    ("- 1.6: B\n- 1.7: C\n", {"1.6": "B", "1.7": "C"}, ""),
]


def test_line_that_is_not_yaml() -> None:
    with Rows() as row:
        for text, answers, problem in BROKEN:
            with row(text):
                read = read_answers(text.encode())
                assert dict(read.answers) == answers
                assert problem in read.problem
                assert bool(problem) == bool(read.problem)


def test_broken_line_of_prose() -> None:
    answers = b"answers:\n  1.6: B\n  1.7: C: x\n"
    read = read_answers(answers + b"written:\n  2.1: Two reasons: a and b\n  2.2: |\n    c: d\n    e\n")
    assert read.answers == {"1.6": "B", "1.7": "C: x"}
    assert read.written == {"2.1": "Two reasons: a and b", "2.2": "c: d\ne"}


def test_references_stay_small() -> None:
    read = read_answers(BOMB.encode())
    assert "line 1: a text that begins with `&` must be in quotes" in read.problem
    assert len(str(dict(read.answers))) < 2 * len(BOMB)


@pytest.mark.parametrize(
    "name",
    ["Q1.6", "q1.6", "1.6.", '"1.6)"', "Question 1.6", "task 1.6", "Aufgabe 1.6", '"1,6"', "“1.6”", "„1.6“", "1_6"],
)  # fmt: skip
def test_name_that_says_more_than_the_number(name: str) -> None:
    assert find(read_answers(f"{name}: B\n".encode()).answers, "1.6") == "B"
    assert find(read_answers(f"{name}: B\n1.6: C\n".encode()).answers, "1.6") == "C"
    assert find(read_answers(f"{name}: B\nanswer 1.6: C\n".encode()).answers, "1.6") is None
    assert find(read_answers(f"{name}: B\n".encode()).answers, "1.60") is None


def test_names_of_parts_take_little_memory() -> None:
    """The dotted name of each part repeats those above it: of 220 KB they made 2.5 GiB."""
    deep = "".join(f"{' ' * depth}{'k' * 900}{depth}:\n" for depth in range(20))
    text = deep + "".join(f"{' ' * 20}p{number}: 1\n" for number in range(6_000))
    tracemalloc.start()
    try:
        sheet = read_answers(f"1.4: {{P: 2}}\n{text}".encode())
        assert tracemalloc.get_traced_memory()[1] < 48 << 20
    finally:
        tracemalloc.stop()
    assert sheet.problem == "" and len(sheet.answers) == 3
    assert sheet.answers["1.4.P"] == 2


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    read_answers(data)


@given(st.text(alphabet="ab1.:-[]{},&*!|>%@`#?'\"\\ \n\t~", max_size=80))
def test_no_text_raises(text: str) -> None:
    read_answers(text.encode())
    read_answers(f"answers:\n  {text}\nwritten:\n  {text}\n".encode())


@pytest.mark.parametrize(
    "piece", ["[", "{", "? ", "- ", "a: ", "'", '"', "a,", "|\n ", "[a]: ", "{a: b},", "a\n", "-\n", "# x\n", "\\"]
)
def test_repetition_is_not_slow(piece: str) -> None:
    for before in ("", "a: [", 'a: "', "a: '", "a: {"):
        started = time.thread_time()
        read_answers((before + piece * (200_000 // len(piece))).encode())
        assert time.thread_time() - started < 3


def test_size_is_looked_at_first() -> None:
    """62 MiB of it took six seconds to be decoded and cleaned before anything refused it."""
    started = time.thread_time()
    read = read_answers(b'"1.1": B\n' * (7 << 20))
    assert (read.answers, read.problem) == ({}, "the file is larger than 1 MiB")
    assert time.thread_time() - started < 3
