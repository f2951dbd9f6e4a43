"""The answer keys that these tests check."""

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]


def load_key(assignment: str) -> ModuleType:
    importlib.import_module("torch")  # a key defines what needs torch only if torch is loaded
    path = ROOT / "graders" / assignment / "key.py"
    spec = importlib.util.spec_from_file_location(f"{assignment}_key", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def key(request: pytest.FixtureRequest) -> ModuleType:
    """Load the key of the assignment that the module names in `NAME`."""
    return load_key(request.module.NAME)
