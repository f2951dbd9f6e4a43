"""`viva review` in a real browser: a class marked by keyboard, two markers, restarts, and everybody can use it."""

import contextlib
import re
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error

from tests.support.review_class import NAME, fill, hash_of, rubric
from tests.support.review_server import chromium, opened, served
from viva.config.rubric import earned
from viva.model.hand_grading import FIRST, SECOND, Review
from viva.plugins.records import hand_grading
from viva.plugins.records.store import Records

pytestmark = pytest.mark.nightly
QUESTION = "2.1"
(ASKED,) = [question for question in rubric().questions if question.number == QUESTION]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as launched:
        yield launched


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'records.db'}"


def kept(url: str, size: int, folder: Path = Path("class")) -> str:
    """Create the records of a class."""
    with Records.open(url, Path()) as records:
        fill(records, size, folder)
    return url


def latest(url: str, round_: int = FIRST, question: str = QUESTION) -> dict[str, Review]:
    """Return the current decision on each answer to a question."""
    with Records.open(url, Path()) as records:
        rows = hand_grading.latest_rows(records, NAME)
    return {row.place.content_hash: row for row in rows if row.place.question == question and row.place.round == round_}


def place_in(page: Any) -> str:
    """Return the content hash of the answer that a page shows."""
    found = re.search(r"/q/[^/]+/([0-9a-f]{64})", page.url)
    assert found, page.url
    return found[1]


def wanted(content_hash: str) -> list[int]:
    """Return the keys of the items that the marker of these tests chooses."""
    number = int(content_hash[:8], 16)
    return [key for key in range(1, len(ASKED.items) + 1) if number >> key & 1]


def until(page: Any, condition: str) -> None:
    """Wait for a condition; Playwright's own way needs `eval`, which the pages forbid."""
    for _ in range(600):
        with contextlib.suppress(Error):  # the page was left in this moment
            if page.evaluate(condition):
                return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came: {condition}; the page says {page.inner_text('body')[:2000]}")


def _left(keys: list[int]) -> list[str]:
    """Return the items that are chosen by these keys: of exclusive ones the last."""
    exclusive = {group.name for group in ASKED.groups if group.exclusive}
    items = [ASKED.items[key - 1] for key in keys]
    return [
        i.id
        for n, i in enumerate(items)
        if i.group not in exclusive or i.group not in {j.group for j in items[n + 1 :]}
    ]


def finish(page: Any) -> None:
    """Press Enter and wait for what comes next."""
    before = page.url
    page.keyboard.press("Enter")
    if page.locator("#link:has-text('if you mean it')").count():
        page.keyboard.press("Enter")
    page.wait_for_url(lambda now: now != before)


