"""The page *Make an assignment from a solved notebook*, typed in: three commands from the solution to the release."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from solved_course import notebook

PAGE = (Path(__file__).parents[2] / "docs" / "solved-notebook.md").read_text("utf-8")
NEED_ISOLATION = ("viva new", "viva preview", "viva verify", "viva release", "viva grade")


def typed(lines: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name not in ("VIVA_COURSE", "VIVA_SECRET")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    commands = [f"{line} --tier best" if line.startswith(NEED_ISOLATION) else line for line in lines.splitlines()]
    shell = ["bash", "-e", "-c", "\n".join(commands)]
    return subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_from_the_solution_to_what_students_get(tmp_path: Path) -> None:
    notebook("attention", tmp_path)
    [example] = re.findall(r"^```console\n(.*?)^```$", PAGE, re.M | re.S)
    ran = typed(example.replace("$ ", ""), tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "`attention`: 26 of 26 ways to break it are caught" in ran.stdout

    seen = typed("cd nlp\nviva preview attention", tmp_path)
    assert seen.returncode == 0 and "README.md, attention.ipynb, requirements.txt" in seen.stdout, seen.stderr
    assert "0 of 5.5 points" in seen.stdout and "NotImplementedError" in seen.stdout

    handed_out = tmp_path / "handed-out"
    starter = json.loads((handed_out / "attention.ipynb").read_text("utf-8"))
    assert "np.exp" not in json.dumps(starter) and "raise NotImplementedError" in json.dumps(starter)
    solved = tmp_path / "nlp/fixtures/attention/submissions/accepted/source/attention.ipynb"
    (handed_out / "attention.ipynb").write_bytes(solved.read_bytes())
    checked = typed("viva check", handed_out)
    assert checked.returncode == 0 and "5.5 of 5.5 points" in checked.stdout, checked.stdout + checked.stderr

    # The author changes the solution; the starter, the key and what students check against follow.
    source = tmp_path / "nlp/assignments/attention/source.ipynb"
    source.write_text(source.read_text("utf-8").replace("-1e9", "-1e8"))
    ran = typed("cd nlp\nviva verify attention\nviva new attention --large", tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "-1e8" in (tmp_path / "nlp/graders/attention/key.py").read_text("utf-8")
    assert not source.exists()


@pytest.mark.long
def test_bad_sources_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "empty.ipynb").write_text("{}")
    (tmp_path / "prose.py").write_text("# %% [markdown]\n# Nothing\n")
    typed("viva init nlp", tmp_path)
    for name, said in (("empty.ipynb", "cannot be read as a notebook"), ("prose.py", "found no question")):
        ran = typed(f"cd nlp\nviva new hw --from ../{name}", tmp_path)
        assert ran.returncode == 1 and said in ran.stderr and "Traceback" not in ran.stderr
    assert not (tmp_path / "nlp/assignments/hw").exists()
