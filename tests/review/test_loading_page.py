"""What is answered while the pages are being made."""

import asyncio
from collections.abc import MutableMapping
from concurrent.futures import Future
from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from viva.model.errors import UsageError
from viva.review.web.serving.loading_page import LoadingPage
from viva.review.web.sign_in.access import Session

MADE = PlainTextResponse("the page")


class Request:
    """One request, which is answered at its own time."""

    def __init__(self, app: LoadingPage, method: str = "GET", who: str = "ada", **headers: str) -> None:
        self.sent: list[MutableMapping[str, Any]] = []
        given = {"accept": "text/html"} | {name.replace("_", "-"): value for name, value in headers.items()}
        scope = {
            "type": "http", "method": method, "path": "/", "query_string": b"", "viva": Session(who, 1, "", who, 0),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        }  # fmt: skip
        self.task = asyncio.create_task(app(scope, self._receive, self._send))

    async def _receive(self) -> MutableMapping[str, Any]:
        raise AssertionError("what is sent along is left for the page")

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        self.sent.append(message)

    @property
    def said(self) -> tuple[int, str]:
        start, *bodies = self.sent
        return start["status"], b"".join(body["body"] for body in bodies).decode()


async def seen() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_each_session_gets_one_page_that_asks_again_and_then_waits() -> None:
    async def story() -> None:
        making: Future[Any] = Future()
        app = LoadingPage(making)
        for who in ("ada", "grace"):
            first, second = Request(app, who=who), Request(app, who=who)
            await seen()
            status, text = first.said
            assert status == 200 and 'http-equiv="refresh" content="0"' in text and not second.sent
        making.set_result(MADE)
        await second.task
        late = Request(app, who="joan")
        await late.task
        assert second.said == late.said == (200, "the page")

    asyncio.run(story())


@pytest.mark.parametrize(
    ("method", "headers"), [("POST", {}), ("HEAD", {}), ("GET", {"accept": "*/*", "hx_request": "true"})]
)
def test_nothing_but_a_page_is_answered_in_place_of_what_was_asked_for(method: str, headers: dict[str, str]) -> None:
    async def story() -> None:
        making: Future[Any] = Future()
        asked = Request(LoadingPage(making), method, **headers)
        await seen()
        assert not asked.sent
        making.set_result(MADE)
        await asked.task
        assert asked.said[0] == 200

    asyncio.run(story())


@pytest.mark.parametrize("by_script", [False, True])
def test_where_they_cannot_be_made_who_waits_is_told(by_script: bool) -> None:
    async def story() -> None:
        making: Future[Any] = Future()
        asked = Request(LoadingPage(making), "POST", **({"hx_request": "true"} if by_script else {}))
        await seen()
        making.set_exception(UsageError("/home/ada/records.db cannot be read."))
        await asked.task
        status, text = asked.said
        assert status == 503 and "says why" in text and "/home" not in text
        assert text.startswith("The pages could not") == by_script

    asyncio.run(story())


def test_who_leaves_takes_nothing_from_the_others() -> None:
    async def story() -> None:
        making: Future[Any] = Future()
        app = LoadingPage(making)
        gone, stays = Request(app, "POST", who="ada"), Request(app, "POST", who="grace")
        await seen()
        gone.task.cancel()
        await seen()
        assert not making.cancelled()
        making.set_result(MADE)
        await stays.task
        assert stays.said == (200, "the page")

    asyncio.run(story())
