"""The autograder where it is meant to run: root in a real container, `/autograder` at its place, isolation T1."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import container

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module", params=[True, False], ids=["with Landlock", "without"])
def runs(request: pytest.FixtureRequest) -> dict[str, Any]:
    """All runs of one container, by name."""
    if lacking := container.missing():
        if "T1" in os.environ.get("VIVA_REQUIRED_TIERS", "").split():
            pytest.fail(lacking)
        pytest.skip(lacking)
    environment = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
    program = [sys.executable, "-m", "tests.support.gradescope_in_container"]
    done = container.run(program, environment=environment, timeout_s=400, landlock=request.param)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_right_submission_in_t1(runs: dict[str, Any]) -> None:
    for name in ("right", "again", "notebook"):
        results = runs[name]["results"]
        assert results["score"] == 6 and results["extra_data"]["isolation"]["tier"] == "T1"
        assert results["extra_data"]["complete"] is True and runs[name]["status"] == 0


def test_hostile_submission_finds_nothing(runs: dict[str, Any]) -> None:
    """It answers rightly unless it could read, write or become something; so it says what by losing points."""
    as_root = runs["trusted"]["said"]
    for there in (
        "course/secret",
        "key.py",
        "metadata.json",
        "/autograder/results/results.json",
        "/autograder/x",
        "root",
    ):
        assert there in as_root, "the same program finds all of it where nothing holds it"
    results = runs["hostile"]["results"]
    assert results["score"] == 6, [test["output"] for test in results["tests"]]


def test_our_own_time_is_up_first(runs: dict[str, Any]) -> None:
    results = runs["hangs"]["results"]
    assert results["extra_data"]["complete"] is False and "time was up" in results["output"]
    assert "stopped after" in runs["hangs"]["said"]


def test_too_little_memory(runs: dict[str, Any]) -> None:
    results = runs["small"]["results"]
    assert results["tests"] == [] and "has 200 MiB of memory" in results["extra_data"]["viva_failed"]
    assert "not your fault" in results["output"]
