"""The pages in a real browser: nothing of a student's runs, nothing is fetched, everybody can read and reach it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.hostile_notebooks import ACTING, FORMULAS, PAYLOADS, hostile_notebook, notebook
from tests.support.report_class import assignment, entry, large_class, marked, write_executed
from tests.support.review_server import chromium
from viva.model import ScoredAttempt, Status
from viva.plugins.report import feedback_page
from viva.plugins.report.build import write_report
from viva.plugins.report.safe_html import render_text
from viva.submissions import open_submission

pytestmark = pytest.mark.nightly
SCHEMES = ["light", "dark"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report of a class with every kind of result, and feedback on a hostile notebook."""
    root = tmp_path_factory.mktemp("site")
    class_ = [*large_class(60), *(_handed_in(root, name) for name in ("ada", "eve"))]
    folders = {}
    for one, data in ((class_[0], hostile_notebook()), (class_[1], _usual_notebook())):
        folders[one.attempt.name] = root / one.attempt.path.name
        write_executed(folders[one.attempt.name], data)
    write_report(class_, assignment(), root / "out", feedback=True, results=folders)
    return root / "out"


PAGES = [
    "report.html",
    "feedback/class/s0000.html",
    "feedback/class/s0001.html",
    "feedback/ada.html",
]


TOUCH = """selector => {
    const found = [...document.querySelectorAll(selector)];
    const settings = {bubbles: true, cancelable: true, composed: true};
    for (const element of found) for (const name of ['click', 'mouseover', 'focus', 'error'])
        element.dispatchEvent(name === 'focus' ? new FocusEvent(name, settings) : new MouseEvent(name, settings));
    return found.length;
}"""
"""Clicks on everything, moves over everything, focuses everything; in the page, because it is thousands of elements."""
FORMULAS_OF_A_COURSE = [
    r"\mathrm{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right) V",
    r"\text{BLEU} = \mathrm{BP} \cdot \exp\left(\sum_{n=1}^{N} w_n \log p_n\right), \hat{y} = \bar{x} + \vec{v}",
    r"\mathrm{BP} = \begin{cases} 1 & \text{if } c > r \\ e^{1 - r/c} & \text{if } c \le r \end{cases}",
    r"A = \begin{pmatrix} a_{11} & \cdots & a_{1n} \\ \vdots & & \vdots \\ a_{m1} & \cdots & a_{mn} \end{pmatrix}",
    r"\begin{aligned} \nabla_\theta J &= \mathbb{E}[R] \\ &\approx \frac{1}{N} R_i \end{aligned}",
    r"\boxed{\lVert \mathbf{w} \rVert_2} \quad \overline{AB} \quad \unknown",
]


