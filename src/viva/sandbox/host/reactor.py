"""One thread for each fork server: receives its messages, drains what boxes print, ticks ten times a second."""

import selectors
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from viva.sandbox.host.captured_output import CapturedOutput

_TICK_S: Final = 0.1


class Reactor:
    """Runs callbacks when descriptors can be read; never after `forget` has returned."""

    def __init__(self, name: str) -> None:
        self._selector = selectors.DefaultSelector()
        self._lock = threading.RLock()
        self._ticks: list[Callable[[], None]] = []
        self._waker, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def watch(self, source: "socket.socket | CapturedOutput", callback: Callable[[], bool]) -> None:
        """Call `callback` whenever `source` can be read (or is at its end), until it returns False."""
        with self._lock:
            self._selector.register(source, selectors.EVENT_READ, callback)

    def forget(self, source: "socket.socket | CapturedOutput") -> None:
        """Stop watching; `source` may be closed afterwards."""
        with self._lock:
            watched = self._selector.get_map()
            if watched and source in watched:
                self._selector.unregister(source)

    def every_tick(self, callback: Callable[[], None]) -> None:
        """Call `callback` ten times a second from now on."""
        with self._lock:
            self._ticks.append(callback)
        self._waker.send(b"!")

    def close(self) -> None:
        """Stop the thread and free its descriptors."""
        self._closing = True
        self._waker.send(b"!")
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self._selector.close()
        self._waker.close()
        self._woken.close()

    def _run(self) -> None:
        while not self._closing:
            events = self._selector.select(_TICK_S if self._ticks else None)
            for key, _ in events:
                with self._lock:
                    self._dispatch(key)
            for tick in list(self._ticks):
                tick()

    def _dispatch(self, key: selectors.SelectorKey) -> None:
        if key.fileobj is self._woken:
            self._woken.recv(64)
            return
        if self._watches(key) and not key.data() and self._watches(key):
            self._selector.unregister(key.fd)

    def _watches(self, key: selectors.SelectorKey) -> bool:
        """Return whether it is still watched; it may be closed by now, so only its number is looked up."""
        current = self._selector.get_map().get(key.fd)
        return current is not None and current.data is key.data
