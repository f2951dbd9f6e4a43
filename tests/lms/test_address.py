"""Where an assignment is, and the token for it."""

import copy
import pickle
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from tests.support.table_rows import Rows
from viva.model.errors import UsageError
from viva.plugins.cohorts.lms.site import Address, Token, find_token, read_address


def test_address_is_read_from_a_url() -> None:
    table = [
        ("canvas", "https://c.edu/courses/12/assignments/34", Address("https://c.edu", "c.edu", 34, 12)),
        ("canvas", " https://c.edu/courses/12/assignments/34/edit?x=1#y ", Address("https://c.edu", "c.edu", 34, 12)),
        ("canvas", "http://127.0.0.1:81/courses/1/assignments/2", Address("http://127.0.0.1:81", "127.0.0.1", 2, 1)),
        ("moodle", "https://m.edu/mod/assign/view.php?id=56", Address("https://m.edu", "m.edu", 56)),
        ("moodle", "https://m.edu:8443/a/b/mod/assign/view.php?action=grading&id=5",
         Address("https://m.edu:8443/a/b", "m.edu", 5)),
    ]  # fmt: skip
    with Rows() as row:
        for platform, text, expected in table:
            with row(text):
                assert read_address(platform, text) == expected


def test_other_addresses() -> None:
    table = [
        ("canvas", "https://c.edu/courses/12", "expected is the address of the assignment's page"),
        ("canvas", "c.edu/courses/12/assignments/34", "must begin with https://"),
        ("canvas", "http://c.edu/courses/12/assignments/34", "is not encrypted"),
        ("canvas", "http://127.0.0.1.evil.org/courses/12/assignments/34", "is not encrypted"),
        ("canvas", "https://me:secret@c.edu/courses/12/assignments/34", "must begin with https://"),
        ("canvas", "file:///etc/passwd", "must begin with https://"),
        ("canvas", "https://[::1/courses/12/assignments/34", "is not an address"),
        ("canvas", "https://c.edu:99999/courses/12/assignments/34", "is not an address"),
        ("canvas", "https://c.edu/courses/٣/assignments/34", "expected is the address"),
        ("moodle", "https://m.edu/mod/assign/view.php?id=5&id=6", "expected is the address"),
        ("moodle", "https://m.edu/mod/quiz/view.php?id=5", "expected is the address"),
        ("moodle", "https://m.edu/../x/mod/assign/view.php?id=-5", "expected is the address"),
    ]
    with Rows() as row:
        for platform, text, expected in table:
            with row(text), pytest.raises(UsageError) as caught:
                read_address(platform, text)
            assert expected in str(caught.value) and "secret" not in str(caught.value)


def test_token_is_shown_nowhere() -> None:
    token = Token("abc123")
    assert "abc123" not in f"{token!r}{token}{[token]}"
    for keep in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            keep(token)
    assert token.reveal() == "abc123"


def install_keyring(monkeypatch: pytest.MonkeyPatch, get_password: Callable[[str, str], str | None]) -> None:
    keyring: Any = ModuleType("keyring")
    keyring.get_password = get_password
    monkeypatch.setitem(sys.modules, "keyring", keyring)


def test_token_from_environment_or_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    passwords = {("viva", "c.edu"): "kept"}
    install_keyring(monkeypatch, lambda service, host: passwords.get((service, host)))
    assert find_token("canvas", "c.edu", {"VIVA_CANVAS_TOKEN": " a~b \n"}).reveal() == "a~b"
    assert find_token("canvas", "c.edu", {"VIVA_MOODLE_TOKEN": "other"}).reveal() == "kept"
    with pytest.raises(UsageError, match=r"set VIVA_CANVAS_TOKEN, or store it with `keyring set viva d\.edu`"):
        find_token("canvas", "d.edu", {})
    with pytest.raises(UsageError, match="holds characters that no token has") as caught:
        find_token("canvas", "c.edu", {"VIVA_CANVAS_TOKEN": "ab\r\ncd"})
    assert "cd" not in str(caught.value)


def test_keyring_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: str) -> str:
        raise RuntimeError("locked, and the secret is 4711")

    install_keyring(monkeypatch, fail)
    with pytest.raises(UsageError, match="There is no token") as caught:
        find_token("canvas", "c.edu", {})
    assert "4711" not in str(caught.value)
