"""A stand-in for GitHub's runner: takes a composite action's steps in order, as far as they are scripts of bash.

It knows what the scripts rely on: expressions in `env`, files for outputs and the page, a temporary folder, the shell's
options. Steps that use other actions are not run.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
SCRIPTS = [step for step in STEPS if "run" in step]
EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")


@dataclass
class Job:
    """What a run of the action left behind."""

    status: int = 0
    log: str = ""
    """Standard output of all steps; commands to the runner are read from it."""
    errors: str = ""
    page: str = ""
    steps: dict[str, dict[str, str]] = field(default_factory=dict)
    last: str = ""
    """The step that was run last."""

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of the action."""
        return {name: evaluated(one["value"], self, {}, Path()) for name, one in ACTION["outputs"].items()}


def evaluated(text: Any, job: Job, inputs: Mapping[str, str], temporary: Path) -> str:
    """A value of `env` or `outputs` with its expressions replaced, as the runner does."""

    def value(name: str) -> str:
        if name.startswith("inputs."):
            return inputs[name.removeprefix("inputs.")]
        if found := re.fullmatch(r"steps\.(\w+)\.outputs\.(\w+)", name):
            return job.steps.get(found[1], {}).get(found[2], "")
        return {"github.action_path": str(ROOT), "runner.temp": str(temporary)}[name]

    def chosen(found: re.Match[str]) -> str:
        return next((v for v in map(value, found[1].split(" || ")) if v), "")

    return EXPRESSION.sub(chosen, str(text))


def run_action(workspace: Path, temporary: Path, environ: Mapping[str, str] | None = None, **given: str) -> Job:
    """Run the action on a checkout.

    Args:
        environ: more variables, as a workflow's `env` sets them.
        given: inputs, with `_` for `-`; the interpreter is the one of the tests unless said.
    """
    inputs = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
    inputs |= {"python": sys.executable} | {name.replace("_", "-"): value for name, value in given.items()}
    job = Job()
    for number, step in enumerate(SCRIPTS):
        output, page = temporary / f"output-{number}", temporary / f"page-{number}"
        output.touch()
        page.touch()
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(temporary),
            "RUNNER_TEMP": str(temporary),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(page),
            "GITHUB_WORKSPACE": str(workspace),
            **(environ or {}),
            **{name: evaluated(text, job, inputs, temporary) for name, text in step.get("env", {}).items()},
        }
        script = temporary / f"step-{number}.sh"
        script.write_text(step["run"], "utf-8")
        ran = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=evaluated(step.get("working-directory", workspace), job, inputs, temporary),
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )
        job.log += ran.stdout.decode("utf-8", "replace")
        job.errors += ran.stderr.decode("utf-8", "replace")
        job.page += page.read_text("utf-8")
        job.steps[step.get("id", "")] = outputs_of(output.read_text("utf-8"))
        job.last, job.status = step["name"], ran.returncode
        if ran.returncode:
            break
    return job


def outputs_of(text: str) -> dict[str, str]:
    """The file's lines of `key=value`; the runner fails on others."""
    lines = text.splitlines()
    assert all(re.match(r"[a-z_]+=", line) for line in lines), text
    assert len({line.partition("=")[0] for line in lines}) == len(lines)
    return dict(line.split("=", 1) for line in lines)
