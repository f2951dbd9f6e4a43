"""The outputs of a notebook's cells, in the form of nbformat; capped for each cell and for the notebook."""

from __future__ import annotations

import base64
import collections
import io
import sys
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, List, Set, Tuple

from .descriptor_capture import DescriptorCapture

if TYPE_CHECKING:
    from ..transport.message_types import Output
    from ..values.raised import Raised

_CELL_BYTES, _NOTEBOOK_BYTES = 15 << 16, 5 << 20
"""With the end of a text that is too long, a cell has a MiB."""
_LEAST_ROOM = 1 << 16
_CUT = "[output cut]\n"
_END_CHARACTERS = 1 << 16
"""How much is kept of the end of a text that is too long."""
_CUT_TO, _FRAMES_LEFT = 1000, 5
"""Characters of a line, and number of lines, that are kept of a traceback that is too long."""
_DEEPEST = 30
"""Nesting levels of a display's data; the examiner reads no more than 40."""


def _nothing() -> None:
    """Drain nothing: no cell is running."""


class Outputs:
    """The outputs of the current cell; displays of earlier cells can still be updated."""

    def __init__(self) -> None:
        self._items: List[Output] = []
        self._cell_bytes_left = _CELL_BYTES
        self._notebook_bytes_left = _NOTEBOOK_BYTES
        self._bytes_used = 0
        """Bytes of the outputs of this cell."""
        self._clear_before_next = False
        self._end: Deque[str] = collections.deque()
        """The last of the texts that had no room."""
        self._end_size = 0
        self._number = 0
        self._finished: Dict[int, List[Output]] = {}
        """The outputs of earlier cells by their number."""
        self._displayed: Dict[str, List[Tuple[int, Output]]] = {}
        """The displays of all cells by their id, with the numbers of their cells."""
        self._updated: Set[int] = set()
        """The earlier cells whose displays the current cell has updated."""
        self.drain: Callable[[], None] = _nothing
        """Reads what was written to the descriptors (descriptor_capture.py), so that the order is kept."""

    def begin(self, number: int = 0) -> None:
        """Start a new cell; it needs a number only if `earlier` is asked for."""
        self._number, self._updated = number, set()
        self._items, self._clear_before_next, self._bytes_used = [], False, 0
        self._cell_bytes_left = min(_CELL_BYTES, self._notebook_bytes_left)
        self._end, self._end_size = collections.deque(), 0

    def finished(self) -> List[Output]:
        """Return the outputs of the cell that has run; updates by later cells still reach them."""
        if self._end:
            end = _without_overwritten("".join(self._end))[-_END_CHARACTERS:]
            self._items.append({"output_type": "stream", "name": "stdout", "text": [end]})
        for item in self._items:
            if item["output_type"] == "stream":
                # Joining each part as it comes would take quadratic time.
                item["text"] = _without_overwritten("".join(item["text"]))
        self._finished[self._number] = self._items
        return self._items

    def earlier(self) -> List[List[Any]]:
        """Return number and outputs of each earlier cell whose displays the current cell has updated."""
        return [[number, self._finished[number]] for number in sorted(self._updated)]

    def stream(self, name: str, text: str) -> None:
        """Add text on "stdout" or "stderr" to the last output if that has the same stream."""
        self.drain()
        self.written(name, text)

    def written(self, name: str, text: str) -> None:
        """Add text as `stream` does, without draining the descriptors first."""
        if not text:
            return
        self._clear_if_due()
        last: Output = self._items[-1] if self._items else {}
        if not self._reserve(_size(text)):
            self._keep_end(text)
        elif last.get("name") == name:
            last["text"].append(text)
        else:
            self._items.append({"output_type": "stream", "name": name, "text": [text]})

    def _keep_end(self, text: str) -> None:
        """Keep a text that has no room as the end of the output, instead of what was kept before if it is too long."""
        self._end.append(text)
        self._end_size += len(text)
        while self._end_size - len(self._end[0]) >= _END_CHARACTERS:
            self._end_size -= len(self._end.popleft())

    def result(self, data: Dict[str, object], metadata: Dict[str, object], number: int) -> None:
        """Add the value of a cell's last expression."""
        self._add({"output_type": "execute_result", "execution_count": number, **_bundle(data, metadata)})

    def display(self, data: Dict[str, object], metadata: Dict[str, object], display_id: object = None) -> None:
        """Add a display; `display_id` names it for `update`."""
        item: Output = {"output_type": "display_data", **_bundle(data, metadata)}
        if self._add(item) and type(display_id) is str:
            self._displayed.setdefault(display_id, []).append((self._number, item))

    def update(self, data: Dict[str, object], metadata: Dict[str, object], display_id: object) -> None:
        """Replace the displays named `display_id`, in this cell and in earlier ones."""
        new = _bundle(data, metadata)
        for number, item in self._displayed.get(display_id, ()) if type(display_id) is str else ():
            if self._reserve(_size_of(new["data"])):
                item.update(new)
                self._updated |= {number} - {self._number}

    def error(self, raised: Raised) -> None:
        """Add an exception, with the student's own lines."""
        lines = [
            f"{file}, line {line}, in {function}\n    {source}" for file, line, function, source in raised["frames"]
        ]
        last = f"{raised['type']}: {raised['message']}" if raised["message"] else raised["type"]
        self.drain()
        self._clear_if_due()
        self._items.append(_error(raised["type"], raised["message"], [*lines, last]))

    def traceback(self, name: str, message: str, lines: List[str]) -> None:
        """Add an exception as IPython prints it, or only its end if it is too long for the remaining space."""
        self.drain()
        self._clear_if_due()
        if sum(map(_size, lines)) > self._cell_bytes_left:
            message, lines = message[:_CUT_TO], [_CUT, *(line[:_CUT_TO] for line in lines[-_FRAMES_LEFT:])]
            self._items.append(_error(name, message, lines))
        elif self._reserve(_size(message) + sum(map(_size, lines))):
            self._items.append(_error(name, message, lines))

    def clear(self, *, wait: bool) -> None:
        """Discard the outputs of the cell: now, or with `wait` when the next output comes."""
        self.drain()
        self._clear_before_next = True
        if not wait:
            self._clear_if_due()

    def _add(self, item: Output) -> bool:
        self.drain()
        self._clear_if_due()
        fits = self._reserve(_size_of(item["data"]))
        if fits:
            self._items.append(item)
        return fits

    def _clear_if_due(self) -> None:
        if self._clear_before_next:
            self._items, self._clear_before_next = [], False
            self._notebook_bytes_left += self._bytes_used
            self._cell_bytes_left, self._bytes_used = min(_CELL_BYTES, self._notebook_bytes_left), 0

    def _reserve(self, size: int) -> bool:
        """Count `size` bytes as used if they fit; the first time that they do not, add a note."""
        if size <= self._cell_bytes_left or self._makes_room(size):
            self._use(size)
            return True
        if self._cell_bytes_left >= 0:
            self._items.append({"output_type": "stream", "name": "stderr", "text": [_CUT]})
        self._cell_bytes_left = -1
        return False

    def _use(self, size: int) -> None:
        self._cell_bytes_left -= size
        self._notebook_bytes_left -= size
        self._bytes_used += size

    def _makes_room(self, size: int) -> bool:
        """Drop what progress bars have overwritten; return whether that makes enough room, and not only a little."""
        if self._cell_bytes_left < 0:
            return False
        for item in self._items:
            if item["output_type"] == "stream":
                whole = "".join(item["text"])
                item["text"] = [_without_overwritten(whole)]
                self._use(_size(item["text"][0]) - _size(whole))
        return size + _LEAST_ROOM <= self._cell_bytes_left


