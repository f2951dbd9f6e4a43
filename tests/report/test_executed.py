"""Executed notebooks next to results: those of the marked bytes, and no others."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.hostile_notebooks import notebook
from tests.support.report_class import entry, marked
from viva.model import ScoredAttempt
from viva.plugins.report.feedback.executed_notebooks import ExecutedNotebooks
from viva.submissions.notebook_cells import EXECUTED_FILE, About, about

CONTENT_HASH = "a" * 64


def notebook_of(content_hash: object = CONTENT_HASH, **said: object) -> bytes:
    written = json.loads(notebook(("code", "1 + 1")))
    written["metadata"]["viva"] = {"content_hash": content_hash, **said}
    return json.dumps(written).encode()


@pytest.fixture
def one() -> ScoredAttempt:
    score = marked("ada", entry("1")).score
    return replace(marked("ada", entry("1")), score=replace(score, content_hash=CONTENT_HASH))


def test_executed_notebooks(tmp_path: Path, one: ScoredAttempt) -> None:
    found = ExecutedNotebooks([(one, tmp_path)])
    assert list(found) == [] and found.get("ada") is None and len(found) == 0
    (tmp_path / EXECUTED_FILE).write_bytes(notebook_of())
    assert list(found) == ["ada"] and found["ada"] == notebook_of() and len(found) == 1
    assert "eve" not in found


@pytest.mark.parametrize(
    "data",
    [
        notebook_of("b" * 64),
        notebook_of(""),
        notebook_of(7),
        b"{}",
        b"[]",
        b"",
        b"no notebook",
        b"[" * 100_000,
        b"\xff",
    ],
    ids=lambda data: str(data[:12]),
)
def test_notebook_of_another_submission(tmp_path: Path, one: ScoredAttempt, data: bytes) -> None:
    (tmp_path / EXECUTED_FILE).write_bytes(data)
    assert "ada" not in ExecutedNotebooks([(one, tmp_path)])


def test_result_without_a_hash(tmp_path: Path, one: ScoredAttempt) -> None:
    (tmp_path / EXECUTED_FILE).write_bytes(notebook_of(""))
    assert "ada" not in ExecutedNotebooks([(replace(one, score=replace(one.score, content_hash="")), tmp_path)])


def test_no_regular_file(tmp_path: Path, one: ScoredAttempt) -> None:
    for name in ("link", "pipe", "folder", "huge"):
        (tmp_path / name).mkdir()
    (tmp_path / "elsewhere.ipynb").write_bytes(notebook_of())
    (tmp_path / "link" / EXECUTED_FILE).symlink_to(tmp_path / "elsewhere.ipynb")
    os.mkfifo(tmp_path / "pipe" / EXECUTED_FILE)
    (tmp_path / "folder" / EXECUTED_FILE).mkdir()
    (tmp_path / "huge" / EXECUTED_FILE).touch()
    os.truncate(tmp_path / "huge" / EXECUTED_FILE, 1 << 40)
    for name in ("link", "pipe", "folder", "huge"):
        assert "ada" not in ExecutedNotebooks([(one, tmp_path / name)])


def test_about_reads_content_hash_and_load() -> None:
    assert about(notebook_of(load="definitions")) == About(CONTENT_HASH, "definitions")
