"""What one test may leave to the next is put back: random numbers, defaults, warnings, the current directory."""

from __future__ import annotations

import decimal
import os
import random
import sys
import warnings
from typing import Any, List

import numpy as np

from ..loading import sources

_chdir = os.chdir


class _Usual:
    """What every test begins with: as it was before any student code."""

    filters: List[Any] = list(warnings.filters)  # noqa: RUF012  # there is one of it
    errstate = np.geterr()
    printing = np.get_printoptions()


def take_as_usual() -> None:
    """Every test begins with what is set now: a live kernel has run student code before it knows us."""
    _Usual.filters = list(warnings.filters)
    _Usual.errstate = np.geterr()
    _Usual.printing = np.get_printoptions()


def reseed(seed: int) -> None:
    """Seed every generator, and put back what student code may have changed for the whole process."""
    _chdir(sources.folder())
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    if np.geterr() != _Usual.errstate:
        np.seterr(**_Usual.errstate)
    if np.get_printoptions() != _Usual.printing:
        np.set_printoptions(**_Usual.printing)
    decimal.setcontext(decimal.DefaultContext.copy())
    if warnings.filters != _Usual.filters:
        warnings.filters[:] = _Usual.filters  # type: ignore[index]  # it is a list; typeshed promises less
        getattr(warnings, "_filters_mutated", lambda: None)()
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "manual_seed"):
        _reseed_torch(torch, seed)


class _Torch:
    threads = 0
    """As many as before any student code; 0 until torch was first seen."""


def _reseed_torch(torch: Any, seed: int) -> None:
    torch.default_generator.manual_seed(seed)
    if getattr(torch.cuda, "is_initialized", lambda: False)():
        torch.cuda.manual_seed_all(seed)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)
    if torch.are_deterministic_algorithms_enabled():
        torch.use_deterministic_algorithms(False)
    _Torch.threads = _Torch.threads or torch.get_num_threads()
    if torch.get_num_threads() != _Torch.threads:
        torch.set_num_threads(_Torch.threads)
