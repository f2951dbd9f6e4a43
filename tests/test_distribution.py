"""What the distribution is called, what its extras bring, and that no text names the project that is called viva."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from email import message_from_string
from email.message import Message
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from viva.model.extras import DISTRIBUTION, EXTRAS, install_command, missing_library
from viva.plugins.release.wheel import wheel

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DECLARED = PROJECT["optional-dependencies"]
FOLDERS = (".ci", "assignments", "bench", "docs", "fixtures", "graders", "reference", "src", "tests")
TEXTS = {".py", ".md", ".j2", ".yaml", ".yml", ".toml", ".txt", ".ipynb", ".sh", ".html", ".js", ".svg", ".json", ""}
NOT_FOR_USERS = {"all", "oracles", "docs", "dev"}

# An installation of `viva` from an index, which is someone else's project: pip install viva, viva[review], viva==1.
SOMEBODY_ELSES = re.compile(
    r"(?:pip3? install|pipx install|uv add|uv pip install|conda install)\b[^\n`|&]*?(?<![\w./@-])viva(?![\w-])"
    r"|(?<![\w./{-])viva(?:\[[a-z,]+\]|\s*[=~>]=|\s*@\s*(?:git|http))"
)


def requirements(extra: str) -> list[Requirement]:
    """The requirements of an extra, those of the extras that it includes in their place."""
    found = []
    for text in DECLARED[extra]:
        wanted = Requirement(text)
        if wanted.name == DISTRIBUTION:
            found += [inner for name in sorted(wanted.extras) for inner in requirements(name)]
        else:
            found.append(wanted)
    return found


def test_the_name_is_said_in_one_place() -> None:
    assert PROJECT["name"] == DISTRIBUTION == metadata.distribution(DISTRIBUTION).metadata["Name"]
    assert set(EXTRAS) == set(DECLARED) - NOT_FOR_USERS


def test_every_module_of_a_feature_comes_with_its_extra() -> None:
    """`python_multipart` is the module of python-multipart, and so on: installed here is what the extras bring."""
    provided = metadata.packages_distributions()
    for extra in EXTRAS.values():
        brought = {wanted.name.lower().replace("_", "-") for wanted in requirements(extra.name)}
        for module in extra.modules:
            names = {name.lower().replace("_", "-") for name in provided[module]}
            needed = {dependency for name in brought for dependency in _dependencies(name)}
            assert names & (brought | needed), (extra.name, module)


def _dependencies(name: str) -> set[str]:
    return {Requirement(text).name.lower().replace("_", "-") for text in metadata.requires(name) or []}


def test_all_extra_has_what_instructors_need() -> None:
    everything = {wanted.name for wanted in requirements("all")}
    for extra in ("notebooks", "torch", "records", "report", "review"):
        assert {wanted.name for wanted in requirements(extra)} <= everything


def test_a_missing_module_names_the_command() -> None:
    error = missing_library("Reports need", "nh3", "report")
    assert str(error) == "Reports need the module `nh3`: pip install 'viva-grader[report]'"
    with pytest.raises(KeyError, match="nothing"):
        install_command("nothing")
    assert [name for name, extra in EXTRAS.items() if extra.missing()] == [], "the tests run with every feature"


@pytest.mark.parametrize(
    ("text", "is_somebody_elses"),
    [
        ("pip install viva", True),
        ("pip install 'viva[review]'", True),
        ("python -m pip install -q viva==0.1.0", True),
        ("viva==0.1.0", True),
        ("viva @ git+https://example.org/viva", True),
        ("pip install viva-grader", False),
        ("pip install 'viva-grader[review]'", False),
        ("pip install -e .", False),
        ("pip install '/opt/viva[notebooks]'", False),
        ("viva check", False),
        ("pip install -r requirements.txt\nviva check", False),
    ],
)
def test_the_search_finds_the_other_project(text: str, is_somebody_elses: bool) -> None:
    assert bool(SOMEBODY_ELSES.search(text)) == is_somebody_elses


def test_no_text_names_the_other_project() -> None:
    paths = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        paths += [path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix in TEXTS]
    assert len(paths) > 1000
    found = []
    for path in paths:
        if path != Path(__file__):
            matches = SOMEBODY_ELSES.finditer(path.read_text("utf-8", errors="replace"))
            found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in matches]
    assert found == []


def test_the_wheel_is_a_megabyte_and_carries_the_metadata() -> None:
    name, data = wheel()
    assert name == f"viva_grader-{PROJECT['version']}-py3-none-any.whl"
    assert len(data) < 1.5 * 2**20
    assert wheel()[1] == data


def _metadata(folder: Path, environment: dict[str, str]) -> Message:
    """The metadata of a wheel that is built from a folder with the files that metadata come from."""
    (folder / "src" / "viva").mkdir(parents=True, exist_ok=True)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    build = "from setuptools.build_meta import prepare_metadata_for_build_wheel as p; p('.')"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    subprocess.run([sys.executable, "-c", build], cwd=folder, env=clean | environment, check=True, capture_output=True)
    info = next(folder.glob("*.dist-info"))
    shutil.copy(info / "METADATA", folder / "PKG-INFO")  # as setuptools leaves it in an sdist
    return message_from_string((folder / "PKG-INFO").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "home"),
    [
        ({"GITHUB_REPOSITORY": "them/viva"}, "https://github.com/them/viva"),
        (
            {"GITHUB_REPOSITORY": "them/viva", "GITHUB_SERVER_URL": "https://git.example"},
            "https://git.example/them/viva",
        ),
        ({"VIVA_REPOSITORY_URL": "https://git.example/viva/"}, "https://git.example/viva"),
    ],
)
def test_links_lead_to_the_built_repository(tmp_path: Path, environment: dict[str, str], home: str) -> None:
    for variables in (environment, {}):  # the second time from the sdist of the first
        found = _metadata(tmp_path, variables)
        urls = dict(url.split(", ", 1) for url in found.get_all("Project-URL", []))
        assert urls["Source"] == home and urls["Issues"] == f"{home}/issues"
        links = re.findall(r"\]\(([^)]*)\)", str(found.get_payload()))
        assert f"{home}/blob/HEAD/docs/start.md" in links and f"{home}/raw/HEAD/docs/demo.svg" in links
        assert all(link.startswith(f"{home}/") for link in links)
        for link in [*links, *urls.values()]:
            path = re.sub(rf"^{re.escape(home)}/?((blob|raw)/HEAD/)?", "", link)
            assert path == "issues" or (ROOT / path).exists(), link


@pytest.mark.slow
def test_without_an_address_the_index_shows_no_dead_link(tmp_path: Path) -> None:
    found = _metadata(tmp_path, {})
    text = str(found.get_payload())
    assert found.get_all("Project-URL") is None
    assert "](" not in text and "| grade a class in ten minutes | docs/start.md |" in text
