"""Everything that is written, searched for what must not be in it."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.hostile_notebooks import notebook
from tests.support.report_class import assignment, entry, large_class, marked, write_executed
from viva.formats.atomic_write import write_atomically
from viva.model import ScoredAttempt, Status
from viva.model.errors import UsageError
from viva.plugins.report import build
from viva.plugins.report.build import GONE, find_notebook, write_report
from viva.submissions import open_submission
from viva.submissions.notebook_cells import EXECUTED_FILE

SECRET = "zq-secret-7141"


def handed_in(folder: Path, name: str, data: bytes, one: ScoredAttempt) -> ScoredAttempt:
    path = folder / name
    path.write_bytes(data)
    graded = open_submission(path, str(path))
    return ScoredAttempt(
        replace(one.attempt, name=name, path=path), replace(one.score, content_hash=graded.content_hash)
    )


def test_hidden_tests_do_not_leak(tmp_path: Path) -> None:
    hidden: dict[str, Any] = {
        "visibility": "hidden",
        "staff": f"expected {SECRET}",
        "label": SECRET,
        "name": f"About {SECRET}.",
    }
    one = marked("ada", entry("1.1"), entry("1.1", Status.FAILED, message=SECRET, test=f"t::{SECRET}", **hidden))
    data = notebook(("markdown", "# 1.1"), ("code", "def f(): pass"))
    class_ = [handed_in(tmp_path, "ada.ipynb", data, one), one]
    written = write_report(class_, assignment(), tmp_path / "out", feedback=True)
    pages = sorted((tmp_path / "out" / "feedback").rglob("*.*"))
    assert [page.name for page in pages] == ["ada.html", "ada.ipynb.html"] and written.pages == 2
    assert not [page for page in pages if SECRET.encode() in page.read_bytes()]
    assert b"not executed" in pages[1].read_bytes()
    assert b"not where it was graded" in pages[0].read_bytes()
    assert SECRET in (tmp_path / "out" / "report.html").read_text("utf-8"), "staff read what went wrong"


def test_changed_submission(tmp_path: Path) -> None:
    one = handed_in(tmp_path, "a.ipynb", notebook(("code", "before = 1")), marked("a", entry("1")))
    one.attempt.path.write_bytes(notebook(("code", "changed_later = 2")))
    write_report([one], assignment(), tmp_path / "out", feedback=True)
    html = (tmp_path / "out/feedback/a.ipynb.html").read_text("utf-8")
    assert "changed since it was graded" in html and "changed_later" not in html


@pytest.fixture
def one() -> ScoredAttempt:
    return marked("ada", entry("1"))


def test_executed_notebook(tmp_path: Path, one: ScoredAttempt) -> None:
    assert find_notebook(one, assignment(), frozenset, tmp_path) == (None, GONE)
    write_executed(tmp_path, notebook(("code", "1 + 1")))
    found, why_none = find_notebook(one, assignment(), frozenset, tmp_path)
    assert found is not None and found.executed and b"1 + 1" in found.data and why_none == ""


@pytest.mark.parametrize("content_hash", ["b" * 64, "", 7])
def test_notebook_of_another_submission(tmp_path: Path, one: ScoredAttempt, content_hash: object) -> None:
    write_executed(tmp_path, notebook(("code", "1")), content_hash)
    assert find_notebook(one, assignment(), frozenset, tmp_path) == (None, GONE)
    without_hash = replace(one, score=replace(one.score, content_hash=""))
    assert find_notebook(without_hash, assignment(), frozenset, tmp_path) == (None, GONE)


@pytest.mark.parametrize("data", [b"{}", b"[]", b"", b"no notebook", b"[" * 100_000, b"\xff"], ids=lambda d: str(d[:9]))
def test_invalid_executed_notebook(tmp_path: Path, one: ScoredAttempt, data: bytes) -> None:
    (tmp_path / EXECUTED_FILE).write_bytes(data)
    assert find_notebook(one, assignment(), frozenset, tmp_path) == (None, GONE)


def test_executed_notebook_is_a_regular_file(tmp_path: Path, one: ScoredAttempt) -> None:
    for name in ("link", "pipe", "folder", "huge"):
        (tmp_path / name).mkdir()
    write_executed(tmp_path, notebook(("code", "1")))
    (tmp_path / "link" / EXECUTED_FILE).symlink_to(tmp_path / EXECUTED_FILE)
    os.mkfifo(tmp_path / "pipe" / EXECUTED_FILE)
    (tmp_path / "folder" / EXECUTED_FILE).mkdir()
    (tmp_path / "huge" / EXECUTED_FILE).touch()
    os.truncate(tmp_path / "huge" / EXECUTED_FILE, 1 << 40)
    for name in ("link", "pipe", "folder", "huge"):
        assert find_notebook(one, assignment(), frozenset, tmp_path / name) == (None, GONE)


def test_duplicate_names(tmp_path: Path) -> None:
    twins = [marked("ada", entry("1.1")), marked("ada", entry("1.1", Status.FAILED))]
    with pytest.raises(UsageError, match="Two submissions are called 'ada'"):
        write_report(twins, assignment(), tmp_path, feedback=True)
    assert list(tmp_path.iterdir()) == []


def test_failing_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class_ = [marked(name, entry("1.1")) for name in ("ada", "line\nbreak", "bob", "eve")]
    written_to = write_atomically

    def fails(path: Path, data: bytes, **options: bool) -> None:
        if path.name == "bob.html":
            raise ValueError("a library does not like what Bob wrote")
        written_to(path, data, **options)

    monkeypatch.setattr(build, "write_atomically", fails)
    written = write_report(class_, assignment(), tmp_path, feedback=True)
    assert written.pages == 2 and sorted(p.name for p in (tmp_path / "feedback").iterdir()) == ["ada.html", "eve.html"]
    (first, why), second = written.without_page
    assert first == "line\nbreak" and "cannot give a page its name" in why
    assert second == ("bob", "ValueError: a library does not like what Bob wrote")


@pytest.mark.nightly
def test_page_of_two_thousand(tmp_path: Path) -> None:
    write_report(large_class(2000), assignment(), tmp_path)
    assert (tmp_path / "report.html").stat().st_size < 3_000_000
