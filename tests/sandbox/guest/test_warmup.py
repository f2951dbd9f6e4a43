"""The fork server runs the code path of a box before any box exists; no box may see that it did."""

import builtins
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from viva.sandbox.guest.loading import sources
from viva.sandbox.guest.process import warmup


def state() -> dict[str, Any]:
    return {
        "modules": set(sys.modules),
        "path": list(sys.path),
        "finders": list(sys.meta_path),
        "arguments": list(sys.argv),
        "input": builtins.input,
        "breakpoint": sys.breakpointhook,
        "random": random.getstate(),
        "numpy": repr(np.random.get_state()),
        "directory": Path.cwd(),
        "work": sources.folder(),
        "namespaces": set(sources._NAMESPACES),
        "open": len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else 0,
        "environment": dict(os.environ),
        "alarm": signal.getitimer(signal.ITIMER_REAL)[0],
    }


@pytest.fixture(autouse=True)
def _own_handlers() -> Any:
    """Restore the handlers that `default_signals` replaces, so that other tests keep theirs."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_nothing_of_a_warmup_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "warmup"
    warmup.warm_up(str(tmp_path / "first"))  # from here on, all late imports are done
    sources.forget_namespaces()
    before = state()
    warmup.warm_up(str(folder))
    assert state() == before
    assert not folder.exists()


def test_a_warmup_that_fails_is_reported_and_cleaned_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A box that cannot answer would fail every submission, so the fork server must not start."""
    sources.forget_namespaces()
    before = state()
    monkeypatch.setattr(warmup, "_SOURCE", b"SIZE = 1\n")
    with pytest.raises(RuntimeError, match="the rehearsal of a box failed"):
        warmup.warm_up(str(tmp_path / "warmup"))
    assert state() == before and not list(tmp_path.iterdir())
