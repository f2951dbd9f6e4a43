"""Boxes that are made ahead of time, so that a submission never waits for a fork."""

import contextlib
import threading
from collections import deque
from collections.abc import Sequence
from typing import Final, Self

from viva.sandbox.errors import BoxError, BoxUnavailable
from viva.sandbox.guest.transport.message_types import Put
from viva.sandbox.host.box import Box
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.limits import Limits

_TAKE_S: Final = 120.0


class Pool:
    """Keeps `ready` locked boxes waiting; its own thread makes them as long as the pool is open."""

    def __init__(
        self,
        fork_server: ForkServer,
        limits: Limits,
        *,
        ready: int = 2,
        data: Sequence[tuple[str, bytes]] = (),
        seed: int = 0,
    ) -> None:
        """Start to make boxes.

        Args:
            fork_server: makes the boxes; the caller closes it, after the pool.
            limits: the limits of every box.
            ready: how many boxes wait; 0 makes each box when it is taken.
            data: files put into the work directory of each box, as (relative path, bytes).
            seed: for the random states of the box before a request carries its own.
        """
        self._fork_server, self._limits, self._data, self._seed = fork_server, limits, tuple(data), seed
        self._wanted = ready
        self._ready: deque[Box] = deque()
        self._failure: BoxError | None = None
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._fill, name="viva pool", daemon=True)
        if ready > 0:
            self._thread.start()

    def take(self) -> Box:
        """Take a fresh box, which the caller closes; raises BoxUnavailable when none can be made."""
        if self._wanted <= 0:
            return self._make()
        while True:
            box = self._next()
            if box.alive:
                return box
            box.close()

    def close(self) -> None:
        """End the boxes that wait; whoever took a box closes it."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._wanted > 0:
            self._thread.join()
        while self._ready:
            self._ready.popleft().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _next(self) -> Box:
        with self._changed:
            if not self._changed.wait_for(lambda: self._ready or self._failure or self._closed, _TAKE_S):
                raise BoxUnavailable(f"no box was ready within {_TAKE_S:g} s")
            if self._ready:
                box = self._ready.popleft()
                self._changed.notify_all()
                return box
            failure, self._failure = self._failure, None
            self._changed.notify_all()
        if failure is None:
            raise BoxUnavailable("the pool is closed")
        raise BoxUnavailable(str(failure)) from failure

    def _fill(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._closed or (len(self._ready) < self._wanted and self._failure is None)
                )
                if self._closed:
                    return
            try:
                box = self._make()
            except BoxError as error:
                with self._changed:
                    self._failure = error
                    self._changed.notify_all()
                continue
            with self._changed:
                self._ready.append(box)
                self._changed.notify_all()

    def _make(self) -> Box:
        box = self._fork_server.spawn(self._limits, seed=self._seed)
        try:
            for path, data in self._data:
                raised = box.send(Put(path, data)).raised
                if raised is not None:
                    raise BoxUnavailable(f"the data file {path} could not be put into the box: {raised.get('message')}")
        except BoxError:
            with contextlib.suppress(BoxError):
                box.close()
            raise
        return box
