"""The guard and a real browser: what browsers really send along is what lets people in, and keeps others out."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.review_server import chromium
from tests.support.served_app import PASSWORD, Review, served
from viva.plugins.review.web import browser as opening

pytestmark = pytest.mark.nightly
OTHER = "review.example"
"""A name of this machine that a browser does not know to be one."""
RESOLVED = f"--host-resolver-rules=MAP {OTHER} 127.0.0.1"
EVIL = """<title>trying</title><form method="post" action="OURS/mark"><input name="points" value="100"><button>
Win a prize</button></form><iframe src="OURS/"></iframe><script>
var read = "";
fetch("OURS/", {credentials: "include"}).then(r => r.text()).then(t => { read = t }, () => { read = "refused" })
  .finally(() => fetch("OURS/mark", {method: "POST", credentials: "include", mode: "no-cors", body: "points=99"}))
  .catch(() => 0).finally(() => { document.title = "tried" });
</script>"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium(RESOLVED) as launched:
        yield launched


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def review() -> Iterator[Review]:
    with served() as running:
        yield running


def enter(page: Any, review: Review) -> None:
    page.goto(f"http://127.0.0.1:{review.port}/?token={review.access.token}")
    assert page.url == f"http://127.0.0.1:{review.port}/" and '"marker":"ada"' in page.content()


def test_browser_file_opens_pages(page: Any, review: Review, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirect would lose the session's cookie here: the file is another site."""
    seen: list[str] = []
    monkeypatch.setattr("webbrowser.open", seen.append)
    with opening.open_in_browser(f"http://127.0.0.1:{review.port}/?token={review.access.token}"):
        page.goto(seen[0])
        page.wait_for_url(f"http://127.0.0.1:{review.port}/")
        assert '"marker":"ada"' in page.content()


@pytest.mark.parametrize("name", ["127.0.0.1", OTHER])
def test_sign_in_form(page: Any, name: str) -> None:
    """Over plain HTTP from another machine, browsers say less of where a form comes from."""
    with served(password=PASSWORD) as review:
        page.goto(f"http://{name}:{review.port}/")
        page.fill("[name=marker]", "Grace")
        page.fill("[name=password]", "wrong horse")
        page.click("button")
        assert page.get_by_role("alert").is_visible() and page.input_value("[name=marker]") == "Grace"
        page.check("[name=second]")
        page.fill("[name=password]", PASSWORD)
        page.click("button")
        page.wait_for_url(f"http://{name}:{review.port}/")
        assert '"marker":"Grace","round":2' in page.content()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", OTHER])
def test_foreign_page_has_no_access(page: Any, review: Review, name: str) -> None:
    """The first is the same site, whose pages send our cookie along: they differ in the port alone."""
    enter(page, review)
    ours = f"http://127.0.0.1:{review.port}"
    with served(password=PASSWORD) as other:  # another server, whose pages are replaced
        evil = f"http://{name}:{other.port}/"
        page.route(evil, lambda route: route.fulfill(body=EVIL.replace("OURS", ours), content_type="text/html"))
        page.goto(evil)
        page.wait_for_function("document.title === 'tried'")
        assert page.evaluate("read") == "refused"
        assert not any('"marker"' in frame.content() for frame in page.frames)
        page.click("button")
        page.wait_for_url(f"{ours}/mark")
        assert "nothing was changed" in page.content() or "closed to you" in page.content()
    assert review.app.state.marks == []
    enter(page, review)


def test_injected_markup_does_not_run(page: Any, review: Review) -> None:
    enter(page, review)
    hostile = '<button onclick="window.ran = 1" style="color: rgb(1, 2, 3)">x</button>'
    page.evaluate("html => { document.body.innerHTML = html }", hostile)
    page.click("button")
    assert page.evaluate("window.ran") is None
    assert page.evaluate("getComputedStyle(document.querySelector('button')).color") != "rgb(1, 2, 3)"
