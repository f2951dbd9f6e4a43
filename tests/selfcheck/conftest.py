"""A bare shell of IPython in this process, and the course that is asked in it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.live_course import LIVE, write_live_course
from tests.support.words_course import RIGHT, SECRET


@pytest.fixture(scope="session")
def live_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course that no test changes."""
    return write_live_course(tmp_path_factory.mktemp("live_course"))


@pytest.fixture
def folder(live_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the notebook, which is the working directory."""
    monkeypatch.setenv("VIVA_COURSE", str(live_course))
    monkeypatch.setenv("VIVA_SECRET", SECRET)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    mine = tmp_path / "mine"
    mine.mkdir()
    monkeypatch.chdir(mine)
    return mine


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """IPython's shell without a kernel."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    for name in ("displayhook", "excepthook"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config)
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(folder: Path, bare: Any) -> Any:
    """The shell, after two cells in which everything is right."""
    for cell in (RIGHT, LIVE):
        assert bare.run_cell(cell, store_history=True).success
    return bare
