"""Reads a large notebook without its outputs, which can hold millions of values that are not graded."""

import json
import threading
from typing import Final

import msgspec

from viva.formats.notebook_json import NESTED, parse_json

MOST_BYTES: Final = 32 << 20
"""The most bytes that are read, as JSON: at most six for each character."""
MOST_VALUES: Final = 1_000_000
MOST_METADATA: Final = 200_000
"""Values and brackets of all metadata, in which a tool writes a few for each cell."""
_LONGEST_LANGUAGE: Final = 100
_NOTHING: Final = msgspec.Raw(b"")


class TooLarge(Exception):
    """The cells themselves hold too much."""


class TooManyCells(Exception):
    """There are more of them than anybody writes."""


class _Reading(threading.local):
    """What is counted while one thread reads a notebook."""

    cells_left = 0


_reading: Final = _Reading()


class _Cell(msgspec.Struct):
    """The parts of a cell that are read, unparsed; all others are skipped."""

    cell_type: msgspec.Raw = _NOTHING
    source: msgspec.Raw = _NOTHING
    input: msgspec.Raw = _NOTHING
    level: msgspec.Raw = _NOTHING
    metadata: msgspec.Raw = _NOTHING

    def __post_init__(self) -> None:
        """Stop reading at the first cell too many: a list of cells is not limited otherwise."""
        _reading.cells_left -= 1
        if _reading.cells_left < 0:
            raise TooManyCells


class _Named(msgspec.Struct):
    """What a notebook says about its kernel or its language."""

    name: msgspec.Raw = _NOTHING
    language: msgspec.Raw = _NOTHING


class _Metadata(msgspec.Struct):
    kernelspec: _Named = msgspec.field(default_factory=_Named)
    language_info: _Named = msgspec.field(default_factory=_Named)


class _Notebook(msgspec.Struct):
    cells: list[_Cell]
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_DECODER: Final = msgspec.json.Decoder(_Notebook)
_FIELDS: Final = _Cell.__struct_fields__


def without_outputs(text: str, most_cells: int) -> dict[str, object] | None:
    """Return the notebook's language and cells, without outputs; None for another form, or a damaged one.

    Raises:
        TooManyCells: there are more than `most_cells`.
        TooLarge: sources or metadata hold more than a person would write.
        json.JSONDecodeError: it is nested too deeply.
    """
    try:
        _reading.cells_left = most_cells
        notebook = _DECODER.decode(text)
    except msgspec.DecodeError:
        return None
    except RecursionError:
        raise json.JSONDecodeError(NESTED, "", 0) from None
    cells = [{name: bytes(getattr(cell, name)) for name in _FIELDS} for cell in notebook.cells]
    parts = [part for cell in cells for part in cell.values()]
    if sum(map(len, parts)) > MOST_BYTES or sum(part.count(b",") for part in parts) > MOST_VALUES:
        raise TooLarge
    if sum(cell["metadata"].count(mark) for cell in cells for mark in (b",", b"[", b"{")) > MOST_METADATA:
        raise TooLarge
    said = notebook.metadata
    return {
        "cells": [{name: parse_json(part) for name, part in cell.items() if part} for cell in cells],
        "metadata": {
            "kernelspec": {"language": _short(said.kernelspec.language)},
            "language_info": {"name": _short(said.language_info.name)},
        },
    }


def _short(part: msgspec.Raw) -> object:
    return parse_json(bytes(part)) if 0 < len(bytes(part)) < _LONGEST_LANGUAGE else None