def open_page(browser: Any, path: Path, **settings: Any) -> Any:
    page = browser.new_context(**settings).new_page()
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_page_has_no_accessibility_violation(browser: Any, site: Path, name: str, scheme: str, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(browser, site / name, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    found = Axe().run(page)
    page.screenshot(path=tmp_path / f"{scheme}.png", full_page=True)
    page.context.close()
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("bypass", [False, True], ids=["with the policy", "without the policy"])
def test_payloads_do_not_run(browser: Any, tmp_path: Path, bypass: bool) -> None:
    """With the policy switched off, what was sanitised must be harmless by itself."""
    notebook_, text = hostile_notebook(), "\n".join(PAYLOADS)
    entries = [entry("1.1", Status.ERROR, message=text, name=text), entry("1.2", name=PAYLOADS[0])]
    one = marked("s", *entries, notes=tuple(PAYLOADS), environment=tuple(PAYLOADS))
    class_ = [replace(one, attempt=replace(one.attempt, name=f"{payload[:60]}")) for payload in PAYLOADS[:12]]
    (tmp_path / "page.html").write_bytes(
        feedback_page.render_page(one, assignment(), feedback_page.Notebook(notebook_, executed=True))
    )
    write_report(class_, assignment(), tmp_path)
    for name in ("page.html", "report.html"):
        context = browser.new_context(bypass_csp=bypass)
        asked: list[str] = []
        context.on("request", lambda request, asked=asked: asked.append(request.url))
        context.add_init_script("window.ran = 0; window.owned = () => { window.ran += 1 }")
        page = context.new_page()
        page.goto((tmp_path / name).as_uri())
        before = page.url
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert (page.evaluate(TOUCH, ".student *") > 1000) == (name == "page.html")
        page.wait_for_timeout(300)
        assert page.evaluate("window.ran") == 0
        drawings = page.locator("img[src^='data:image/svg+xml']").count()
        assert (drawings >= len(ACTING)) == (name == "page.html"), "the drawings are there, and do nothing"
        formulas = page.locator(".student math").count()
        assert (formulas >= len(FORMULAS) // 2) == (name == "page.html"), "formulas are there, and do nothing"
        assert page.evaluate("[...document.querySelectorAll('math *')].every(e => e.namespaceURI.endsWith('/MathML'))")
        assert page.evaluate("document.querySelectorAll('script, iframe, object, embed, form, [style]').length") == 0
        assert page.evaluate("[...document.querySelectorAll('*')].some(e => e.shadowRoot)") is False
        assert page.url == before and page.locator("main h1, main main").count() == 0
        assert [url for url in asked if not url.startswith(("file:", "data:image/"))] == []
        context.close()


def test_formulas_do_not_run(browser: Any, tmp_path: Path) -> None:
    """Both ways of showing prose, in a page without a policy, a style or a sanitiser of its own."""
    typed = [*PAYLOADS, *(f"${latex}$ $${latex}$$" for latex in FORMULAS)]
    shown = "\n".join(f"<div>{render_text(payload, html=html)}</div>" for payload in typed for html in (True, False))
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{shown}", "utf-8")
    page = browser.new_context().new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.add_init_script("window.ran = 0; window.owned = () => { window.ran += 1 }")
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate(TOUCH, "body *") > 1000
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") == 0 and page.locator("math").count() > len(FORMULAS)
    assert page.evaluate(
        "[...document.querySelectorAll('*')].every(e => !e.getAttributeNames().some(n => /^on/.test(n)))"
    )
    assert [url for url in asked if not url.startswith(("file:", "data:image/"))] == []
    page.context.close()


def test_formulas_are_drawn(browser: Any, site: Path) -> None:
    """By the browser alone: limits above and below, a bar of a fraction, brackets that grow, columns at the sign."""
    page = open_page(browser, site / "feedback/class/s0001.html", java_script_enabled=False)

    def box(selector: str) -> Any:
        return page.locator(f".student {selector}").first.bounding_box()

    upper, lower = box("mfrac > :nth-child(1)"), box("mfrac > :nth-child(2)")
    assert upper["y"] + upper["height"] <= lower["y"]
    sign, below = box("munderover > :nth-child(1)"), box("munderover > :nth-child(2)")
    assert sign["y"] + sign["height"] <= below["y"]
    bracket, table = box("mrow:has(> mtable) > mo"), box("mrow > mtable")
    assert bracket["height"] > 0.9 * table["height"] > 30
    first, second = (
        page.locator(f".student mtable:has([columnalign=right]) > mtr:nth-child({n}) > mtd:nth-child(2)").bounding_box()
        for n in (1, 2)
    )
    assert first["x"] == second["x"]
    page.context.close()


def test_wide_formula_scrolls(browser: Any, site: Path) -> None:
    page = open_page(browser, site / "feedback/class/s0001.html", viewport={"width": 360, "height": 740})
    wide = page.locator(".formula:has(munderover)")
    assert wide.evaluate("e => e.scrollWidth > e.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.context.close()


def test_payloads_run_unsanitised(browser: Any, tmp_path: Path) -> None:
    """Without sanitising and without the policy the same payloads do run."""
    (tmp_path / "raw.html").write_text("<!doctype html>" + "\n".join(PAYLOADS), "utf-8")
    page = browser.new_context().new_page()
    page.add_init_script("window.ran = 0; window.owned = () => { window.ran += 1 }")
    page.goto((tmp_path / "raw.html").as_uri())
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") > 3


def test_smuggled_style(browser: Any, tmp_path: Path) -> None:
    """The policy names the page's own style by its hash."""
    data = feedback_page.render_page(marked("s", entry("1.1")), assignment())
    assert b"</style>" in data
    (tmp_path / "page.html").write_bytes(data.replace(b"</main>", b"<style>body{display:none}</style></main>"))
    page = open_page(browser, tmp_path / "page.html")
    assert page.evaluate("getComputedStyle(document.body).display") == "block"
    assert page.evaluate("getComputedStyle(document.querySelector('.facts')).display") == "grid"


@pytest.mark.parametrize("name", PAGES)
def test_keyboard_focus(browser: Any, site: Path, name: str) -> None:
    """Links, what opens, and what scrolls: each gets the focus, in the order of the page, and shows it."""
    page = open_page(browser, site / name)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    wanted = page.locator("a[href], summary, [tabindex='0']").count()
    places = set()
    for _ in range(wanted):
        page.keyboard.press("Tab")
        place, outline = page.evaluate(
            "[[...document.querySelectorAll('*')].indexOf(document.activeElement), "
            "getComputedStyle(document.activeElement).outlineStyle]"
        )
        places.add(place)
        assert outline != "none"
    assert len(places) == wanted
    if page.locator("summary").count():
        page.locator("summary").first.focus()
        page.keyboard.press("Enter")
        assert page.locator("details").first.get_attribute("open") is None
    page.context.close()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(
    ("width", "scale"), [(360, 3), (320, 2), (550, 2)], ids=["a phone", "a small phone", "1100 at 200 %"]
)
def test_narrow_window(browser: Any, site: Path, name: str, width: int, scale: int, tmp_path: Path) -> None:
    """At a zoom of 200 % a window of 1100 points is 550 wide. Tables scroll within themselves, the page does not."""
    page = open_page(browser, site / name, viewport={"width": width, "height": 740}, device_scale_factor=scale)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.screenshot(path=tmp_path / "narrow.png")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_printed_page_shows_closed_details(browser: Any, site: Path, name: str) -> None:
    page = open_page(browser, site / name, color_scheme="dark")
    page.emulate_media(media="print")
    data = page.pdf(format="A4")
    assert data.startswith(b"%PDF-") and len(data) > 5000
    closed = page.evaluate("""[...document.querySelectorAll('details:not([open]):not(.repeated)')]
        .filter(d => d.lastElementChild.getBoundingClientRect().height === 0).length""")
    assert closed == 0
    page.context.close()


def test_without_scripts(browser: Any, site: Path) -> None:
    page = open_page(browser, site / "report.html", java_script_enabled=False)
    assert page.locator("h2").count() >= 8
    closed = page.locator("details:not([open])").count()
    page.locator("details:not([open]) > summary").first.click()
    assert page.locator("details:not([open])").count() == closed - 1


def _handed_in(root: Path, name: str) -> ScoredAttempt:
    path = root / f"{name}.py"
    path.write_text(f"# {name}\ndef f(x):\n    return x\n", "utf-8")
    one = marked(name, entry("1.1"), students=(name,))
    graded = open_submission(path, str(path))
    return ScoredAttempt(replace(one.attempt, path=path), replace(one.score, content_hash=graded.content_hash))


def _usual_notebook() -> bytes:
    return notebook(
        ("markdown", "# Question 1.1\n\n*Text*, $x^2$, [a link](https://example.org), a table:\n\n|a|b|\n|-|-|\n|1|2|"),
        ("markdown", "\n\n".join(f"$${latex}$$" for latex in FORMULAS_OF_A_COURSE)),
        ("code", "import numpy as np\n\ndef f(x):\n    # a comment\n    return np.sum(x, axis=0) + 'text'"),
        outputs=[{"output_type": "stream", "text": "loss 0.31\n"}],
    )  # fmt: skip
