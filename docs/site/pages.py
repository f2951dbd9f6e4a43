"""Every file of the site: the pages of docs/ and of the root, those made from the program, and what these link to.

The pages read well as files, for example on GitHub, so their links are relative to the repository. The site has other
places for what is outside docs/, and the links are rewritten to these.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from docs.site import markup
from docs.site.commands import commands_page
from docs.site.reference import api_page, course_files_page, results_page

ROOT: Final = Path(__file__).parents[2]
_MOVED: Final = {
    "README.md": "README.md",  # a link to the repository's own page leads to the site's first one
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
_GENERATED: Final = {
    "reference/commands.md": commands_page,
    "reference/course-files.md": course_files_page,
    "reference/results-json.md": results_page,
    "reference/api.md": api_page,
}
_OTHERS: Final = "files"
"""The folder for files of the repository that pages link to."""
_SHOWN: Final = (".md", ".png", ".svg", ".js", ".css", ".schema.json")
# Code is skipped: what looks like a link there is none.
_LINK: Final = re.compile(
    r"^```.*?^```$|`[^`\n]*`|(?P<link>\]\((?P<target>[^)\s:#]*)(?P<section>#[^)\s]*)?\))", re.M | re.S
)


def site_files() -> dict[str, bytes]:
    """Return the content of every file by its place in the site.

    Raises:
        FileNotFoundError: a page links to a file that does not exist.
    """
    waiting = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*")) if _is_shown(path)]
    waiting += [name for name in _MOVED if name != "README.md"]
    files = {place: page().encode() for place, page in _GENERATED.items()}
    for name in waiting:  # grows while pages are read
        data = (ROOT / name).read_bytes()
        if name.endswith(".md"):
            text = data.decode()
            waiting += [target for target in links(text, name) if target not in waiting and _MOVED.get(target) is None]
            data = rewritten(text, name).encode()
        files[place_of(name)] = data
    return files


def place_of(name: str) -> str:
    """Return the place in the site of a file, by its path in the repository."""
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    return _MOVED.get(name, f"{_OTHERS}/{name}")


def links(text: str, name: str) -> Iterator[str]:
    """Return the paths in the repository of the files that a page links to."""
    for target, _ in linked(text):
        if target:
            yield _target(name, target)


def linked(text: str) -> Iterator[tuple[str, str]]:
    """Return the targets of a page's relative links: the path, empty for the page itself, and the section with `#`."""
    for found in _LINK.finditer(text):
        if found["link"]:
            yield found["target"], found["section"] or ""


def rewritten(text: str, name: str) -> str:
    """Return a page whose links lead to the places in the site."""
    here = PurePosixPath(place_of(name)).parent

    def replace(found: re.Match[str]) -> str:
        if not found["link"]:
            return _code_in_a_cell(found[0])
        if not found["target"]:
            return found[0]
        place = os.path.relpath(place_of(_target(name, found["target"])), here)
        return f"]({place}{found['section'] or ''})"

    return _LINK.sub(replace, text)


def _code_in_a_cell(code: str) -> str:
    """Return code as it is, unless it has an escaped bar for a cell of a table, which Python-Markdown would show so."""
    return markup.code(code[1:-1].replace("\\|", "|")) if "\\|" in code and not code.startswith("```") else code


def _target(name: str, target: str) -> str:
    return os.path.normpath(PurePosixPath(name).parent / target)


def _is_shown(path: Path) -> bool:
    return path.is_file() and path.name.endswith(_SHOWN)
