"""Workers without isolation layers: what the guest does, apart from how it is locked.

VIVA_TEST_PYTHON names another interpreter for the workers (3.9 or later, with numpy and msgpack): a course pinned to
older libraries is graded with them.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.bare_worker import Forker, Worker, forker_with


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    """With numpy, as every box has it."""
    yield from forker_with("numpy")


@pytest.fixture(scope="session")
def shell_forker() -> Iterator[Forker]:
    """With IPython loaded ahead, as an assignment of notebooks has it."""
    yield from forker_with("numpy", "IPython")


@pytest.fixture(scope="session")
def torch_forker() -> Iterator[Forker]:
    """With torch loaded ahead."""
    yield from forker_with("torch")


@pytest.fixture
def worker(forker: Forker, tmp_path: Path) -> Iterator[Worker]:
    """A fresh worker."""
    with forker.fork(tmp_path) as worker:
        yield worker


@pytest.fixture
def shell_worker(shell_forker: Forker, tmp_path: Path) -> Iterator[Worker]:
    """A fresh worker with IPython."""
    with shell_forker.fork(tmp_path) as worker:
        yield worker


@pytest.fixture
def torch_worker(torch_forker: Forker, tmp_path: Path) -> Iterator[Worker]:
    """A fresh worker with torch."""
    with torch_forker.fork(tmp_path) as worker:
        yield worker
