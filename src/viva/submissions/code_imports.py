"""Which modules a text of Python imports, and which of them a sandbox should import ahead of every submission."""

import ast
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from viva.submissions.code_names import parse_cell

_SLOW: Final = (
    "numpy",
    "pandas",
    "scipy",
    "sklearn",
    "torch",
    "matplotlib",
    "seaborn",
    "statsmodels",
    "sympy",
    "networkx",
    "nltk",
    "bs4",
    "PIL",
)
"""Libraries that take long to import, in the order in which they are imported; in a box, none starts a thread then."""


def preloads(sources: Iterable[str]) -> list[str]:
    """Return the slow libraries that these texts import, with their submodules; each may be missing elsewhere."""
    found = {name for source in sources for name in _modules(source) if name.partition(".")[0] in _SLOW}
    names = found | {name.partition(".")[0] for name in found}
    return [f"{name}?" for name in sorted(names, key=lambda name: (_SLOW.index(name.partition(".")[0]), name))]


def imported(source: str) -> list[str]:
    """Return the modules that a text imports, by their full names; none if it is not Python."""
    names: list[str] = []
    for node in _imports(source):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif node.module:
            names.append(node.module)
    return names


def is_installed(module: str) -> bool:
    """Return whether a top-level module comes with Python or is installed here; nothing is imported."""
    if module in sys.stdlib_module_names:
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _imports(source: str) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the statements that import, but not relative ones; none if the text is not Python."""
    for node in ast.walk(parse_cell(source)):
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not node.level):
            yield node


def _modules(source: str) -> Iterator[str]:
    """Yield the modules that a text imports, also as a name of their package (`from scipy import stats`)."""
    for node in _imports(source):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.Import):
            yield from names
        elif node.module:
            yield node.module
            yield from filter(_is_module, [f"{node.module}.{name}" for name in names])


def _is_module(name: str) -> bool:
    """Return whether a file of an installed package has this full name; nothing is imported."""
    package, *parts = name.split(".")
    spec = importlib.util.find_spec(package) if package in _SLOW else None
    folders = spec.submodule_search_locations if spec is not None and spec.submodule_search_locations else ()
    paths = (Path(folder, *parts) for folder in folders)
    return any(path.with_suffix(".py").is_file() or (path / "__init__.py").is_file() for path in paths)
