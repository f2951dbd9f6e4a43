"""Run the code path of a box a few times in the fork server, so that it is warm in every box.

Python specializes code that has run often, and fills caches. This happens once here for all boxes, instead of in each
box, where every page that is written has to be copied first. No data of a student is involved.
"""

from __future__ import annotations

import builtins
import os
import random
import shutil
import socket
import sys
from typing import TYPE_CHECKING, Callable, List

import numpy as np

from ..loading import sources
from ..lockdown import clean_environment
from ..transport import wire
from . import seeding, worker
from .counted_time import wall_countdown

if TYPE_CHECKING:
    from ..transport.message_types import Request

_ROUNDS = 10
"""Python specialises a function after 8 calls (3.11) or fewer."""
_TIMEOUT_S = 10.0
_MODULE = "viva_warmup"
_SOURCE = b"""\
import numpy as np

SIZE = 3


def rows(x):
    return x.max(axis=-1, keepdims=True)


def pairs(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
"""


def warm_up(folder: str) -> None:
    """Put, load and call a small module in this process, then remove every trace of it.

    Args:
        folder: an absolute path that does not exist yet; it is created, and removed again.
    """
    os.makedirs(folder)
    restore = _save_state()
    try:
        sources.work_in(folder)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            for seed in range(_ROUNDS):
                clean_environment.variables(folder, folder)
                clean_environment.default_signals()
                _ask_all(worker.Worker(), seed, ours, theirs)
                sys.modules.pop(_MODULE, None)
    finally:
        restore()
        shutil.rmtree(folder)


def _ask_all(box: worker.Worker, seed: int, ours: socket.socket, theirs: socket.socket) -> None:
    if "torch" not in sys.modules:  # torch reads its number of threads once, and must do so in the box
        seeding.reseed(seed)
    for request in _requests():
        wire.send(ours, {"release": [], "soft_s": _TIMEOUT_S, **request})
        received = wire.receive(theirs, found=box.refs.mention)
        wire.transmit(theirs, box.answer(received))
        reply = wire.receive(ours, wall_countdown(_TIMEOUT_S))
        if "ok" not in reply:
            raise RuntimeError(f"the rehearsal of a box failed: {reply}")


def _requests() -> List[Request]:
    """Return the requests that the examiner sends for most submissions."""
    path = f"{_MODULE}.py"
    load: Request = {"op": "load_module", "path": path, "mode": "run", "forbid": [], "device": "", "file_s": _TIMEOUT_S}
    ask: Request = {"space": "student", "args": [], "kwargs": {}}
    return [
        {"op": "put", "path": path, "data": _SOURCE},
        load,
        {"op": "find", "space": "student", "name": "rows"},
        {"op": "find", "space": "student", "name": "columns"},
        {**ask, "op": "call", "name": "rows", "args": [np.ones((3, 4))]},
        {**ask, "op": "call", "name": "pairs", "args": [["a", "b", "c"], 2]},
        {"op": "get", "space": "student", "name": "SIZE"},
    ]


def _save_state() -> Callable[[], None]:
    """Save what loading and calling change in this process; return a function that restores it."""
    path, finders, arguments = list(sys.path), list(sys.meta_path), list(sys.argv)
    reading, breaking = builtins.input, sys.breakpointhook
    draws, numpy_draws = random.getstate(), np.random.get_state()
    directory, work = os.getcwd(), sources.folder()

    def restore() -> None:
        sys.modules.pop(_MODULE, None)
        sys.path[:], sys.meta_path[:], sys.argv[:] = path, finders, arguments
        builtins.input, sys.breakpointhook = reading, breaking
        random.setstate(draws)
        np.random.set_state(numpy_draws)
        os.chdir(directory)
        sys.path_importer_cache.pop(sources.folder().rstrip(os.sep), None)
        sources.forget_namespaces()
        sources.work_in(work)
        clean_environment.default_signals()

    return restore
