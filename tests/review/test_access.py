"""Sessions, token and password: what was not made with the key, or is over, is refused."""

import base64
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.plugins.review.web.sign_in.access import LIFETIME_S, RENEWED_S, Access, cookie_named, marker_of

KEY = bytes(range(32))
COOKIE = string.ascii_letters + string.digits + "-_=."


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def access(key: bytes = KEY, *, password: str | None = None, marker: str = "ada", **changed: Any) -> Access:
    told: dict[str, Any] = {"round": 1, "port": 8123, "hosts": ("127.0.0.1:8123",), **changed}
    return Access(key, password=password, marker=marker, **told)


def cookies(access: Access, marker: str = "ada", round: int = 1) -> str:
    return access.set_cookie(access.begin(marker, round)).partition(";")[0]


def test_session_round_trip() -> None:
    ours = access()
    session = ours.begin("Ada Lovelace 🦉", 2)
    cookie = ours.set_cookie(session)
    assert ours.session("other=1; " + cookie.partition(";")[0] + "; more=2") == session
    assert access().session(cookie.partition(";")[0]) == session  # a restart with the same key
    assert {"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"} <= set(cookie.split("; "))
    assert cookie.startswith("viva-review-8123=") and "Secure" not in cookie


def test_https_cookie() -> None:
    cookie = access(https=True).set_cookie(access().begin())
    assert cookie.startswith("__Host-viva-review-8123=") and cookie.endswith("; Secure")


@pytest.mark.parametrize(
    "other",
    [
        access(bytes(32)),
        access(password="correct horse"),
        access(marker="grace"),
        access(round=2),
    ],
)
def test_session_of_another_run(other: Access) -> None:
    assert other.session(cookies(access())) is None


def test_session_after_password_change() -> None:
    given = cookies(access(password="correct horse"))
    assert access(password="correct horse", marker="grace").session(given) is not None
    assert access(password="wrong horse!").session(given) is None


def test_session_renewal() -> None:
    clock = Clock()
    ours = access(now=clock)
    session = ours.begin()
    first = ours.set_cookie(session).partition(";")[0]
    assert ours.renewed(session) is None
    clock.now += RENEWED_S + 1
    later = ours.renewed(session)
    assert later is not None and (later.csrf, later.id) == (session.csrf, session.id)  # an open form stays good
    second = ours.set_cookie(later).partition(";")[0]
    clock.now += LIFETIME_S - RENEWED_S
    assert ours.session(first) is None
    assert ours.session(second) == later


def test_ended_session_is_refused() -> None:
    ours = access()
    session, other = ours.begin(), ours.begin()
    ours.end(session)
    assert ours.session(ours.set_cookie(session).partition(";")[0]) is None
    assert ours.session(ours.set_cookie(other).partition(";")[0]) == other


@given(st.text())
def test_arbitrary_text_is_no_session(text: str) -> None:
    ours = access()
    assert ours.session(text) is None
    assert ours.session(f"{ours.cookie}={text}") is None
    payload = base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode()
    assert ours.session(f"{ours.cookie}={payload}.{text}") is None


@given(st.integers(0, 10_000), st.integers(1, len(COOKIE) - 1))
def test_forged_cookie_is_refused(place: int, shift: int) -> None:
    """The cookie is another one each time, so nothing that is drawn may depend on it."""
    ours = access()
    name, _, value = cookies(ours).partition("=")
    at = place % len(value)
    other = COOKIE[(COOKIE.index(value[at]) + shift) % len(COOKIE)]
    left_out = value[:at] + value[at + 1 :]
    for forged in (value[:at] + other + value[at + 1 :], left_out, value[: at + 1] + other + value[at + 1 :]):
        assert ours.session(f"{name}={forged}") is None, forged
    assert ours.session(f"{name}={value}") is not None


@given(st.text())
def test_only_the_token_is_accepted(text: str) -> None:
    ours = access()
    assert not ours.is_token(text)
    assert ours.token is not None and ours.is_token(ours.token) and not ours.is_token(ours.token[:-1])


def test_password_replaces_token() -> None:
    ours = access(password="pässword für alle", hosts=None)
    assert ours.token is None and not ours.is_token("") and not ours.is_token("None")
    assert ours.is_password("pässword für alle")
    assert ours.is_password("pa\u0308ssword fu\u0308r alle")  # as another keyboard writes it
    assert not ours.is_password("") and not ours.is_password("\ud800")
    assert not access().is_password("")


def test_derived_secrets_differ() -> None:
    ours = access()
    first, second = ours.begin(), ours.begin()
    assert len({ours.token, first.csrf, second.csrf, ours.login_csrf(first.id), first.id, second.id}) == 6


def test_unsafe_access_is_refused() -> None:
    with pytest.raises(ValueError):
        access(b"short")
    with pytest.raises(ValueError):
        access(hosts=None)


@given(st.text())
def test_marker_name_is_printable(text: str) -> None:
    name = marker_of(text)
    if name is not None:
        assert 1 <= len(name) <= 60 and name.isprintable() and marker_of(name) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("  Ada \t Lovelace ", "Ada Lovelace"),
        ("A" * 60, "A" * 60),
        ("A" * 61, None),
        ("", None),
        (" ", None),
        ("Ada\x00", None),
        ("Ada\u202egrace", None),
        ("Jose\u0301", "José"),
    ],
)
def test_marker_name(text: str, name: str | None) -> None:
    assert marker_of(text) == name


@pytest.mark.parametrize(
    ("header", "value"), [("", ""), ("b=1; a=2; a=3", "2"), ("a", ""), ("aa=1;a=x=y", "x=y"), ("=;;a=", "")]
)
def test_cookie_by_name(header: str, value: str) -> None:
    assert cookie_named("a", header) == value
