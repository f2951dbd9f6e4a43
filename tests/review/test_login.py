"""Signing in by a password: on a real server, and the waiting by itself."""

import asyncio
import re
from collections.abc import Iterator

import pytest

from tests.support.served_app import KEY, PASSWORD, Browser, Review, served
from viva.plugins.review.web import guard
from viva.plugins.review.web.access import Access
from viva.plugins.review.web.guard import MAX_WAITING, PasswordCheck
from viva.plugins.review.web.static_files import address


@pytest.fixture(scope="module")
def review() -> Iterator[Review]:
    with served(password=PASSWORD) as running:
        yield running


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PAUSE_S", 0.0)


def form(browser: Browser, **fields: str) -> str:
    """Return the body that the loaded form sends, with changed fields."""
    page = browser.ask("GET", "/login")
    assert page.status == 200
    found = re.search(r'name="csrf" value="([^"]+)"', page.body)
    assert found
    told = {"csrf": found[1], "marker": "Grace", "password": PASSWORD, **fields}
    return "&".join(f"{name}={value}" for name, value in told.items())


def test_no_session(review: Review) -> None:
    stranger = Browser(review.port)
    for path in ("/", "/nowhere", address("htmx.min.js"), "/?token=", "/?token=None"):
        answer = stranger.ask("GET", path)
        assert (answer.status, answer.headers["location"]) == (303, "/login")
    for answer in (stranger.ask("POST", "/mark", "points=1"), stranger.ask("GET", "/", hx_request="true")):
        assert answer.status == 403 and "sign in" in answer.body
    assert stranger.ask("GET", "/", host="review.example:1").status == 303  # whatever other machines call us
    assert stranger.ask("GET", address("plain.css")).status == 200


@pytest.mark.parametrize(("second", "round"), [({}, 1), ({"second": "yes"}, 2)])
def test_sign_in(review: Review, second: dict[str, str], round: int) -> None:
    browser = Browser(review.port)
    entered = browser.ask("POST", "/login", form(browser, **second), origin=f"http://127.0.0.1:{review.port}")
    assert (entered.status, entered.headers["location"]) == (303, "/")
    assert f'"marker":"Grace","round":{round}' in browser.ask("GET", "/").body


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize(
    "wrong",
    [
        {"password": "wrong horse!"},
        {"password": ""},
        {"password": PASSWORD + "%00"},
        {"password": "%ed%a0%80"},
        {"marker": ""},
        {"marker": "+"},
        {"marker": "x" * 61},
        {"marker": "%1b[31m"},
        {"marker": "%e2%80%aeada"},
        {"marker": "<script>", "password": "wrong"},
    ],
)
def test_wrong_sign_in(review: Review, wrong: dict[str, str]) -> None:
    browser = Browser(review.port)
    refused = browser.ask("POST", "/login", form(browser, **wrong))
    assert refused.status == 403 and "That did not work: give your name and the password" in refused.body
    assert "<script" not in refused.body and PASSWORD not in refused.body
    assert browser.ask("GET", "/").status == 303


def test_foreign_sign_in(review: Review) -> None:
    browser = Browser(review.port)
    body = form(browser)
    for headers in ({"origin": "http://evil.example"}, {"sec_fetch_site": "cross-site"}, {"origin": "null"}):
        assert browser.ask("POST", "/login", body, **headers).status == 403
    assert Browser(review.port).ask("POST", "/login", body).status == 403  # the form's cookie is not there
    other = Browser(review.port)
    form(other)
    assert other.ask("POST", "/login", body).status == 403  # the cookie of another form
    assert browser.ask("POST", "/login", body.replace("csrf", "csfr")).status == 403
    assert browser.ask("POST", "/login", body).status == 303


def test_favicon_keeps_the_form(review: Review) -> None:
    """An icon that was led to the form brought a new cookie along, with which the form that was shown did not fit."""
    browser = Browser(review.port)
    body = form(browser)
    icon = browser.ask("GET", "/favicon.ico", accept="image/avif,image/webp,*/*;q=0.8")
    assert icon.status == 403 and "set-cookie" not in icon.headers
    form(browser)  # in another window
    assert browser.ask("POST", "/login", body).status == 303


def test_unreadable_form(review: Review) -> None:
    browser = Browser(review.port)
    body = form(browser)
    assert browser.ask("POST", "/login", b"\xff\xfe").status == 403
    assert browser.ask("POST", "/login", "a=1&" * 1000).status == 403
    assert browser.ask("POST", "/login", body + "&more=" + "x" * 16384).status == 413


def test_sign_out(review: Review) -> None:
    browser = Browser(review.port)
    browser.ask("POST", "/login", form(browser))
    copy = Browser(review.port, dict(browser.cookies))
    csrf = re.search(r'"csrf":"([^"]+)"', browser.ask("GET", "/").body)
    assert csrf
    left = browser.ask("POST", "/logout", f"csrf={csrf[1]}")
    assert (left.status, left.headers["location"]) == (303, "/login")
    assert copy.ask("GET", "/").status == 303


# --- waiting


class Tries:
    """Tries at a password whose pauses end when the test says so."""

    def __init__(self) -> None:
        self.pauses: asyncio.Queue[asyncio.Event] = asyncio.Queue()
        access = Access(KEY, hosts=None, password=PASSWORD, marker="ada", round=1, port=1)
        self.passwords = PasswordCheck(access, self._pause)

    async def _pause(self, seconds: float) -> None:
        assert seconds >= 1
        over = asyncio.Event()
        await self.pauses.put(over)
        await over.wait()

    def start(self, password: str) -> "asyncio.Task[bool | None]":
        return asyncio.create_task(self.passwords.check(password))


def test_wrong_passwords_wait() -> None:
    async def run() -> None:
        tries = Tries()
        started = [tries.start("wrong"), tries.start("wrong"), tries.start("wrong")]
        for number in range(3):
            over = await tries.pauses.get()
            assert tries.pauses.empty() and sum(one.done() for one in started) == number
            over.set()
        assert await asyncio.gather(*started) == [False, False, False]

    asyncio.run(run())


def test_right_password_waits_for_its_turn() -> None:
    async def run() -> None:
        tries = Tries()
        wrong, right = tries.start("wrong"), tries.start(PASSWORD)
        (await tries.pauses.get()).set()
        assert (await wrong) is False and (await right) is True
        assert tries.pauses.empty()

    asyncio.run(run())


def test_too_many_attempts() -> None:
    async def run() -> None:
        tries = Tries()
        first = [tries.start("wrong") for _ in range(MAX_WAITING)]
        over = await tries.pauses.get()
        assert await tries.start(PASSWORD) is None
        first[-1].cancel()  # a browser that leaves makes room
        with pytest.raises(asyncio.CancelledError):
            await first[-1]
        taken = tries.start(PASSWORD)
        over.set()
        for _ in first[1:-1]:
            (await tries.pauses.get()).set()
        assert await taken is True
        await asyncio.gather(*first[:-1])

    asyncio.run(run())
