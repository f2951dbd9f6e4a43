"""The links between the pages, as a reader of the files follows them: to files, and to sections of pages."""

import re
from collections.abc import Iterator
from pathlib import Path

from docs.site.pages import ROOT, linked

_CODE = re.compile(r"^```.*?^```$", re.M | re.S)


def pages() -> list[Path]:
    """Return the pages of the repository that are written for readers."""
    return sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")})


def broken_links() -> list[str]:
    """Return a sentence for each relative link that leads nowhere."""
    return [sentence for page in pages() for sentence in _broken(page, page.read_text("utf-8"))]


def _broken(page: Path, text: str) -> Iterator[str]:
    name = page.relative_to(ROOT)
    for target, section in linked(text):
        file = page.parent / target if target else page
        if not file.exists():
            yield f"{name}: the link to {target} leads nowhere"
        elif section and section.removeprefix("#") not in sections(file.read_text("utf-8")):
            yield f"{name}: {target or 'the page'} has no section {section}"


def sections(text: str) -> set[str]:
    """Return the names of a page's sections, as GitHub makes them from the headings."""
    headings = re.findall(r"^#+ (.*)$", _CODE.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
