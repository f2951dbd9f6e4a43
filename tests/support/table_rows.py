"""Tables inside one test: every row is tried, and the failing rows are named."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

SHOWN: Final = 10
"""How many failing rows come with their traceback."""


class Rows:
    """The rows of one test.

    >>> with Rows() as row:
    ...     for text, number in TABLE:
    ...         with row(text):
    ...             assert read(text) == number
    """

    def __init__(self) -> None:
        self._failed: list[Exception] = []
        self._count = 0

    def __enter__(self) -> "Rows":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if kind is None:
            assert self._count, "the table has no rows"
            if self._failed:
                raise ExceptionGroup(f"{len(self._failed)} of {self._count} rows failed", self._failed[:SHOWN])

    @contextmanager
    def __call__(self, *name: Any) -> Iterator[None]:
        """Note the failure of one row, under its name, and let the next row have its turn."""
        self._count += 1
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:  # the latter derives from BaseException
            told = error if isinstance(error, Exception) else AssertionError(str(error))
            told.add_note(f"in row {', '.join(map(repr, name))}")
            self._failed.append(told)
