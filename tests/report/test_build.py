"""Everything that is written, searched for what must not be in it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.hostile_notebooks import notebook
from tests.support.report_class import assignment, entry, large_class, marked
from viva.formats.atomic_write import write_atomically
from viva.model import ScoredAttempt, Status
from viva.model.errors import UsageError
from viva.plugins.report import build
from viva.plugins.report.build import write_report
from viva.submissions import open_submission

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
