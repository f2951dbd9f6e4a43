"""Adds to the metadata what depends on where the repository is: the project URLs, and the links of the README.

pyproject.toml holds everything else. On GitHub the address comes from the workflow's environment; elsewhere set
VIVA_REPOSITORY_URL to one that lays out its pages as GitHub does. An sdist carries what it was built with. Without an
address the README's links to files become plain text and its pictures are left out, so that the package index shows
no dead link.
"""

import os
import re
from email import message_from_string
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]+)\]\((?P<target>(?![a-z]+:)[^)#]+)(?P<section>#[^)]*)?\)")


def repository() -> str | None:
    """Return the address of the repository without a slash at its end, or None where there is none."""
    if address := os.environ.get("VIVA_REPOSITORY_URL"):
        return address.rstrip("/")
    if "GITHUB_REPOSITORY" in os.environ:
        return f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{os.environ['GITHUB_REPOSITORY']}"
    sdist = ROOT / "PKG-INFO"
    urls = message_from_string(sdist.read_text("utf-8")).get_all("Project-URL", []) if sdist.is_file() else []
    return next((url.removeprefix("Source, ") for url in urls if url.startswith("Source, ")), None)


def readme(address: str | None) -> str:
    """Return the README with links that work on another site than the repository's."""

    def leading_out(link: re.Match[str]) -> str:
        if address is None:
            return "" if link["picture"] else link["text"]
        kind = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['text']}]({address}/{kind}/HEAD/{link['target']}{link['section'] or ''})"

    return LINK.sub(leading_out, (ROOT / "README.md").read_text("utf-8"))


def project_urls(address: str | None) -> dict[str, str]:
    """Return the links that a package index shows next to the description."""
    if address is None:
        return {}
    return {
        "Source": address,
        "Documentation": f"{address}/blob/HEAD/docs/README.md",
        "Changelog": f"{address}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{address}/issues",
        "Security": f"{address}/blob/HEAD/SECURITY.md",
    }


HOME = repository()
setup(long_description=readme(HOME), long_description_content_type="text/markdown", project_urls=project_urls(HOME))
