"""transformers as boxes import it, without `torch.distributed`: models train, generate and load as usual."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers")

ROOT = Path(__file__).parents[3]
OLDER = ROOT / ".venv" / "transformers4" / "bin" / "python"
PROGRAM = ROOT / "tests" / "sandbox" / "guest" / "transformers_program.py"


def ran(python: str, how: str) -> dict[str, Any]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}  # the older libraries are installed without viva
    command = [python, "-W", "ignore", str(PROGRAM), how]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.long
@pytest.mark.parametrize("python", [sys.executable, str(OLDER)], ids=["transformers 5", "transformers 4"])
def test_what_programs_get_is_the_same(python: str) -> None:
    late, usual = ran(python, "late"), ran(python, "usual")
    assert late.pop("parts") == [] and len(usual.pop("parts")) == 3
    assert late == usual
    assert late["lora"] == 2 and late["compiled"] == [2, 4, 30]
