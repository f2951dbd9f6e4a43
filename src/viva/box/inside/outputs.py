"""What a notebook's cells put out, as nbformat describes outputs; capped for each cell and for the notebook."""

from __future__ import annotations

import io
import sys
from typing import Any, Dict, List, Tuple

Output = Dict[str, Any]

_CELL_BYTES, _NOTEBOOK_BYTES = 1 << 20, 5 << 20
"""The outputs of a whole notebook travel in one reply."""
_CUT = "[output cut]\n"
_DISPLAY_ID = "_display_id"


class Outputs:
    """The outputs of the cell that runs now."""

    def __init__(self) -> None:
        self._items: List[Output] = []
        self._left = _CELL_BYTES
        self._left_of_notebook = _NOTEBOOK_BYTES
        self._clear_before_next = False

    def begin(self) -> None:
        """A new cell."""
        self._items, self._clear_before_next = [], False
        self._left = min(_CELL_BYTES, self._left_of_notebook)

    def finished(self) -> List[Output]:
        """The outputs of the cell that has run."""
        return [_finished(item) for item in self._items]

    def stream(self, name: str, text: str) -> None:
        """Text on "stdout" or "stderr"; joined with what the same stream has just put out."""
        self._clear_if_due()
        last = self._items[-1] if self._items else {}
        if not text or not self._has_room(_size(text)):
            return
        if last.get("name") == name:
            last["text"].append(text)
        else:
            self._items.append({"output_type": "stream", "name": name, "text": [text]})

    def result(self, data: Dict[str, Any], metadata: Dict[str, Any], number: int) -> None:
        """The value of a cell's last expression."""
        self._add({"output_type": "execute_result", "execution_count": number, "data": data, "metadata": metadata})

    def display(self, data: Dict[str, Any], metadata: Dict[str, Any], display_id: Any = None) -> None:
        """Something displayed; `display_id` names it for `update`."""
        item = {"output_type": "display_data", "data": data, "metadata": metadata}
        self._add(item if display_id is None else {**item, _DISPLAY_ID: display_id})

    def update(self, data: Dict[str, Any], metadata: Dict[str, Any], display_id: Any) -> None:
        """Put something else where `display_id` was displayed in this cell."""
        for item in self._items:
            if item.get(_DISPLAY_ID) == display_id and self._has_room(_size_of(data)):
                item["data"], item["metadata"] = data, metadata

    def error(self, raised: Dict[str, Any]) -> None:
        """An exception, with the student's own lines."""
        lines = [
            f"{file}, line {line}, in {function}\n    {source}" for file, line, function, source in raised["frames"]
        ]
        last = f"{raised['type']}: {raised['message']}" if raised["message"] else raised["type"]
        self._items.append(
            {
                "output_type": "error",
                "ename": raised["type"],
                "evalue": raised["message"],
                "traceback": [*lines, last],
            }
        )

    def clear(self, wait: bool) -> None:
        """Forget what was put out: now, or when something new comes."""
        if wait:
            self._clear_before_next = True
        else:
            self._items = []

    def _add(self, item: Output) -> None:
        self._clear_if_due()
        if self._has_room(_size_of(item["data"])):
            self._items.append(item)

    def _clear_if_due(self) -> None:
        if self._clear_before_next:
            self._items, self._clear_before_next = [], False

    def _has_room(self, size: int) -> bool:
        """Take room; the first that finds none leaves a note."""
        if size <= self._left:
            self._left -= size
            self._left_of_notebook -= size
            return True
        if self._left >= 0:
            self._items.append({"output_type": "stream", "name": "stderr", "text": [_CUT]})
        self._left = -1
        return False


class Stream(io.TextIOBase):
    """Stands for sys.stdout or sys.stderr while a cell runs."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, outputs: Outputs, name: str) -> None:
        super().__init__()
        self._outputs, self._name = outputs, name
        self.buffer = _Bytes(self)

    def writable(self) -> bool:
        """Yes."""
        return True

    def isatty(self) -> bool:
        """No: colours and progress bars are for people."""
        return False

    def fileno(self) -> int:
        """For programs that write to the descriptor themselves: their text does not appear beside the cell."""
        return 1 if self._name == "stdout" else 2

    def write(self, text: str) -> int:
        """Put out text."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.stream(self._name, str.__str__(text))
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
    """A context in which what is printed goes to `outputs`."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs
        self._before: Tuple[Any, Any] = (None, None)

    def __enter__(self) -> None:
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = Stream(self._outputs, "stdout"), Stream(self._outputs, "stderr")

    def __exit__(self, *_error: object) -> None:
        sys.stdout, sys.stderr = self._before


def _finished(item: Output) -> Output:
    """An output without our own key; a stream's text was kept in parts, for joining as it comes costs the square."""
    plain = {key: value for key, value in item.items() if key != _DISPLAY_ID}
    return {**plain, "text": "".join(plain["text"])} if plain["output_type"] == "stream" else plain


def _size(text: str) -> int:
    return len(text) if text.isascii() else 4 * len(text)


def _size_of(data: Dict[str, Any]) -> int:
    return sum(_size(value) if type(value) is str else _size(repr(value)) for value in data.values())
