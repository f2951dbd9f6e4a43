"""Regions of a cell between nbgrader's markers, such as `### BEGIN HIDDEN TESTS`; markers are whole lines."""

from typing import Final

HIDDEN_TESTS: Final = "HIDDEN TESTS"
SOLUTION: Final = "SOLUTION"
MARK_SCHEME: Final = "MARK SCHEME"


class RegionError(Exception):
    """Markers that do not match; the text is a phrase for the author."""


def has_region(source: str, marker: str) -> bool:
    """Return whether a region begins in the cell."""
    return f"BEGIN {marker}" in source


def replace_regions(source: str, marker: str, stub: str = "") -> str:
    """Return the cell with each region replaced by the lines of `stub`, indented as the region's first line.

    Raises:
        RegionError: a region begins inside another, or does not end.
    """
    left: list[str] = []
    inside = False
    for line in source.split("\n"):
        if f"BEGIN {marker}" in line:
            if inside:
                raise RegionError(f"`BEGIN {marker}` is inside another such region")
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            left += [indent + each for each in stub.split("\n")] if stub else []
        elif f"END {marker}" in line:
            inside = False
        elif not inside:
            left.append(line)
    if inside:
        raise RegionError(f"`BEGIN {marker}` has no `END {marker}` behind it")
    return "\n".join(left)


def regions(source: str, marker: str) -> str:
    """Return the text inside the regions, without the markers; empty if there is none."""
    inside: list[str] = []
    within = False
    for line in source.split("\n"):
        if f"BEGIN {marker}" in line:
            within = True
        elif f"END {marker}" in line:
            within = False
        elif within:
            inside.append(line)
    return "\n".join(inside)
