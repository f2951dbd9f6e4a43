"""action.yml and the templates of ci/: documented keys, pinned actions, least permissions, nothing interpolated."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.github_runner import ACTION, EXPRESSION, ROOT, SCRIPTS, STEPS
from viva.plugins.ci.export import OF_ONE, OF_SEVERAL

REUSABLE: dict[Any, Any] = yaml.safe_load((ROOT / "docs/recipes/reusable.yml").read_text("utf-8"))
GITLAB: dict[str, Any] = yaml.safe_load((ROOT / "docs/recipes/gitlab.yml").read_text("utf-8"))
GUIDE = (ROOT / "docs/ci.md").read_text("utf-8")
STEP_KEYS = {"name", "id", "if", "uses", "with", "run", "shell", "working-directory", "env"}
MAJOR_TAG = re.compile(r"[\w.-]+/[\w.-]+@v\d+")


def test_keys_of_the_action() -> None:
    assert ACTION.keys() == {"name", "description", "inputs", "outputs", "runs"}
    assert ACTION["runs"].keys() == {"using", "steps"} and ACTION["runs"]["using"] == "composite"
    for one in ACTION["inputs"].values():
        assert one.keys() == {"description", "default"} and isinstance(one["default"], str)
    for one in ACTION["outputs"].values():
        assert one.keys() == {"description", "value"}
    for step in STEPS:
        assert step.keys() <= STEP_KEYS and ("run" in step) != ("uses" in step)
        assert step.get("shell") == ("bash" if "run" in step else None)


@pytest.mark.parametrize("step", SCRIPTS, ids=lambda step: step["name"])
def test_no_value_is_written_into_a_script(step: dict[str, Any], tmp_path: Path) -> None:
    """What is in `${{ }}` becomes part of the program: a path with a quote in it could end a string."""
    assert "${{" not in step["run"]
    (tmp_path / "step.sh").write_text(step["run"])
    subprocess.run(["bash", "-n", tmp_path / "step.sh"], check=True)
    assert step["run"].startswith("set -euo pipefail\n")


def test_inputs_and_expressions() -> None:
    found = [e for step in STEPS for text in step.get("env", {}).values() for e in EXPRESSION.findall(text)]
    found += [e for one in ACTION["outputs"].values() for e in EXPRESSION.findall(one["value"])]
    names = {name for expression in found for name in expression.split(" || ")}
    assert {name for name in names if name.startswith("inputs.")} == {f"inputs.{name}" for name in ACTION["inputs"]}
    identifiers = {step["id"] for step in STEPS if "id" in step}
    assert {name.split(".")[1] for name in names if name.startswith("steps.")} <= identifiers
    assert {name for name in names if not name.startswith(("inputs.", "steps."))} == {"github.action_path"}


@pytest.mark.parametrize("step", SCRIPTS, ids=lambda step: step["name"])
def test_python_runs_isolated(step: dict[str, Any]) -> None:
    calls = re.findall(r"(?:\"\$(?:PYTHON|python)\"|python3) (\S+)", step["run"])
    assert set(calls) <= {"-I"}


def test_other_actions_are_pinned() -> None:
    jobs = REUSABLE["jobs"].values()
    used = [step["uses"] for step in [*STEPS, *(s for job in jobs for s in job["steps"])] if "uses" in step]
    assert used and all(MAJOR_TAG.fullmatch(name) for name in used)


def test_permissions_of_the_reusable_workflow() -> None:
    assert REUSABLE.keys() == {"name", True, "permissions", "jobs"}  # YAML reads the key `on` as true
    assert REUSABLE[True].keys() == {"workflow_call"}
    assert REUSABLE[True]["workflow_call"].keys() == {"inputs", "outputs"}
    assert REUSABLE["permissions"] == {}
    (job,) = REUSABLE["jobs"].values()
    assert job["permissions"] == {"contents": "read"} and job["timeout-minutes"] <= 60
    checkout, grade, upload = job["steps"]
    assert checkout["with"] == {"persist-credentials": False}
    assert set(grade["with"]) <= set(ACTION["inputs"])
    named = re.findall(r"steps\.viva\.outputs\.([\w-]+)", yaml.safe_dump([job["outputs"], upload]))
    assert named and set(named) <= set(ACTION["outputs"])
    assert "results" not in named, "results.json names hidden tests"
    assert "secrets" not in yaml.safe_dump(REUSABLE) and "run" not in {key for step in job["steps"] for key in step}


def test_gitlab_template() -> None:
    (job,) = GITLAB.values()
    assert job.keys() == {"image", "timeout", "rules", "variables", "script", "artifacts"}
    assert job["artifacts"] == {"when": "always", "reports": {"junit": "viva-junit.xml", "dotenv": "viva.env"}}
    assert "VIVA_SECRET" not in yaml.safe_dump(GITLAB)
    assert all(isinstance(line, str) for line in job["script"])
    subprocess.run(["bash", "-n", "-c", "\n".join(job["script"])], check=True)


def test_guide_names_inputs_outputs_and_formats() -> None:
    quoted = set(re.findall(r"`([^`\n]+)`", GUIDE))
    assert {*ACTION["inputs"], *ACTION["outputs"], *OF_ONE, *OF_SEVERAL} <= quoted
    for link in re.findall(r"\]\(((?!https)[^)#]+)\)", GUIDE):
        assert (ROOT / "docs" / link).exists(), link


@pytest.mark.parametrize("block", re.findall(r"^```yaml\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))
def test_workflows_of_the_guide(block: str) -> None:
    workflow = yaml.safe_load(block)
    (job,) = workflow["jobs"].values()
    allowed = set(ACTION["inputs"])
    for step in job.get("steps", []):
        if step.get("uses", "").startswith("your-organisation/"):
            assert set(step.get("with", {})) <= allowed
        assert "${{" not in step.get("run", "")
    if "workflows" in job.get("uses", ""):
        assert set(job["with"]) <= set(REUSABLE[True]["workflow_call"]["inputs"]) and "secrets" not in job
    assert job["permissions"] == {"contents": "read"}


# --- the workflow that tests this repository itself on Linux, macOS and Windows


WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))
JOBS: dict[str, Any] = WORKFLOW["jobs"]
OWN_STEPS = [step for job in JOBS.values() for step in job["steps"]]
PINNED = re.compile(r"actions/[\w-]+@v\d+")


def test_workflow_may_only_read_and_pins_actions() -> None:
    assert set(WORKFLOW[True]) == {"push", "pull_request"}  # YAML 1.1 reads `on` as true
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert all("permissions" not in job and job["timeout-minutes"] <= 60 for job in JOBS.values())
    assert all(PINNED.fullmatch(step["uses"]) for step in OWN_STEPS if "uses" in step)
    assert all(
        not step["with"]["persist-credentials"] for step in OWN_STEPS if step.get("uses", "").endswith("checkout@v5")
    )


def test_systems_of_students() -> None:
    systems = JOBS["students"]["strategy"]["matrix"]["system"]
    assert {system.partition("-")[0] for system in systems} == {"ubuntu", "macos", "windows"}
    commands = "\n".join(step.get("run", "") for step in JOBS["students"]["steps"])
    assert {"viva doctor", "viva check", "viva pack", "tests/selfcheck"} <= set(
        re.findall(r"viva (?:doctor|check|pack)|tests/selfcheck", commands)
    )


def test_scripts_name_files_that_exist(tmp_path: Path) -> None:
    for number, step in enumerate(step for step in OWN_STEPS if "run" in step):
        assert "${{" not in step["run"]
        script = tmp_path / f"{number}.sh"
        script.write_text(step["run"])
        subprocess.run(["bash", "-n", script], check=True)
        for path in re.findall(r"(?:fixtures|tests)/[\w./]+", step["run"]):
            assert (ROOT / path).exists(), path


def test_commands_of_the_readme() -> None:
    assert [step["run"] for step in JOBS["first-run"]["steps"] if "run" in step] == ["make demo", "make test"]
