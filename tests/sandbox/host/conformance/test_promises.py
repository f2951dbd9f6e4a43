"""The manual's table of limits has the defaults of the code, and every test of this folder runs in each tier.

They are run on every kind of host that can be had: by test_other_hosts.py, and in containers (test_container_long.py).
"""

import ast
import dataclasses
import re
from pathlib import Path

import pytest

from viva.sandbox.limits import Limits

HERE = Path(__file__).parent
MANUAL = (HERE.parents[3] / "docs" / "sandbox.md").read_text("utf-8")


def test_manual_defaults_are_real() -> None:
    limits = re.split(r"^## ", MANUAL.split("## Limits\n", 1)[1], flags=re.MULTILINE)[0]
    for field in dataclasses.fields(Limits):
        row = re.search(rf"^\| `{field.name}` \| ([\w.]+) \|", limits, re.MULTILINE)
        assert row, field.name
        assert row[1] == (str(field.default).lower() if field.name == "fork" else f"{field.default:g}")


ROOM = [path for path in sorted(HERE.glob("test_*.py")) if path != Path(__file__)]
BOXES = {"fork_server", "program", "own_fork_server", "victim", "attacker", "gpus", "torch_fork_server"}


@pytest.mark.parametrize("path", ROOM, ids=lambda path: path.stem)
def test_every_test_uses_a_box(path: Path) -> None:
    """Otherwise it would not be run in every tier."""
    for test in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
            assert BOXES & {argument.arg for argument in test.args.args}, test.name
