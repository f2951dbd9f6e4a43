"""What is imported before student code runs: the course's libraries, and what nearly every submission imports."""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import os
import sys
from typing import Dict, Iterable, Iterator, List

from ..lockdown import clean_environment
from . import idle_compiler
from .late_parts import LateFunctions, version_of

_ALWAYS = """
encodings.idna traceback linecache tokenize inspect ast dataclasses typing copy math itertools collections functools
getpass json csv pickle tempfile shutil subprocess contextlib warnings random string re decimal fractions datetime time
enum
numpy numpy.random numpy.linalg numpy.fft numpy.testing
"""
"""Imported by nearly every submission, or lazily by what they call: cheap once, expensive in each box."""
_REPORTED = ("numpy", "torch", "transformers", "ipykernel")
_WITH_TORCH = ("torch.nn", "torch.optim", "torch.utils.data")
_TRANSFORMERS = ("4.57.", "5.23.")
"""Versions of transformers with which tests show that programs find all of it."""


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
            with _lean_transformers() if name.startswith("transformers") else contextlib.nullcontext():
                _import(name)
            idle_compiler.install()  # before the next library, which may ask for the compiler as well
    finally:
        gc.freeze()
        gc.enable()


def _import(name: str) -> None:
    try:
        importlib.import_module(name.rstrip("?"))
    except ModuleNotFoundError as error:
        if not (name.endswith("?") and error.name and name.startswith(error.name)):
            raise


@contextlib.contextmanager
def _lean_transformers() -> Iterator[None]:
    """Import transformers without what takes half of the time and hardly any program uses.

    It does without `torch.distributed` where torch was built without it, which no box can use: it reaches no other
    machine. Of `scipy.optimize` it imports one function, for a loss of object detection.
    """
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is None or not version_of("transformers").startswith(_TRANSFORMERS):
        yield
        return
    is_available, scipy = distributed.is_available, None
    distributed.is_available = lambda: False
    if "scipy.optimize" not in sys.modules and _is_installed("scipy"):
        spec = importlib.util.find_spec("scipy.optimize")
        scipy = LateFunctions(spec, ["linear_sum_assignment"]) if spec is not None else None
    try:
        yield
    finally:
        distributed.is_available = is_available
        if scipy is not None:
            scipy.leave()


def versions() -> Dict[str, str]:
    """Return the versions of loaded libraries that influence results."""
    found = {name: getattr(sys.modules.get(name), "__version__", "") for name in _REPORTED}
    return {name: str(version) for name, version in found.items() if version}