class Stream(io.TextIOBase):
    """Replaces sys.stdout or sys.stderr while a cell runs."""

    encoding = "UTF-8"
    errors = None

    def __init__(self, outputs: Outputs, name: str) -> None:
        super().__init__()
        self._outputs, self.name = outputs, name
        self.buffer = _Bytes(self)

    def writable(self) -> bool:
        """Return True."""
        return True

    def isatty(self) -> bool:
        """Return False: colours and progress bars are for people."""
        return False

    def fileno(self) -> int:
        """Return the descriptor, for programs that write to it themselves."""
        return 1 if self.name == "stdout" else 2

    def write(self, text: str) -> int:
        """Add text to the outputs."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.stream(self.name, str.__str__(text))
        return len(text)


class _Bytes(io.RawIOBase):
    """`sys.stdout.buffer`."""

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self._stream.write(bytes(view).decode("utf-8", "backslashreplace"))
        return view.nbytes


class Streams:
    """A context in which everything that is printed or written to the descriptors goes to `outputs`."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs
        self._before: Tuple[Any, Any] = (None, None)
        self._capture = DescriptorCapture(outputs.written)

    def __enter__(self) -> None:
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = Stream(self._outputs, "stdout"), Stream(self._outputs, "stderr")
        self._capture.begin()
        self._outputs.drain = self._capture.drain

    def __exit__(self, *_error: object) -> None:
        sys.stdout, sys.stderr = self._before
        self._outputs.drain = _nothing
        self._capture.end()


def _error(name: str, message: str, traceback: List[str]) -> Output:
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": traceback}


def _bundle(data: Dict[str, object], metadata: Dict[str, object]) -> Output:
    return {"data": _as_json(data), "metadata": _as_json(metadata)}


def _as_json(value: Any, depth: int = 0) -> Any:
    """Convert data of a display for a notebook file: bytes to base64, and types that JSON lacks to text."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is bytes:
        return base64.b64encode(value).decode()
    if depth < _DEEPEST and issubclass(kind, dict):
        return {str.__str__(str(key)): _as_json(item, depth + 1) for key, item in dict.items(value)}
    if depth < _DEEPEST and issubclass(kind, (list, tuple)):
        items = list.__iter__(value) if issubclass(kind, list) else tuple.__iter__(value)
        return [_as_json(item, depth + 1) for item in items]
    return str.__str__(str(value))


def _without_overwritten(text: str) -> str:
    """Return the text without the beginnings of lines that a progress bar has overwritten, as a terminal shows it."""
    if "\r" not in text:
        return text
    lines = []
    for line in text.split("\n"):
        written = line.rstrip("\r")
        lines.append(written[written.rfind("\r") + 1 :] + line[len(written) :])
    return "\n".join(lines)


def _size(text: str) -> int:
    return len(text) if text.isascii() else 4 * len(text)


def _size_of(data: Dict[str, object]) -> int:
    return sum(_size(value) if type(value) is str else _size(repr(value)) for value in data.values())
