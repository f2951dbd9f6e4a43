"""The pages of `viva review`: nothing of a student's runs, nothing is fetched elsewhere, everybody can use them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support import samples
from tests.support.hostile_notebooks import PAYLOADS
from tests.support.review_class import NAME, attempt_of, fill, hash_of, notebook, rubric, score_of
from tests.support.review_server import Server, chromium, opened, served
from viva.model.reason import Reason
from viva.plugins.records.store import Records
from viva.submissions import open_submission

pytestmark = pytest.mark.nightly
QUESTION = "2.1"
HTMX = [
    "<div hx-get='/table' hx-trigger='load' hx-target='body'>x</div>",
    "<div data-hx-post='/undo' data-hx-trigger='load'>x</div>",
    "<button data-key='Enter' hx-on:click='owned()'>x</button>",
    "<form action='/undo' method=post><input name=csrf><button data-key=1 autofocus>x</button></form>",
    "<a href='/logout' data-key='Enter'>x</a><a href='//example.org/' id=mark>x</a>",
    "<img name=getElementById><form id=mark><input name=elements></form>",
]
ALL = [*PAYLOADS, *HTMX]
PATHS = [
    "/",
    f"/q/{QUESTION}/all",
    f"/q/{QUESTION}/{hash_of(3)}",
    f"/q/{QUESTION}/{hash_of(0)}",
    f"/q/{QUESTION}/{hash_of(13)}/group",
    "/agreement",
    "/differing",
    "/appeals",
    "/students?find=ada",
    f"/decide/{QUESTION}/{hash_of(13)}?named=yes",
    "/table",
    "/nothing/here",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Create a class with grades, a disagreement and a regrade request."""
    folder = tmp_path_factory.mktemp("review")
    url = f"sqlite:///{folder / 'records.db'}"
    with Records.open(url, folder) as records:
        fill(records, 40)
    for second, keys in ((False, "12"), (True, "1")):
        with served(folder, "--records", url, "--by", "Grace" if second else "Ada", *["--second"] * second) as first:
            for number in (3, 13, 0):
                page = opened(browser, first, f"/q/{QUESTION}/{hash_of(number)}")
                for key in keys:
                    page.keyboard.press(key)
                page.fill("#comment", "Read section 3 again.")
                page.keyboard.press("Control+Enter")
                page.wait_for_url(lambda now, number=number: hash_of(number) not in now)
                page.context.close()
    with served(folder, "--records", url, "--by", "Ada") as running:
        page = opened(browser, running, f"/decide/{QUESTION}/{hash_of(13)}?named=yes")
        page.fill("#request", "Please look again.")
        page.get_by_role("button", name="Note it").click()
        page.wait_for_url("**note=noted**")
        page.context.close()
        yield running


