"""What a notebook's cells put out, as nbformat describes outputs; capped for each cell and for the notebook."""

from __future__ import annotations

import base64
import io
import sys
from typing import Any, Callable, Dict, List, Tuple

from .descriptor_capture import Written

Output = Dict[str, Any]

_CELL_BYTES, _NOTEBOOK_BYTES = 1 << 20, 5 << 20
"""The outputs of a whole notebook travel in one reply."""
_CUT = "[output cut]\n"
_CUT_TO, _FRAMES_LEFT = 1000, 5
"""Characters of a line, and lines, that are left of a traceback for which there is no room."""
_DEEPEST = 30
"""Levels of a display's data; the examiner reads no more than 40."""


def _nothing() -> None:
    """Nobody has written to the descriptors."""


class Outputs:
    """The outputs of the cell that runs now; what earlier cells displayed can still be updated."""

    def __init__(self) -> None:
        self._items: List[Output] = []
        self._left = _CELL_BYTES
        self._left_of_notebook = _NOTEBOOK_BYTES
        self._taken = 0
        """Room that the outputs of this cell take."""
        self._clear_before_next = False
        self._displayed: Dict[Any, List[Output]] = {}
        """What was displayed under an id, in whichever cell."""
        self.drain: Callable[[], None] = _nothing
        """Takes in what was written to the descriptors meanwhile (written.py), so that the order is kept."""

    def begin(self) -> None:
        """A new cell."""
        self._items, self._clear_before_next, self._taken = [], False, 0
        self._left = min(_CELL_BYTES, self._left_of_notebook)

    def finished(self) -> List[Output]:
        """The outputs of the cell that has run; updates by later cells still reach them."""
        for item in self._items:
            if item["output_type"] == "stream":
                item["text"] = "".join(item["text"])  # was kept in parts, for joining as it comes costs the square
        return self._items

    def stream(self, name: str, text: str) -> None:
        """Text on "stdout" or "stderr"; joined with what the same stream has just put out."""
        self.drain()
        self.written(name, text)

    def written(self, name: str, text: str) -> None:
        """The same for text that came from a descriptor."""
        if not text:
            return
        self._clear_if_due()
        last = self._items[-1] if self._items else {}
        if not self._has_room(_size(text)):
            return
        if last.get("name") == name:
            last["text"].append(text)
        else:
            self._items.append({"output_type": "stream", "name": name, "text": [text]})

    def result(self, data: Dict[str, Any], metadata: Dict[str, Any], number: int) -> None:
        """The value of a cell's last expression."""
        self._add({"output_type": "execute_result", "execution_count": number, **_bundle(data, metadata)})

    def display(self, data: Dict[str, Any], metadata: Dict[str, Any], display_id: Any = None) -> None:
        """Something displayed; `display_id` names it for `update`."""
        item = {"output_type": "display_data", **_bundle(data, metadata)}
        if self._add(item) and type(display_id) is str:
            self._displayed.setdefault(display_id, []).append(item)

    def update(self, data: Dict[str, Any], metadata: Dict[str, Any], display_id: Any) -> None:
        """Put something else where `display_id` was displayed, in this cell or an earlier one."""
        new = _bundle(data, metadata)
        for item in self._displayed.get(display_id, ()) if type(display_id) is str else ():
            if self._has_room(_size_of(new["data"])):
                item.update(new)

    def error(self, raised: Dict[str, Any]) -> None:
        """An exception, with the student's own lines."""
        lines = [
            f"{file}, line {line}, in {function}\n    {source}" for file, line, function, source in raised["frames"]
        ]
        last = f"{raised['type']}: {raised['message']}" if raised["message"] else raised["type"]
        self.drain()
        self._clear_if_due()
        self._items.append(_error(raised["type"], raised["message"], [*lines, last]))

    def traceback(self, name: str, words: str, lines: List[str]) -> None:
        """An exception as IPython prints it; its end only, where it is too long for the room that there is."""
        self.drain()
        self._clear_if_due()
        if sum(map(_size, lines)) > self._left:
            words, lines = words[:_CUT_TO], [_CUT, *(line[:_CUT_TO] for line in lines[-_FRAMES_LEFT:])]
            self._items.append(_error(name, words, lines))
        elif self._has_room(_size(words) + sum(map(_size, lines))):
            self._items.append(_error(name, words, lines))

    def clear(self, wait: bool) -> None:
        """Forget what was put out: now, or when something new comes."""
        self.drain()
        self._clear_before_next = True
        if not wait:
            self._clear_if_due()

    def _add(self, item: Output) -> bool:
        self.drain()
        self._clear_if_due()
        has_room = self._has_room(_size_of(item["data"]))
        if has_room:
            self._items.append(item)
        return has_room

    def _clear_if_due(self) -> None:
        if self._clear_before_next:
            self._items, self._clear_before_next = [], False
            self._left_of_notebook += self._taken
            self._left, self._taken = min(_CELL_BYTES, self._left_of_notebook), 0

    def _has_room(self, size: int) -> bool:
        """Take room; the first that finds none leaves a note."""
        if size <= self._left:
            self._left -= size
            self._left_of_notebook -= size
            self._taken += size
            return True
        if self._left >= 0:
            self._items.append({"output_type": "stream", "name": "stderr", "text": [_CUT]})
        self._left = -1
        return False


class Stream(io.TextIOBase):
    """Stands for sys.stdout or sys.stderr while a cell runs."""

    encoding = "UTF-8"
    errors = None

    def __init__(self, outputs: Outputs, name: str) -> None:
        super().__init__()
        self._outputs, self.name = outputs, name
        self.buffer = _Bytes(self)

    def writable(self) -> bool:
        """Yes."""
        return True

    def isatty(self) -> bool:
        """No: colours and progress bars are for people."""
        return False

    def fileno(self) -> int:
        """For programs that write to the descriptor themselves: their text does not appear beside the cell."""
        return 1 if self.name == "stdout" else 2

    def write(self, text: str) -> int:
        """Put out text."""
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
    """A context in which what is printed goes to `outputs`, also what is written to the descriptors themselves."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs
        self._before: Tuple[Any, Any] = (None, None)
        self._written = Written(outputs.written)

    def __enter__(self) -> None:
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = Stream(self._outputs, "stdout"), Stream(self._outputs, "stderr")
        self._written.begin()
        self._outputs.drain = self._written.drain

    def __exit__(self, *_error: object) -> None:
        sys.stdout, sys.stderr = self._before
        self._outputs.drain = _nothing
        self._written.end()


def _error(name: str, words: str, traceback: List[str]) -> Output:
    return {"output_type": "error", "ename": name, "evalue": words, "traceback": traceback}


def _bundle(data: Dict[str, Any], metadata: Dict[str, Any]) -> Dict[str, Any]:
    return {"data": _as_json(data), "metadata": _as_json(metadata)}


def _as_json(value: Any, depth: int = 0) -> Any:
    """Data of a display as the file of a notebook holds it: bytes as base64; what JSON does not know as text."""
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


def _size(text: str) -> int:
    return len(text) if text.isascii() else 4 * len(text)


def _size_of(data: Dict[str, Any]) -> int:
    return sum(_size(value) if type(value) is str else _size(repr(value)) for value in data.values())
