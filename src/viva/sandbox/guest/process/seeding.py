"""Reset what one test may leave to the next: random numbers, defaults, warnings, the current directory."""

from __future__ import annotations

import decimal
import os
import random
import sys
import warnings
from typing import TYPE_CHECKING, Any, Callable, List

import numpy as np

from ..loading import sources, torch_hook

if TYPE_CHECKING:
    import types

_chdir = os.chdir


class _Defaults:
    """The state in which every test begins: the state before any student code."""

    filters: List[Any] = list(warnings.filters)  # noqa: RUF012  # this class has no instances
    errstate = np.geterr()
    printing = np.get_printoptions()


def remember_defaults() -> None:
    """Begin every test with the current state: a live kernel has run student code before."""
    _Defaults.filters = list(warnings.filters)
    _Defaults.errstate = np.geterr()
    _Defaults.printing = np.get_printoptions()


def saved() -> Callable[[], None]:
    """Save the state of every generator; return a function that restores it."""
    draws, numpy_draws = random.getstate(), np.random.get_state()
    torch = sys.modules.get("torch")
    generator = getattr(torch, "default_generator", None)
    torch_draws = None if generator is None else generator.get_state()

    def restore() -> None:
        random.setstate(draws)
        np.random.set_state(numpy_draws)
        if generator is not None:
            generator.set_state(torch_draws)

    return restore


def reseed(seed: int) -> None:
    """Seed every generator, and reset what student code may have changed for the whole process."""
    _chdir(sources.home())
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    np.seterr(**_Defaults.errstate)
    np.set_printoptions(**_Defaults.printing)
    decimal.setcontext(decimal.DefaultContext.copy())
    if warnings.filters != _Defaults.filters:
        warnings.filters[:] = _Defaults.filters  # type: ignore[index]  # it is a list; typeshed promises less
        getattr(warnings, "_filters_mutated", lambda: None)()
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "manual_seed"):
        _reseed_torch(torch, seed)


class _Torch:
    threads = 0
    """The number before any student code; 0 until torch is first seen."""
    deterministic = False
    """Whether operations must give the same bits each time."""


_ERROR = 2
"""The mode of torch in which an operation without a deterministic algorithm raises."""


def be_deterministic() -> None:
    """Let torch use deterministic algorithms in every test from now on, in boxes with a GPU.

    It also fills the memory of `torch.empty`. An operation without such an algorithm raises a RuntimeError.
    """
    _Torch.deterministic = True
    torch_hook.when_loaded(_use_deterministic_algorithms)


def _use_deterministic_algorithms(torch: Any) -> None:
    torch.set_deterministic_debug_mode(_ERROR)  # `use_deterministic_algorithms` imports a compiler, for seconds


def _reseed_torch(torch: types.ModuleType, seed: int) -> None:
    torch.default_generator.manual_seed(seed)
    if getattr(torch.cuda, "is_initialized", lambda: False)():
        torch.cuda.manual_seed_all(seed)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)
    if _Torch.deterministic:
        _use_deterministic_algorithms(torch)
    elif torch.are_deterministic_algorithms_enabled():
        torch.use_deterministic_algorithms(False)  # noqa: FBT003  # torch's own signature
    _Torch.threads = _Torch.threads or torch.get_num_threads()
    if torch.get_num_threads() != _Torch.threads:
        torch.set_num_threads(_Torch.threads)
