"""The secret comes from where the course says, and a missing one is a sentence that says how to make it."""

import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

from viva.config import Course, load_course
from viva.config.secret import weakness
from viva.model.errors import CourseError

Write = Callable[[str, str], Path]

LONG = "0123456789abcdef" * 2


def course(write: Write, root: Path, source: str) -> Course:
    write("grader.yaml", f"course: nlp\nassignments: [masks]\nsecret: {source}\n")
    return load_course(root)


def test_secret_from_the_environment(write: Write, tmp_path: Path) -> None:
    assert course(write, tmp_path, "env:S").secret({"S": f"{LONG}\n"}) == LONG.encode()


def test_secret_from_a_file(write: Write, tmp_path: Path) -> None:
    write("keys/secret", f"{LONG}\n").chmod(0o600)
    assert course(write, tmp_path, "file:keys/secret").secret({}) == LONG.encode()


@pytest.mark.parametrize(
    ("source", "environ", "parts"),
    [
        ("env:S", {}, ["is not set (environment variable S)", 'export S="$(python3 -c']),
        ("env:S", {"S": "short"}, ["the environment variable S has 5 bytes, and 16 are the least", "export S="]),
        ("file:none", {}, ["does not exist", "umask 077"]),
        ("file:weak", {}, ["has 4 bytes, and 16 are the least", "umask 077"]),
        ("file:open", {}, ["can be read by other users; run: chmod 600"]),
        ("file:folder", {}, ["cannot be read", "do not replace it"]),
    ],
)
def test_no_usable_secret(write: Write, tmp_path: Path, source: str, environ: dict[str, str], parts: list[str]) -> None:
    write("weak", "weak").chmod(0o600)
    write("open", LONG).chmod(0o644)
    (tmp_path / "folder").mkdir()
    with pytest.raises(CourseError) as caught:
        course(write, tmp_path, source).secret(environ)
    for part in parts:
        assert part in str(caught.value)
    assert LONG not in str(caught.value)


def test_no_secret_is_a_known_value(write: Write, tmp_path: Path) -> None:
    one = course(write, tmp_path, "env:S")
    assert one.secret_or_public({}) == one.secret_or_public({})
    assert one.secret_or_public({"S": LONG}) == LONG.encode()


def test_wrong_secret_stays_an_error(write: Write, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="16 are the least"):
        course(write, tmp_path, "env:S").secret_or_public({"S": "short"})


@pytest.mark.parametrize(
    ("secret", "bits"),
    [
        (b"ab" * 32, 64),
        (b"x" * 64, 0),
        (b"correct horse batt", 108),
    ],
)
def test_guessable_secret(secret: bytes, bits: int) -> None:
    assert f"has {bits} bits at most, so that hidden inputs could be guessed" in weakness(secret)
    assert secret.decode() not in weakness(secret)


def test_generated_secret_is_strong() -> None:
    for _ in range(200):
        for drawn in (secrets.token_hex(32), secrets.token_hex(16), secrets.token_urlsafe(16)):
            assert weakness(drawn.encode()) == ""
