"""What is imported before student code runs: the course's libraries, and what nearly every submission imports."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import sys
from typing import Dict, Iterable, List

from ..lockdown import clean_environment

_ALWAYS = """
encodings.idna traceback linecache tokenize inspect ast dataclasses typing copy math itertools collections functools
getpass json csv pickle tempfile shutil subprocess contextlib warnings random string re decimal fractions datetime time
enum
numpy numpy.random numpy.linalg numpy.fft numpy.testing
"""
"""Imported by nearly every submission, or lazily by what they call: cheap once, expensive in each box."""
_REPORTED = ("numpy", "torch", "transformers")
_WITH_TORCH = ("torch.nn", "torch.optim", "torch.utils.data", "torch._dynamo?")
"""An optimizer imports the last one, the compiler, at its first step; it takes as long as torch itself."""


def to_import(preload: Iterable[str]) -> List[str]:
    """Return the module names in order.

    Args:
        preload: names of modules; `torch?` is left out if torch is not installed, and `-torch` always.
    """
    names = list(preload)
    left_out = {name[1:] for name in names if name.startswith("-")}
    chosen = [name for name in names if name[:1] != "-" and (name[-1:] != "?" or _is_installed(name.rstrip("?")))]
    chosen = [name if "." in name else name.rstrip("?") for name in chosen]
    wanted = [name for name in (*_ALWAYS.split(), *chosen) if name.rstrip("?") not in left_out]
    if "torch" in wanted:
        wanted += _WITH_TORCH
    return wanted


def _is_installed(name: str) -> bool:
    return importlib.util.find_spec(name.split(".")[0]) is not None


def import_all(names: Iterable[str]) -> None:
    """Import the modules, with the variables that libraries read then.

    A part of a library, such as `scipy.stats?`, may be missing in another version of it.

    Raises:
        ImportError: Another module does not exist or cannot be loaded.
    """
    os.environ.update(clean_environment.FOR_LIBRARIES)
    gc.disable()  # imports leave hardly any garbage, and the collector takes a sixth of an import of transformers
    try:
        for name in names:
            _import(name)
    finally:
        gc.freeze()
        gc.enable()


def _import(name: str) -> None:
    try:
        importlib.import_module(name.rstrip("?"))
    except ModuleNotFoundError as error:
        if not (name.endswith("?") and error.name and name.startswith(error.name)):
            raise


def versions() -> Dict[str, str]:
    """Return the versions of loaded libraries that influence results."""
    found = {name: getattr(sys.modules.get(name), "__version__", "") for name in _REPORTED}
    return {name: str(version) for name, version in found.items() if version}