def settled(page: Any) -> None:
    """Wait for parts that come later, with everything open."""
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PATHS)
def test_page_has_no_accessibility_violation(
    browser: Any, server: Server, path: str, scheme: str, tmp_path: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = opened(browser, server, path, color_scheme=scheme)
    settled(page)
    page.screenshot(path=tmp_path / f"{scheme}.png", full_page=True)
    found = Axe().run(page)
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    with_help = Axe().run(page)
    page.context.close()
    assert found.violations_count == 0, found.generate_report()
    assert with_help.violations_count == 0, with_help.generate_report()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("width", "scale"), [(360, 3), (320, 2), (550, 2)], ids=["a phone", "a small phone", "1100 at 200 %"]
)
def test_narrow_window(browser: Any, server: Server, path: str, width: int, scale: int, tmp_path: Path) -> None:
    page = opened(browser, server, path, viewport={"width": width, "height": 740}, device_scale_factor=scale)
    settled(page)
    page.screenshot(path=tmp_path / "narrow.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


@pytest.mark.parametrize("path", PATHS)
def test_keyboard_focus(browser: Any, server: Server, path: str) -> None:
    """Whatever can be used gets the focus and shows it; no one is caught in it."""
    page = opened(browser, server, path)
    settled(page)
    wanted = page.evaluate("""[...document.querySelectorAll(
        "a[href], summary, [tabindex='0'], button, input:not([type=hidden]), textarea")]
        .filter(e => e.checkVisibility()).length""")
    places = set()
    for _ in range(wanted):
        page.keyboard.press("Tab")
        place, outline = page.evaluate(
            "[[...document.querySelectorAll('*')].indexOf(document.activeElement), "
            "getComputedStyle(document.activeElement).outlineStyle]"
        )
        places.add(place)
        assert outline != "none"
    page.context.close()
    assert len(places) == wanted


def test_formulas_are_drawn(browser: Any, server: Server) -> None:
    page = opened(browser, server, f"/q/{QUESTION}/{hash_of(3)}")
    assert page.locator(".answer math").count() >= 1
    page.context.close()


@pytest.mark.parametrize(
    ("width", "height"), [(1400, 700), (700, 450), (360, 740)], ids=["wide", "at 200 %", "a phone"]
)
def test_points_and_buttons_stay_visible(browser: Any, server: Server, width: int, height: int) -> None:
    """However long rubric and comments are: whoever writes sees what it is worth, and whether it was kept."""
    page = opened(browser, server, f"/q/{QUESTION}/{hash_of(0)}", viewport={"width": width, "height": height})
    settled(page)
    page.focus("#comment")
    places = [page.locator(part).bounding_box() for part in (".total", ".foot button.main")]
    page.context.close()
    assert all(place["y"] >= 0 and place["y"] + place["height"] <= height for place in places)


def test_sign_out(browser: Any, server: Server) -> None:
    page = opened(browser, server)
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_selector("text=You are signed out")
    assert page.goto(f"{server.origin}/q/{QUESTION}/all").status == 403
    page.context.close()


def test_wide_table_scrolls(browser: Any, tmp_path: Path) -> None:
    """A wide table was cut off: what may not paint outside of its box has to be what scrolls."""
    with Records.open(f"sqlite:///{tmp_path / 'records.db'}", tmp_path) as records:
        fill(records, 1, write=lambda _number, _question: "|" + "a column|" * 30 + "\n|" + "---|" * 30)
    with served(tmp_path, "--records", f"sqlite:///{tmp_path / 'records.db'}") as wide:
        page = opened(browser, wide, f"/q/{QUESTION}/{hash_of(0)}")
        last = page.locator(".answer th").last
        last.scroll_into_view_if_needed()
        box, table = page.locator(".answer").bounding_box(), last.bounding_box()
        page.context.close()
    assert table["x"] + table["width"] <= box["x"] + box["width"]


@pytest.mark.parametrize("bypass", [False, True], ids=["with the policy", "without the policy"])
def test_no_payload_runs(browser: Any, tmp_path: Path, bypass: bool) -> None:
    """In answers, notebooks, names, findings, comments and requests; with the policy switched off as well."""
    url = f"sqlite:///{tmp_path / 'records.db'}"
    _hostile_class(url, tmp_path)
    with served(tmp_path, "--records", url, "--by", "<img src=x onerror=owned()>") as running:
        context = browser.new_context(bypass_csp=bypass)
        asked: list[str] = []
        context.on("request", lambda request: asked.append(request.url))
        context.add_init_script("window.ran = 0; window.owned = () => { window.ran += 1 }")
        page = context.new_page()
        page.goto(running.address)
        page.wait_for_selector("table.questions")
        with Records.open(url, tmp_path) as records:
            hashes = [kept.scored.score.content_hash for kept in records.current(NAME)]
        text = "\n".join(ALL)
        page.goto(f"{running.origin}/q/{QUESTION}/{hashes[0]}")
        page.keyboard.press("1")
        page.fill("#comment", text)
        page.keyboard.press("Control+Enter")
        page.wait_for_url(lambda now: hashes[0] not in now)
        page.goto(f"{running.origin}/decide/{QUESTION}/{hashes[0]}?named=yes")
        page.fill("#request", text[:5000])
        page.get_by_role("button", name="Note it").click()
        page.wait_for_url("**note=noted**")
        for path in (
            *(f"/q/{QUESTION}/{one}" for one in hashes),
            f"/q/{QUESTION}/all",
            f"/q/{QUESTION}/{hashes[0]}/group",
            f"/decide/{QUESTION}/{hashes[0]}?named=yes",
            "/students?find=s",
            "/appeals",
            "/",
        ):
            page.goto(running.origin + path)
            before = page.url
            for key in "no":  # the name, the notebook
                page.keyboard.press(key)
            settled(page)
            for element in page.locator(".student a, .student span, .student p, .student img").all():
                element.dispatch_event("mouseover")
                element.dispatch_event("focus")
            assert page.evaluate("window.ran") == 0, path
            assert page.url == before, path
            inside = "document.querySelectorAll('.student :is(script, iframe, object, embed, form, button, input, svg, "
            inside += "[style], [id], [name], [data-key], [hx-get], [data-hx-post])').length"
            assert page.evaluate(inside) == 0, path
            assert page.locator("main main, .student h1").count() == 0
            assert page.evaluate("[...document.querySelectorAll('*')].some(e => e.shadowRoot)") is False
        context.close()
        assert [url for url in asked if not url.startswith((running.origin, "data:image/"))] == []


def _hostile_class(url: str, folder: Path) -> None:
    """Each answer a payload of its own, and one with all of them; each name as well."""

    def write(number: int, question: str) -> str:
        return "\n\n".join(ALL) if number == 0 else ALL[number % len(ALL)]

    with Records.open(url, folder) as records:
        for number in range(8):
            path = folder / f"s{number:04}.ipynb"
            path.write_bytes(notebook(number, write))
            content_hash = open_submission(path, str(path)).content_hash
            attempt = replace(attempt_of(number), path=path)
            students = tuple(replace(student, name=ALL[number], id=ALL[-number - 1]) for student in attempt.students)
            attempt_id = records.add_attempts(NAME, [(replace(attempt, students=students), content_hash)])[0]
            score = score_of(number, rubric(), write)
            entries = tuple(
                replace(e, name=ALL[n % len(ALL)], cases=tuple(replace(c, message=ALL[n % len(ALL)]) for c in e.cases))
                for n, e in enumerate(score.entries)
            )
            kept = replace(score, content_hash=content_hash, entries=entries)
            records.add_score(attempt_id, kept, samples.made(), Reason("tests"))
