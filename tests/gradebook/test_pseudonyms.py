"""Pseudonyms are stable, secret and different; text about a class names no one of it."""

import hashlib
import hmac
from base64 import b32encode
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.model import Student
from viva.plugins.records import pseudonyms as module
from viva.plugins.records.pseudonyms import Anonymiser, pseudonym, pseudonyms

SECRET = b"the secret of the course"
ADA = Student("ada", "Ada King Lovelace", "a.king@x.edu", also={"canvas": "4711", "login": "lovelace7"})
BO = Student("s1234", "Müller, Bo", "bo@x.edu")
LI = Student("li", "李雷")
EVA = Student("eva", "Eva Groß")
CLASS = Anonymiser([ADA, BO, LI, EVA], SECRET)
A, B, L, E = (CLASS.student(each).id for each in (ADA, BO, LI, EVA))


def test_pseudonym_is_an_hmac() -> None:
    digest = hmac.new(SECRET, b"viva: pseudonym of a student\0ada", hashlib.sha256).digest()
    assert pseudonym("ada", SECRET) == f"student-{b32encode(digest).decode().lower()[:10]}" == A
    assert pseudonym("ada", SECRET + b"!") != A


@given(st.sets(st.text(min_size=1, max_size=8), max_size=30))
def test_pseudonyms_differ(ids: set[str]) -> None:
    names = pseudonyms(ids, SECRET)
    assert names == {id_: pseudonym(id_, SECRET) for id_ in ids}
    assert len(set(names.values())) == len({normalize("NFC", id_) for id_ in ids})


def test_pseudonyms_become_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LETTERS", 1)
    ids = [str(i) for i in range(20)]
    assert len({pseudonym(id_, SECRET, letters=1) for id_ in ids}) < 20
    names = pseudonyms(ids, SECRET)
    assert len(set(names.values())) == 20
    assert len({len(name) for name in names.values()}) == 1


def test_student_becomes_a_pseudonym() -> None:
    assert CLASS.student(ADA) == Student(A)
    assert CLASS.student(Student("zoe", "Zoe")) == Student(pseudonym("zoe", SECRET))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Well done, Ada!", f"Well done, {A}!"),
        ("ADA KING LOVELACE and Lovelace, Ada King", f"{A} and {A}"),
        ("Ada\n King  Lovelace", A),
        ("write to a.king@x.edu or lovelace7", f"write to {A} or {A}"),
        ("user 4711 of 14711", f"user {A} of 14711"),
        ("Bo Müller; Müller, Bo; MÜLLER", f"{B}; {B}; {B}"),
        (normalize("NFD", "Müller"), B),
        ("Groß, groß, GROSS, Gross, GROẞ", f"{E}, {E}, {E}, {E}, {E}"),
        ("Adaptive layers of s12345", "Adaptive layers of s12345"),  # a name within a word is none
        ("see submissions/s1234/solution.py", f"see submissions/{B}/solution.py"),
        ("同学李雷的作业", f"同学{L}的作业"),
        ("nobody", "nobody"),
        ("", ""),
    ],
)
def test_text_names_nobody(text: str, expected: str) -> None:
    assert CLASS.text(text) == expected


def test_shared_name() -> None:
    two = Anonymiser([Student("x1", "Kim Lee"), Student("x2", "Kim Park")], SECRET)
    assert two.text("Kim Lee, Kim Park, Kim") == f"{pseudonym('x1', SECRET)}, {pseudonym('x2', SECRET)}, student"


def test_very_long_name() -> None:
    assert Anonymiser([Student("x1", "Ada " * 5000 + "z" * 5000)], SECRET).text("Ada!") == f"{pseudonym('x1', SECRET)}!"


def test_longest_name_is_taken() -> None:
    people = [Student("p1", "Ann"), Student("p2", "Ann Marie"), Student("p3", "Anna")]
    one, two, three = (pseudonym(each.id, SECRET) for each in people)
    text = Anonymiser([*people, Student("p4", "Ann Maria")], SECRET).text("Ann Marie, Ann Mari, Anna, Annabel")
    assert text == f"{two}, student Mari, {three}, Annabel"
    assert one not in text


def test_text_without_a_class() -> None:
    assert Anonymiser([], SECRET).text("Ada") == "Ada"


NAMES = st.text(st.characters(categories=("Lu", "Ll", "Nd")), min_size=3, max_size=8)


@given(NAMES, NAMES, st.text(max_size=10), st.text(max_size=10))
def test_full_name_never_stays(first: str, last: str, before: str, behind: str) -> None:
    hidden = Anonymiser([Student("x-id", f"{first} {last}")], SECRET)
    assert (
        f"{first} {last}" not in hidden.text(f"{before} {first} {last} {behind}").replace(pseudonym("x-id", SECRET), "")
        or f"{first} {last}" in f"{before}{behind}"
    )


@pytest.mark.long
def test_class_of_two_thousand() -> None:
    people = [Student(f"s{i:05}", f"First{i} Last{i}", f"s{i:05}@x.edu") for i in range(2000)]
    text = " ".join(f"First{i} wrote" for i in range(0, 2000, 100)) + " nothing here" * 500
    assert "First" not in Anonymiser(people, SECRET).text(text)