def test_class_graded_by_keyboard(browser: Any, url: str, tmp_path: Path) -> None:
    kept(url, 60)
    with served(tmp_path, "--records", url, "--by", "Ada") as server:
        page = opened(browser, server)
        elsewhere = []
        page.on(
            "request", lambda r: elsewhere.append(r.url) if not r.url.startswith((server.origin, "data:")) else None
        )
        page.keyboard.press(str([q.number for q in rubric().questions].index(QUESTION) + 1))
        page.wait_for_url("**/q/**")
        chosen: dict[str, list[int]] = {}
        comments: dict[str, str] = {}
        while "/all" not in page.url:
            here = place_in(page)
            assert here not in chosen, "an answer came twice"
            chosen[here] = wanted(here)
            for key in chosen[here]:
                page.keyboard.press(str(key))
            if len(chosen) % 7 == 0:
                page.keyboard.press("c")
                page.keyboard.type(f"Number {len(chosen)}: 1 2 3?")
                page.keyboard.press("Escape")
                comments[here] = f"Number {len(chosen)}: 1 2 3?"
            finish(page)
        page.context.close()
        assert server.stop() == 0
    assert len(chosen) == 60
    rows = latest(url)
    assert set(rows) == set(chosen)
    for content_hash, row in rows.items():
        items = _left(chosen[content_hash])
        assert row.judgement.done
        assert list(row.judgement.items) == items
        assert row.judgement.earned == earned(ASKED, items)
        assert row.judgement.comment == comments.get(content_hash, "")
        assert row.by == "Ada"
    assert elsewhere == []


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_two_markers(browser: Any, url: str, tmp_path: Path, database: str, request: Any) -> None:
    """Each with a server of her own on the same records; no one waits, nothing is marked twice, nothing is lost."""
    place = url if database == "sqlite" else request.getfixturevalue("postgres_url")
    kept(place, 24)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with (
        served(tmp_path / "a", "--records", place, "--by", "Ada") as one,
        served(tmp_path / "b", "--records", place, "--by", "Grace") as two,
    ):
        pages = [opened(browser, server, f"/q/{QUESTION}") for server in (one, two)]
        marked: Counter[str] = Counter()
        while any("/all" not in page.url for page in pages):
            for page, key in zip(pages, "13", strict=True):
                if "/all" not in page.url:
                    here = place_in(page)
                    page.keyboard.press(key)
                    before = page.url
                    page.keyboard.press("Enter")
                    until(
                        page, f"location.href !== {before!r} || document.querySelector('#saved [role=alert]') !== null"
                    )
                    if page.locator("#saved [role=alert]").count():  # the other one was quicker
                        page.locator("[data-theirs]").click()
                        page.wait_for_load_state()
                        page.goto(f"{page.url.partition('/q/')[0]}/q/{QUESTION}")
                    else:
                        marked[here] += 1
        for page in pages:
            page.context.close()
    rows = latest(place)
    assert len(rows) == 24
    assert all(row.judgement.done for row in rows.values())
    assert {row.by for row in rows.values()} == {"Ada", "Grace"}
    assert set(marked.values()) == {1}


def test_conflicting_edit_overwrites_nothing_silently(browser: Any, url: str, tmp_path: Path) -> None:
    kept(url, 3)
    (tmp_path / "b").mkdir()
    with (
        served(tmp_path, "--records", url, "--by", "Ada") as one,
        served(tmp_path / "b", "--records", url, "--by", "Grace") as two,
    ):
        path = f"/q/{QUESTION}/{hash_of(0)}"
        ada, grace = opened(browser, one, path), opened(browser, two, path)
        ada.fill("#comment", "by Ada")
        ada.wait_for_selector("#saved .total:has-text('draft')")
        grace.fill("#comment", "by Grace")
        grace.wait_for_selector("#saved [role=alert]")
        assert latest(url)[hash_of(0)].judgement.comment == "by Ada"
        grace.keyboard.press("Control+End")
        grace.keyboard.type(", and more")
        grace.wait_for_timeout(900)
        assert latest(url)[hash_of(0)].judgement.comment == "by Ada", "nothing is overwritten without a word"
        grace.click("[data-mine]")
        grace.wait_for_selector("#saved [role=alert]", state="detached")
        assert latest(url)[hash_of(0)].judgement.comment == "by Grace, and more"


@pytest.mark.parametrize("reloaded", [False, True], ids=["the page stays", "the page is loaded again"])
def test_restart_while_typing(browser: Any, url: str, tmp_path: Path, reloaded: bool) -> None:
    kept(url, 3)
    with served(tmp_path, "--records", url, "--by", "Ada") as server:
        page = opened(browser, server, f"/q/{QUESTION}/{hash_of(1)}")
        page.keyboard.press("1")
        page.keyboard.press("c")
        page.keyboard.type("The first half of a sentence,")
        page.wait_for_selector("#saved .total:has-text('draft')")
        server.stop(signal.SIGKILL)
    page.keyboard.type(" and the second half")
    until(page, "document.querySelector('#link').innerText.includes('Not kept yet')")
    with served(tmp_path, "--records", url, "--by", "Ada") as again:
        assert again.origin == server.origin, "the page is where it was"
        if reloaded:
            page.reload()
        until(page, "document.querySelector('#link').innerText === ''")
        until(page, "Object.keys(sessionStorage).every(key => !key.startsWith('viva '))")
        page.keyboard.press("Control+Enter")
        page.wait_for_url(lambda now: hash_of(1) not in now)
    row = latest(url)[hash_of(1)].judgement
    assert row.comment == "The first half of a sentence, and the second half"
    assert row.done
    assert len(row.items) == 1


