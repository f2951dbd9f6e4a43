"""What is imported before student code comes."""

import gc
import sys

import pytest

from viva.sandbox.guest.process.preload import import_all, to_import


def test_a_module_that_may_be_missing_is_left_out_where_it_is() -> None:
    names = to_import(["json?", "viva_has_no_such_module?", "viva_has_no_such_room.either?"])
    assert names[-1] == "json"


def test_a_module_that_is_asked_for_stays_whether_it_is_installed_or_not() -> None:
    assert to_import(["viva_has_no_such_module"])[-1] == "viva_has_no_such_module"


def test_torch_brings_the_parts_that_most_code_uses() -> None:
    parts = ["torch.nn", "torch.optim", "torch.utils.data"]
    assert to_import(["torch"])[-3:] == to_import(["torch?"])[-3:] == parts


def test_what_no_code_uses_is_left_out() -> None:
    assert not [name for name in to_import(["torch?", "-torch"]) if "torch" in name]
    assert "json.tool?" not in to_import(["json.tool?", "-json.tool"])


def test_a_part_that_another_version_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "xml.sax", raising=False)
    import_all(["json.no_such_part?", "xml.sax?"])
    assert "xml.sax" in sys.modules
    with pytest.raises(ModuleNotFoundError):
        import_all(["json.no_such_part"])
    assert gc.isenabled()
