"""The workflow that tests this repository itself on Linux, macOS and Windows."""

import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.support.github_runner import ROOT

WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))
JOBS: dict[str, Any] = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]
PINNED = re.compile(r"actions/[\w-]+@v\d+")


def test_it_runs_on_every_push_and_may_only_read() -> None:
    assert set(WORKFLOW[True]) == {"push", "pull_request"}  # YAML 1.1 reads `on` as true
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert all("permissions" not in job and job["timeout-minutes"] <= 60 for job in JOBS.values())
    assert all(PINNED.fullmatch(step["uses"]) for step in STEPS if "uses" in step)
    assert all(
        not step["with"]["persist-credentials"] for step in STEPS if step.get("uses", "").endswith("checkout@v5")
    )


def test_what_students_run_is_run_on_their_systems() -> None:
    systems = JOBS["students"]["strategy"]["matrix"]["system"]
    assert {system.partition("-")[0] for system in systems} == {"ubuntu", "macos", "windows"}
    commands = "\n".join(step.get("run", "") for step in JOBS["students"]["steps"])
    assert {"viva doctor", "viva check", "viva pack", "tests/selfcheck"} <= set(
        re.findall(r"viva (?:doctor|check|pack)|tests/selfcheck", commands)
    )


def test_every_script_is_bash_and_names_files_that_exist(tmp_path: Path) -> None:
    for number, step in enumerate(step for step in STEPS if "run" in step):
        assert "${{" not in step["run"]
        script = tmp_path / f"{number}.sh"
        script.write_text(step["run"])
        subprocess.run(["bash", "-n", script], check=True)
        for path in re.findall(r"(?:fixtures|tests)/[\w./]+", step["run"]):
            assert (ROOT / path).exists(), path


def test_the_readmes_commands_are_run_as_the_readme_says() -> None:
    assert [step["run"] for step in JOBS["first-run"]["steps"] if "run" in step] == ["make demo", "make test"]
