"""What the assignment needs to be graded, pinned to the versions that are installed here, which verified it."""

import re
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from viva.config import Assignment
from viva.model.errors import UsageError
from viva.model.extras import DISTRIBUTION
from viva.submissions.code_imports import imported

_NOTEBOOKS: Final = ("ipython", "matplotlib-inline", "matplotlib")
_OWN: Final = frozenset({"viva", "graders", "reference", "conftest"})
_ONLY_WITH_CUDA: Final = re.compile(r"nvidia-.*|cuda-.*|triton")
"""Requirements of torch from the index; the installed build for CPUs does not need them."""
_PLATFORM: Final = {
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
    "extra": "",
}


def pinned(assignment: Assignment, sources: Iterable[Path]) -> dict[str, str]:
    """Return distributions and their versions, with all their dependencies.

    Args:
        assignment: the assignment to be graded.
        sources: Python files of graders and references, whose imports are needed too.
    """
    modules = {name.rstrip("?").partition(".")[0] for name in assignment.preload}
    modules |= {name for path in sources for name in _imported(path)}
    provided = metadata.packages_distributions()
    names = [name for module in sorted(modules) for name in provided.get(module, [])[:1]]
    names += needed_by(DISTRIBUTION)
    if assignment.submission.notebook is not None:
        names += _NOTEBOOKS
    found: dict[str, str] = {}
    while names:
        name = canonicalize_name(names.pop())
        if name in found or name == DISTRIBUTION or _ONLY_WITH_CUDA.fullmatch(name):
            continue
        try:
            found[name] = metadata.version(name).partition("+")[0]
        except metadata.PackageNotFoundError:  # needed only on other platforms, or optional and not installed
            continue
        names += needed_by(name)
    return dict(sorted(found.items()))


def text_of(pins: dict[str, str]) -> str:
    """Return the pins as requirements.txt."""
    return "".join(f"{name}=={version}\n" for name, version in pins.items())


def vendored(folder: Path, pins: dict[str, str]) -> list[Path]:
    """Return the wheels of a folder that the pins ask for.

    Raises:
        UsageError: one is missing; the message says how to get it.
    """
    found: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(folder.glob("*.whl")):
        try:
            name, version, _, _ = parse_wheel_filename(path.name)
        except ValueError:
            continue
        found.setdefault((name, version.public), []).append(path)
    missing = [f"{name}=={version}" for name, version in pins.items() if (name, version) not in found]
    if missing:
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise UsageError(
            f"{folder} has no wheel of {', '.join(missing[:8])}{' …' if len(missing) > 8 else ''}; get them with\n"
            f"  python -m pip download --only-binary :all: --python-version {python} --platform manylinux_2_28_x86_64 "
            f"--platform manylinux2014_x86_64 --no-deps -d {folder} {' '.join(missing)}"
        )
    return [path for name, version in pins.items() for path in found[(name, version)]]


def needed_by(name: str) -> list[str]:
    """Return the direct requirements of an installed distribution, as they are on Linux."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    environment = {**_PLATFORM, "python_version": version, "python_full_version": f"{version}.0"}
    try:
        wanted = [Requirement(text) for text in metadata.requires(name) or []]
    except metadata.PackageNotFoundError:
        return []
    return [want.name for want in wanted if want.marker is None or want.marker.evaluate(environment)]


def _imported(path: Path) -> set[str]:
    """Return the modules that a file imports from elsewhere."""
    found = {name.partition(".")[0] for name in imported(path.read_text("utf-8"))}
    return found - sys.stdlib_module_names - _OWN
