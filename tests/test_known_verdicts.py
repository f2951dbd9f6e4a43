"""The repository is itself a course: its graders give every submission that it ships what it should get."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.nightly
def test_every_known_verdict_holds() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "viva.cli.main", "verify", "--no-mutants", "--tier", "best", "--course", str(ROOT)],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("known verdicts hold, 0 do not") == 5