def test_enter_without_server(browser: Any, url: str, tmp_path: Path) -> None:
    kept(url, 3)
    with served(tmp_path, "--records", url, "--by", "Ada") as server:
        page = opened(browser, server, f"/q/{QUESTION}/{hash_of(1)}")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#link').innerText.includes('Not kept yet')")
    with served(tmp_path, "--records", url, "--by", "Ada"):
        page.wait_for_url(lambda now: hash_of(1) not in now)
    assert latest(url)[hash_of(1)].judgement.done


def test_group_and_undo(browser: Any, url: str, tmp_path: Path) -> None:
    kept(url, 40)
    alike = [number for number in range(40) if number % 5 == 3 and number % 10 != 9]
    with served(tmp_path, "--records", url, "--by", "Ada") as server:
        page = opened(browser, server, f"/q/{QUESTION}/{hash_of(alike[0])}")
        page.keyboard.press("1")
        page.wait_for_selector("#similar a")
        with page.expect_navigation():
            page.locator("button.main").click()
        page.goto(f"{server.origin}/q/{QUESTION}/{hash_of(alike[0])}")
        page.wait_for_selector("#similar a")
        page.keyboard.press("g")
        page.wait_for_url("**/group")
        page.keyboard.press("2")  # not this one
        left_out = page.locator("input[name=chosen]").nth(1).get_attribute("value").split()[0]
        finish(page)
        marked = {content_hash for content_hash, row in latest(url).items() if row.judgement.done}
        assert marked == {hash_of(number) for number in alike} - {left_out}
        page.keyboard.press("u")
        page.wait_for_url("**note=undone")
        assert {h for h, row in latest(url).items() if row.judgement.done} == {hash_of(alike[0])}
        page.keyboard.press("u")
        page.wait_for_selector("#saved .total:has-text('draft')")
        assert not [row for row in latest(url).values() if row.judgement.done]


def test_similar_answers_before_grading(browser: Any, url: str, tmp_path: Path) -> None:
    """They can be read first; Enter comes back, and gives no grade."""
    kept(url, 20)
    with served(tmp_path, "--records", url, "--by", "Ada") as server:
        page = opened(browser, server, f"/q/{QUESTION}/{hash_of(3)}")
        page.wait_for_selector("#similar a")
        page.keyboard.press("g")
        page.wait_for_url("**/group")
        assert page.locator("article.like").count() and not page.locator("input[name=chosen]").count()
        page.keyboard.press("Enter")
        page.wait_for_url(lambda now: hash_of(3) in now and "/group" not in now)
    assert not latest(url)


def test_ready_comments_by_keyboard(browser: Any, url: str, tmp_path: Path) -> None:
    """`m` and Enter take a comment; then the keys work again. `m` and Esc close the comments."""
    kept(url, 4)
    with served(tmp_path, "--records", url, "--by", "Ada") as server:
        page = opened(browser, server, f"/q/{QUESTION}/{hash_of(1)}")
        page.keyboard.press("m")
        page.keyboard.press("Escape")
        assert not page.locator("details.comment-bank").evaluate("bank => bank.open")
        page.keyboard.press("m")
        page.keyboard.press("Enter")
        comment = page.input_value("#comment")
        assert comment
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        page.wait_for_url(lambda now: hash_of(1) not in now)
    graded = latest(url)[hash_of(1)].judgement
    assert graded.done and graded.comment == comment


