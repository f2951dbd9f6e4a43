"""Each extra, in an environment that holds nothing but viva, what viva needs and what the extra brings: it is used.

No index is asked: the environments link to what is installed here, found by the requirements that packages declare.
"""

import os
import re
import subprocess
import sys
import sysconfig
import time
import urllib.request
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.words_course import cell, hand_in_notebook
from viva.model.extras import DISTRIBUTION, EXTRAS, install_command

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[2]
HERE = Path(sysconfig.get_paths()["purelib"])
ADA = "fixtures/first_steps/submissions/accepted/counter"
SOON_S = 60.0
NOTEBOOK = ["%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"]


@cache
def needed(name: str, extra: str = "") -> frozenset[str]:
    """The distributions that an installation of `name[extra]` brings, itself included."""
    found = {name}
    for text in metadata.requires(name) or []:
        wanted = Requirement(text)
        if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
            for more in ("", *wanted.extras):
                if (wanted.name, more) != (name, extra):
                    found |= needed(wanted.name, more)
    return frozenset(found)


class Environment:
    """A virtual environment with some of what is installed here."""

    def __init__(self, folder: Path, distributions: frozenset[str]) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        self.python = folder / "bin" / "python"
        site = folder / self.python.relative_to(folder).parents[1] / HERE.relative_to(sys.prefix)
        for name in distributions:
            for file in metadata.files(name) or []:
                top = file.parts[0]
                if top not in ("..", "__pycache__") and not (site / top).exists():
                    (site / top).symlink_to(HERE / top)
        (site / "viva.pth").write_text(f"{ROOT / 'src'}\n")
        self.course = folder / "course"
        self.ok("init", "course", cwd=folder)

    def run(self, *arguments: object, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        """Run a command of viva in the course."""
        clean = {n: v for n, v in os.environ.items() if not n.startswith(("VIVA_", "PYTHON"))}
        command = [str(self.python), "-m", "viva", *map(str, arguments)]
        return subprocess.run(command, cwd=cwd or self.course, env=clean, capture_output=True, text=True)

    def ok(self, *arguments: object, cwd: Path | None = None) -> str:
        """Run a command that must succeed; return what it prints."""
        ran = self.run(*arguments, cwd=cwd)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def grade(self, *arguments: object) -> str:
        """Grade as on any machine."""
        return self.ok("grade", "--tier", "T0", *arguments)

    def keep_scores(self) -> None:
        """Let the course keep scores."""
        with (self.course / "grader.yaml").open("a") as file:
            file.write("records: sqlite:///scores.db\n")

    def notebook(self, cells: list[str]) -> Path:
        """Write the right answer as a notebook."""
        code = [(self.course / ADA / "solution.py").read_text("utf-8"), *cells]
        parts = [cell(text, id=f"c{n}") for n, text in enumerate(code)]
        return hand_in_notebook(self.course / "class" / "ada", *parts, name="first_steps.ipynb")

    def set(self, key: str, value: str) -> None:
        """Set a key of assignment.yaml."""
        path = self.course / "assignments/first_steps/assignment.yaml"
        others = [line for line in path.read_text("utf-8").splitlines() if not line.startswith(f"{key}:")]
        path.write_text("\n".join([*others, f"{key}: {value}\n"]), "utf-8")


def notebooks(here: Environment) -> None:
    assert "10 of 10 points" in here.grade(here.notebook(NOTEBOOK), "-o", "out")
    (executed,) = (here.course / "out").rglob("executed.ipynb")
    assert "image/png" in executed.read_text("utf-8")


def torch(here: Environment) -> None:
    here.set("preload", "[torch]")
    path = here.course / ADA / "solution.py"
    path.write_text(f"import torch\nassert torch.ones(2).sum() == 2\n{path.read_text('utf-8')}")
    assert "10 of 10 points" in here.grade(ADA)


def records(here: Environment) -> None:
    here.keep_scores()
    here.grade(ADA)
    assert "not again" in here.grade(ADA) and (here.course / "scores.db").is_file()


def report(here: Environment) -> None:
    here.grade(ADA, "-o", "out")
    here.ok("report", "out", "--feedback")
    assert len([*(here.course / "out/report").rglob("*.html")]) == 2


def review(here: Environment) -> None:
    here.keep_scores()
    here.grade(ADA)
    command = [str(here.python), "-m", "viva", "review", "first_steps", "--by", "ada"]
    with subprocess.Popen(
        command, cwd=here.course, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            assert server.stdout is not None
            lines: list[str] = []
            for line in server.stdout:
                lines.append(line)
                if (address := re.search(r"http://\S+", line)) is not None:
                    break
            else:
                raise AssertionError("".join(lines))
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            shown, deadline = "", time.monotonic() + SOON_S
            while "<table" not in shown and time.monotonic() < deadline:  # the first page says what is being read
                with opener.open(address[0]) as page:
                    shown = page.read().decode()
            assert "<table" in shown and "written" in shown.lower()
        finally:
            server.kill()


def parquet(here: Environment) -> None:
    here.grade(ADA, "-o", "out")
    here.ok("grades", "out", "--to", "parquet", "--with-open", "-o", "grades.parquet")
    assert (here.course / "grades.parquet").read_bytes().startswith(b"PAR1")


def lms(here: Environment) -> None:
    here.grade(ADA, "-o", "out")
    ran = here.run("push", "canvas", "out", "--at", "https://canvas.example/courses/1/assignments/2")
    assert ran.returncode == 1 and "token" in ran.stderr.lower() and "pip install" not in ran.stderr


def cluster(here: Environment) -> None:
    ran = here.run("grade", ADA, "--on", "tcp://127.0.0.1:9")
    assert ran.returncode == 1 and "127.0.0.1:9" in ran.stderr and "pip install" not in ran.stderr


def mutants(here: Environment) -> None:
    assert "mutant" in here.ok("verify", "--tier", "T0", "--mutants", "first_steps")


USES: dict[str, Callable[[Environment], None]] = {
    use.__name__: use
    for use in (notebooks, torch, records, report, review, parquet, lms, cluster, mutants)
}  # fmt: skip
WITHOUT = {
    "records": ("grade", "--tier", "T0", "--records", "sqlite:///scores.db", ADA),
    "report": ("report", "out"),
    "review": ("review", "out"),
    "parquet": ("grades", "out", "--to", "parquet", "--with-open", "-o", "grades.parquet"),
    "lms": ("push", "canvas", "out", "--at", "https://canvas.example/courses/1/assignments/2"),
    "cluster": ("grade", "--on", "tcp://127.0.0.1:9", ADA),
    "mutants": ("verify", "--tier", "T0", "--mutants", "first_steps"),
}


@pytest.fixture
def environment(tmp_path: Path) -> Callable[[str], Environment]:
    """A function that makes the environment of an extra."""
    return lambda extra: Environment(tmp_path / (extra or "none"), needed(DISTRIBUTION) | needed(DISTRIBUTION, extra))


def test_every_extra_is_used() -> None:
    assert set(USES) == set(EXTRAS)


@pytest.mark.parametrize("extra", USES)
def test_extra_is_complete(extra: str, environment: Callable[[str], Environment]) -> None:
    here = environment(extra)
    features = {
        line.split()[1]: "yes" in line for line in here.run("doctor").stdout.splitlines() if line.startswith("│")
    }
    assert features[extra]
    USES[extra](here)


def test_viva_without_extras(environment: Callable[[str], Environment]) -> None:
    here = environment("")
    assert "10 of 10 points" in here.grade(ADA, "-o", "out")
    assert "10 of 10 points" in here.grade(here.notebook([]))
    here.ok("release", "--tier", "T0", "first_steps", "--to", "handed-out")
    for extra, command in WITHOUT.items():
        ran = here.run(*command)
        does_less = extra == "mutants"  # its own mistakes of the field are made without it
        assert ran.returncode == (0 if does_less else 1), (extra, ran.stdout + ran.stderr)
        assert install_command(extra) in ran.stderr, (extra, ran.stderr)
        assert len([line for line in ran.stderr.splitlines() if "isolation T0" not in line]) == 1, ran.stderr
