"""What is imported before student code comes, and the code path of a box that the fork server runs: no box sees it."""

import gc
import sys

import pytest

from viva.sandbox.guest.process.preload import import_all, to_import


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
