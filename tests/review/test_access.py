"""Sessions, token and password: what was not made with the key is refused."""

import base64
import string
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tests.support.served_app import sign_session
from viva.plugins.review.web.access import LIFETIME_S, RENEWED_S, Access, normalize_marker
from viva.plugins.review.web.guard import protect

KEY = bytes(range(32))
COOKIE = string.ascii_letters + string.digits + "-_=."


def access(key: bytes = KEY, *, password: str | None = None, marker: str = "ada", **changed: Any) -> Access:
    told: dict[str, Any] = {"round": 1, "port": 8123, "hosts": ("testserver",), **changed}
    return Access(key, password=password, marker=marker, **told)


async def show_marker(request: Request) -> JSONResponse:
    return JSONResponse(request.session["marker"])


def client_of(access: Access, cookie: str = "") -> TestClient:
    scheme = "https" if access.https else "http"
    app = protect(Starlette(routes=[Route("/", show_marker)]), access)
    client = TestClient(app, base_url=f"{scheme}://testserver", follow_redirects=False)
    if cookie:
        client.headers["cookie"] = f"{access.cookie}={cookie}"
    return client


def status(access: Access, cookie: str) -> int:
    return client_of(access, cookie).get("/").status_code


def cookie_of(access: Access, **changed: Any) -> str:
    return sign_session(access, {**access.begin_session(), **changed})


def test_session_round_trip() -> None:
    ours = access()
    entered = client_of(ours).get(f"/?token={ours.token}")
    cookie = entered.headers["set-cookie"]
    assert {"httponly", "samesite=strict", "path=/", "Max-Age=43200"} <= set(cookie.split("; "))
    assert cookie.startswith("viva-review-8123=") and "secure" not in cookie
    value = cookie.partition("=")[2].partition(";")[0]
    assert client_of(access(), value).get("/").json() == "ada"  # a restart with the same key


def test_https_cookie() -> None:
    ours = access(https=True)
    cookie = client_of(ours).get(f"/?token={ours.token}").headers["set-cookie"]
    assert cookie.startswith("__Host-viva-review-8123=") and cookie.endswith("; secure")


@pytest.mark.parametrize("other", [access(bytes(32)), access(marker="grace"), access(round=2)])
def test_session_of_another_run(other: Access) -> None:
    assert status(other, cookie_of(access())) == 403


def test_session_after_password_change() -> None:
    given = cookie_of(access(password="correct horse"))
    assert status(access(password="correct horse", marker="grace"), given) == 200
    assert status(access(password="wrong horse!"), given) == 403


def test_session_renewal(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = access()
    session = ours.begin_session()
    client = client_of(ours, sign_session(ours, session))
    assert "set-cookie" not in client.get("/").headers
    began = time.time()
    later = began + RENEWED_S + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert ours.cookie in client.get("/").headers["set-cookie"]
    later = began + LIFETIME_S + 1
    assert client.get("/").status_code == 403


def test_ended_session_is_refused() -> None:
    ours = access()
    session = ours.begin_session()
    ours.end_session(session)
    assert status(ours, sign_session(ours, session)) == 403 and status(ours, cookie_of(ours)) == 200


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=";"), max_size=60))
def test_arbitrary_text_is_no_session(text: str) -> None:
    payload = base64.urlsafe_b64encode(text.encode()).decode()
    for cookie in (text, f"{payload}.{text}"):
        assert status(access(), cookie) == 403


@given(st.integers(0, 10_000), st.integers(1, len(COOKIE) - 1))
def test_forged_cookie_is_refused(place: int, shift: int) -> None:
    """The cookie is another one each time, so nothing that is drawn may depend on it."""
    ours = access()
    value = cookie_of(ours)
    at = place % len(value)
    other = COOKIE[(COOKIE.index(value[at]) + shift) % len(COOKIE)] if value[at] in COOKIE else "-"
    for forged in (value[:at] + value[at + 1 :], value[: at + 1] + other + value[at + 1 :]):
        assert status(ours, forged) == 403, forged


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


def test_secrets_differ() -> None:
    ours = access()
    first, second = ours.begin_session(), ours.begin_session()
    assert len({ours.token, ours.secret, first["csrf"], second["csrf"], first["id"], second["id"]}) == 6


def test_unsafe_access_is_refused() -> None:
    with pytest.raises(ValueError):
        access(b"short")
    with pytest.raises(ValueError):
        access(hosts=None)


@given(st.text())
def test_marker_name_is_printable(text: str) -> None:
    name = normalize_marker(text)
    if name is not None:
        assert 1 <= len(name) <= 60 and name.isprintable() and normalize_marker(name) == name


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
    assert normalize_marker(text) == name