def test_second_round_and_agreement(browser: Any, url: str, tmp_path: Path) -> None:
    kept(url, 6)
    (tmp_path / "b").mkdir()
    with served(tmp_path, "--records", url, "--by", "Ada") as server:
        page = opened(browser, server, f"/q/{QUESTION}")
        while "/all" not in page.url:
            page.keyboard.press("1")
            page.fill("#comment", "what only the first marker says")
            page.keyboard.press("Escape")
            finish(page)
    with served(tmp_path / "b", "--records", url, "--by", "Grace", "--second") as server:
        page = opened(browser, server, f"/q/{QUESTION}")
        for number in range(6):
            page.keyboard.press("h")
            page.wait_for_selector("#history ol, #history p.dim")
            text = page.content()
            assert "what only the first marker says" not in text
            assert "Ada" not in page.inner_text("main").replace("Ada ", "")
            assert page.locator("input[name=items]:checked").count() == 0
            page.keyboard.press("1")
            if number < 2:
                page.keyboard.press("2")
            finish(page)
        page.goto(f"{server.origin}/agreement")
        row = page.locator("tr", has_text=QUESTION).inner_text().split()
        assert "6" in row
        assert "67" in row  # per cent
        page.goto(f"{server.origin}/differing")
        assert page.locator("ul.queue li").count() == 2
        page.keyboard.press("1")
        page.wait_for_url("**/decide/**")
        assert "what only the first marker says" in page.content()
        page.fill("#comment", "settled")
        page.fill("#why", "looked at it together")
        page.get_by_role("button", name="Decide").click()
        page.wait_for_url("**note=decided**")
        page.goto(f"{server.origin}/differing")
        assert page.locator("ul.queue li").count() == 1
    assert len(latest(url, SECOND)) == 6


def test_without_scripts(browser: Any, url: str, tmp_path: Path) -> None:
    kept(url, 3)
    with served(tmp_path, "--records", url, "--by", "Ada") as server:
        page = opened(browser, server, f"/q/{QUESTION}/{hash_of(0)}", java_script_enabled=False)
        page.locator("input[name=items]").first.check()
        page.fill("#comment", "two\nlines")
        page.get_by_role("button", name="Done, next").click()
        assert hash_of(0) not in page.url
    assert latest(url)[hash_of(0)].judgement.comment == "two\nlines"
    assert latest(url)[hash_of(0)].judgement.done


def test_zero_points_need_a_second_enter(browser: Any, url: str, tmp_path: Path) -> None:
    """Enter by mistake gives no one nothing; who wrote nothing is not asked about."""
    kept(url, 10)
    with served(tmp_path, "--records", url, "--by", "Ada") as server:
        page = opened(browser, server, f"/q/{QUESTION}/{hash_of(0)}")
        page.keyboard.press("Enter")
        page.wait_for_selector("#link:has-text('0 points')")
        assert latest(url) == {}
        page.keyboard.press("Enter")
        page.wait_for_url(lambda now: hash_of(0) not in now)
        assert latest(url)[hash_of(0)].judgement.done
        page.goto(f"{server.origin}/q/{QUESTION}/{hash_of(9)}")
        page.keyboard.press("Enter")
        page.wait_for_url(lambda now: hash_of(9) not in now)


def test_keys_off(browser: Any, url: str, tmp_path: Path) -> None:
    kept(url, 2)
    with served(tmp_path, "--records", url, "--by", "Ada") as server:
        page = opened(browser, server, f"/q/{QUESTION}/{hash_of(0)}")
        page.keyboard.press("?")
        page.wait_for_selector("dialog[open]")
        page.get_by_label("Keys are on").uncheck()
        page.get_by_role("button", name="Close").click()
        page.keyboard.press("1")
        assert page.locator("input[name=items]:checked").count() == 0
