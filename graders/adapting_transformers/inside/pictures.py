"""No pictures are drawn."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any


class _Nothing:
    """What a drawing function gives while nothing is drawn: takes every call, and is as many axes as are asked for."""

    def __init__(self, rows: int = 2, columns: int = 1) -> None:
        self._rows, self._columns = rows, columns

    def __getattr__(self, name: str) -> _Nothing:
        return _Nothing(self._rows * self._columns) if name in ("flat", "flatten", "ravel") else self

    def __call__(self, *_: Any, **__: Any) -> _Nothing:
        return self

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, _: Any) -> _Nothing:
        return self

    def __iter__(self) -> Iterator[_Nothing]:
        return iter([_Nothing(self._columns) for _ in range(self._rows)])


def _subplots(nrows: int = 1, ncols: int = 1, **_: Any) -> tuple[_Nothing, _Nothing]:
    """As many axes as are asked for: a row if there is one row, else rows of columns."""
    rows, columns = (nrows, ncols) if nrows > 1 else (ncols, 1)
    return _Nothing(), _Nothing(rows, columns)


@contextlib.contextmanager
def no_pictures() -> Iterator[None]:
    """Draw nothing: no one looks at curves of ten rows, and drawing them takes longer than training."""
    pyplot = vars(sys.modules.get("matplotlib.pyplot", types.ModuleType("none")))
    drawing = {name: f for name, f in pyplot.items() if isinstance(f, types.FunctionType) and name[0] != "_"}
    pyplot.update({**dict.fromkeys(drawing, _Nothing()), "subplots": _subplots} if drawing else {})
    try:
        yield
    finally:
        pyplot.update(drawing)
