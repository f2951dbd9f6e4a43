"""Statements of the key that no test reaches are named, and no others."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from viva.examiner.key_lines import KeyLines

KEY = '''\
"""A key."""
from math import exp


def brevity_penalty(c, r):
    """Return the factor for short candidates."""
    if c <= 0:
        raise ValueError("no candidate")
    if c < r:
        return exp(
            1 - r / c
        )
    lengths = [n for n in range(c)]
    try:
        return float(max(lengths) >= 0)
    except ValueError:
        return 0.0


def never_called():
    return 5


def outer(x):
    def inner():
        return x

    return inner
'''


@pytest.fixture
def key(tmp_path: Path) -> ModuleType:
    path = tmp_path / "key.py"
    path.write_text(KEY)
    spec = importlib.util.spec_from_file_location("key_for_lines", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def unreached(key: ModuleType, *calls: tuple[int, int]) -> list[str]:
    """The statements that some calls do not reach."""
    file = str(key.__file__)
    lines = KeyLines(Path(file))
    with lines.traced():
        for call in calls:
            key.brevity_penalty(*call)
    return [found.removeprefix(f"{file}:") for found in lines.unreached()]


def test_a_branch_that_no_call_takes_is_named(key: ModuleType) -> None:
    assert unreached(key, (5, 3)) == ["10: return exp(", "17: return 0.0"]
    assert unreached(key, (3, 5)) == [
        "13: lengths = [n for n in range(c)]", "14: try:", "15: return float(max(lengths) >= 0)", "17: return 0.0",
    ]  # fmt: skip
    assert unreached(key, (3, 5), (5, 3)) == ["17: return 0.0"]


def test_functions_that_are_never_called_and_other_files_say_nothing(key: ModuleType) -> None:
    assert unreached(key) == []
    lines = KeyLines(Path(str(key.__file__)).parent / "other")
    with lines.traced():
        key.brevity_penalty(5, 3)
    assert lines.unreached() == []


def test_a_function_within_a_function_is_its_own(key: ModuleType) -> None:
    lines = KeyLines(Path(str(key.__file__)))
    with lines.traced():
        key.outer(1)
    assert lines.unreached() == []
