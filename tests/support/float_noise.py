"""Noise in the last digits of a dtype: what other libraries, orders of summation and threads do to right answers.

The code below is added to a submission. It wraps the functions of the submission and what its models compute; what they
return to the examiner is changed element by element. The change depends on the value alone, so that equal results stay
equal: identity, symmetry and causality are facts, not roundings.
"""

from typing import Final

from tests.support.editable_submission import HandIn

WRAPPERS: Final = """
def _viva_noise_put_everywhere():
    import functools, inspect, math, sys
    import numpy as np

    depth = []
    given = []

    def array(x):
        if x.dtype.kind != "f" or x.dtype.itemsize < 4:
            return x
        kind, x = type(x), np.asarray(x)
        with np.errstate(all="ignore"):
            y = CHANGE_ARRAY
            changed = np.where(np.isfinite(x) & (x != np.floor(x)), y, x).astype(x.dtype)
        return changed.view(kind) if changed.ndim else changed

    def noisy(x):
        torch = sys.modules.get("torch")
        if type(x) is float:
            return float(array(np.asarray(x)))
        if isinstance(x, np.floating):
            return array(np.asarray(x))[()]
        if isinstance(x, np.ndarray):
            return array(x)
        if torch is not None and isinstance(x, torch.Tensor):
            if type(x) is not torch.Tensor or x.dtype not in (torch.float32, torch.float64):
                return x
            changed = torch.from_numpy(np.asarray(array(x.detach().cpu().numpy())).copy())
            return x + (changed - x.detach()).nan_to_num(0.0, 0.0, 0.0)
        if type(x) in (list, tuple):
            return type(x)(map(noisy, x))
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*map(noisy, x))
        if type(x) is dict:
            return x if any(x is one for one in given) else {k: noisy(v) for k, v in x.items()}
        return x

    def wrapped(function):
        def wrapper(*args, **kwargs):
            torch = sys.modules.get("torch")
            if torch is not None and hasattr(torch, "set_num_threads"):
                torch.set_num_threads(THREADS)
            depth.append(1)
            try:
                returned = function(*args, **kwargs)
            finally:
                depth.pop()
            if depth:
                return returned
            # A mapping that the caller gave comes back as it is: nothing was computed in it.
            given[:] = [one for x in args for one in (x if type(x) in (list, tuple) else [x]) if type(one) is dict]
            return noisy(returned)
        wrapper.__signature__ = inspect.signature(function)
        wrapper.__name__, wrapper.__doc__ = function.__name__, function.__doc__
        return wrapper

    for name, value in list(globals().items()):
        if name.startswith("_viva_noise"):
            continue
        if inspect.isfunction(value) and not inspect.isgeneratorfunction(value):
            globals()[name] = wrapped(value)
        elif inspect.isclass(value) and value.__module__ == __name__:
            for method, it in list(vars(value).items()):
                if inspect.isfunction(it) and method in ("forward", "__call__"):  # others may hand out their own state
                    setattr(value, method, wrapped(it))

_viva_noise_is_there = _viva_noise_put_everywhere()  # an assignment: `load: definitions` runs no bare call
"""

OTHER_ORDER: Final = """
import builtins as _viva_builtins
import numpy as _viva_numpy
def sum(values, *start):
    values = list(values)
    if all(isinstance(v, (int, float)) for v in values):
        values.reverse()
    return _viva_builtins.sum(values, *start)
def _viva_reversed(function):
    def other(a, axis=None, *args, **kwargs):
        a = _viva_numpy.asarray(a) if isinstance(a, (list, tuple)) else a
        if isinstance(a, _viva_numpy.ndarray) and (axis is None or isinstance(axis, int)):
            a = _viva_numpy.flip(a, axis)
        return function(a, axis, *args, **kwargs)
    return other
_viva_numpy.sum, _viva_numpy.mean = _viva_reversed(_viva_numpy.sum), _viva_reversed(_viva_numpy.mean)
"""


def noisy(work: HandIn, change: str, threads: int = 1) -> HandIn:
    """The work with another last digit in everything that it returns; `change` is an expression of the array x."""
    return work.ended_by(WRAPPERS.replace("CHANGE_ARRAY", change).replace("THREADS", str(threads)))


def relative(size: float) -> str:
    """Noise of this size relative to each value, in either direction."""
    return f"x * (1 + {size!r} * np.sin(1e4 * x.astype(np.float64)))"


THROUGH_FLOAT32: Final = "x.astype(np.float32).astype(x.dtype)"


def in_other_order(work: HandIn) -> HandIn:
    """The work with sums taken from the other end."""
    return work.begun_with(OTHER_ORDER)
