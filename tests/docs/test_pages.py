"""The pages of docs/: each is found, begins with what it is good for, and is read alike by GitHub and MkDocs."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.site.link_check import broken_links
from docs.site.pages import place_of, rewritten, site_files
from viva.sandbox.host.levels.detect_levels import _ADVICE

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


class Settings(yaml.SafeLoader):
    """mkdocs.yml names functions of Python, which are not made here."""


Settings.add_multi_constructor("tag:yaml.org,2002:python/", lambda _loader, _suffix, _node: None)
MKDOCS: dict[str, Any] = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Settings)  # noqa: S506  # it makes nothing but plain values


def named(part: Any) -> list[str]:
    """The pages below a part of the navigation."""
    if isinstance(part, str):
        return [part]
    return [page for each in (part.values() if isinstance(part, dict) else part) for page in named(each)]


def without_code(text: str) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S)


def test_navigation_has_every_page_once() -> None:
    there = [place for place in site_files() if place.endswith(".md") and not place.startswith("files/")]
    assert sorted(named(MKDOCS["nav"])) == sorted(there)


def test_first_page_leads_to_every_other() -> None:
    first = (ROOT / "docs" / "README.md").read_text("utf-8")
    assert [page.name for page in PAGES if page.name != "README.md" and f"]({page.name})" not in first] == []


def test_no_link_leads_nowhere() -> None:
    assert broken_links() == []


@each_page
def test_lists_are_read_alike(page: Path) -> None:
    """Python-Markdown needs four columns for a list in a list, and an empty line before a list."""
    lines = without_code(page.read_text("utf-8")).split("\n")
    for before, line in pairwise(lines):
        if re.match(r" *(- |\d+\. )", line):
            indent = len(line) - len(line.lstrip())
            assert indent % 4 == 0, line
            assert not before or before.startswith(" ") or re.match(r"- |\d+\. ", before), line


def test_links_that_leave_the_docs() -> None:
    text = (
        "[a](../constraints.txt) [b](../ARCHITECTURE.md#packages) [c](grades.md) [d](#here) `[e](../x)` [f](https://x)"
    )
    assert rewritten(text, "docs/ci.md") == (
        "[a](files/constraints.txt) [b](architecture.md#packages) [c](grades.md) [d](#here) `[e](../x)` [f](https://x)"
    )
    assert rewritten("[a](docs/ci.md) [b](LICENSE)", "CONTRIBUTING.md") == "[a](ci.md) [b](files/LICENSE)"
    assert "recipes/gitlab.yml" in site_files() and place_of("SECURITY.md") == "security.md"


def test_every_environment_variable_is_documented() -> None:
    page = (ROOT / "docs" / "environment.md").read_text("utf-8")
    texts = [path.read_text("utf-8") for path in (ROOT / "src" / "viva").rglob("*.py")]
    variables = set(re.findall(r"\b_?VIVA_[A-Z]+(?:_[A-Z]+)*\b", "".join(texts)))
    assert {"VIVA_COURSE", "VIVA_SECRET"} <= variables
    assert {name for name in variables if f"`{name}`" not in page} == set()


def test_everything_doctor_misses_is_documented() -> None:
    page = (ROOT / "docs" / "doctor.md").read_text("utf-8")
    assert [name for name in _ADVICE if f"| `{name}` |" not in page] == []
