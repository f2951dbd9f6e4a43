"""Folders of results, as `viva grade -o` writes them."""

from pathlib import Path

from viva.model.errors import UsageError


def results_below(folder: Path) -> list[Path]:
    """The paths of all results below a folder, relative to it, sorted.

    Raises:
        UsageError: it does not exist, or holds none.
    """
    if not folder.exists():
        raise UsageError(f"{folder}: no such file or folder; give the folder that `viva grade -o` wrote.")
    found = [path.relative_to(folder) for path in sorted(folder.rglob("results.json")) if path.is_file()]
    if not found:
        raise UsageError(f"{folder} holds no results.json; give the folder that `viva grade -o` wrote.")
    return found
