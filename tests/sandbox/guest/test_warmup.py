"""What is imported before student code comes, and the code path of a box that the fork server runs: no box sees it."""

import builtins
import gc
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
from viva.sandbox.guest.process.preload import import_all, to_import


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


def test_warmup_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "warmup"
    warmup.warm_up(str(tmp_path / "first"))  # from here on, all late imports are done
    sources.forget_namespaces()
    before = state()
    warmup.warm_up(str(folder))
    assert state() == before
    assert not folder.exists()


def test_failing_warmup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A box that cannot answer would fail every submission, so the fork server must not start."""
    sources.forget_namespaces()
    before = state()
    monkeypatch.setattr(warmup, "_SOURCE", b"SIZE = 1\n")
    with pytest.raises(RuntimeError, match="the rehearsal of a box failed"):
        warmup.warm_up(str(tmp_path / "warmup"))
    assert state() == before and not list(tmp_path.iterdir())


def test_preload_of_optional_module() -> None:
    names = to_import(["json?", "viva_has_no_such_module?", "viva_has_no_such_room.either?"])
    assert names[-1] == "json"


def test_preload_of_missing_module() -> None:
    assert to_import(["viva_has_no_such_module"])[-1] == "viva_has_no_such_module"


def test_preload_of_torch() -> None:
    parts = ["torch.nn", "torch.optim", "torch.utils.data", "torch._dynamo?"]
    assert to_import(["torch"])[-4:] == to_import(["torch?"])[-4:] == parts


def test_preload_without_unused_modules() -> None:
    assert not [name for name in to_import(["torch?", "-torch"]) if "torch" in name]
    assert "json.tool?" not in to_import(["json.tool?", "-json.tool"])


def test_import_of_optional_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "xml.sax", raising=False)
    import_all(["json.no_such_part?", "xml.sax?"])
    assert "xml.sax" in sys.modules
    with pytest.raises(ModuleNotFoundError):
        import_all(["json.no_such_part"])
    assert gc.isenabled()
