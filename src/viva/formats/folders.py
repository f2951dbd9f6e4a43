"""Folders of results, as `viva grade -o` writes them."""

from pathlib import Path

from viva.model.errors import UsageError


def results_below(folder: Path) -> list[Path]:
    """List the paths of all results below a folder, relative to it, sorted.

    Raises:
        UsageError: the folder does not exist, or has no results.
    """
    if not folder.exists():
        raise UsageError(f"{folder}: no such file or folder; give the folder that `viva grade -o` wrote.")
    found = [path.relative_to(folder) for path in sorted(folder.rglob("results.json")) if path.is_file()]
    if not found:
        raise UsageError(f"{folder} holds no results.json; give the folder that `viva grade -o` wrote.")
    return found
