"""The pages of docs/: each is found, begins with what it is good for, and is read alike by GitHub and MkDocs."""

import re
from pathlib import Path
from typing import Any

import yaml

from docs.site.link_check import broken_links
from docs.site.pages import site_files
from viva.sandbox.host.levels.detect_levels import _ADVICE

ROOT = Path(__file__).parents[2]


class Settings(yaml.SafeLoader):
    """mkdocs.yml names functions of Python, which are not made here."""


Settings.add_multi_constructor("tag:yaml.org,2002:python/", lambda _loader, _suffix, _node: None)
MKDOCS: dict[str, Any] = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Settings)  # noqa: S506  # it makes nothing but plain values


def named(part: Any) -> list[str]:
    """The pages below a part of the navigation."""
    if isinstance(part, str):
        return [part]
    return [page for each in (part.values() if isinstance(part, dict) else part) for page in named(each)]


def test_navigation_has_every_page_once() -> None:
    there = [place for place in site_files() if place.endswith(".md") and not place.startswith("files/")]
    assert sorted(named(MKDOCS["nav"])) == sorted(there)


def test_no_link_leads_nowhere() -> None:
    assert broken_links() == []


def test_every_environment_variable_is_documented() -> None:
    page = (ROOT / "docs" / "environment.md").read_text("utf-8")
    texts = [path.read_text("utf-8") for path in (ROOT / "src" / "viva").rglob("*.py")]
    variables = set(re.findall(r"\b_?VIVA_[A-Z]+(?:_[A-Z]+)*\b", "".join(texts)))
    assert {"VIVA_COURSE", "VIVA_SECRET"} <= variables
    assert {name for name in variables if f"`{name}`" not in page} == set()


def test_everything_doctor_misses_is_documented() -> None:
    page = (ROOT / "docs" / "doctor.md").read_text("utf-8")
    assert [name for name in _ADVICE if f"| `{name}` |" not in page] == []
