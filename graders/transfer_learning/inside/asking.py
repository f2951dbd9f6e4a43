"""Calls of the student's functions, whatever they ask for.

Functions of the lab find `model`, `optimizer`, `token2ind`, … as globals; others take them as arguments. `ask` serves
both: the test has set the globals, and what the signature asks for is passed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

_ALSO_CALLED = {
    "model": ("net", "classifier", "lm"),
    "optimizer": ("optim", "opt"),
    "criterion": ("loss_fn", "loss_function"),
    "token2ind": ("vocab", "vocabulary", "word2ind", "stoi"),
    "ind2token": ("ind2word", "itos"),
}


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def ask(function: Callable[..., Any], main: Sequence[Any], known: Mapping[str, Any]) -> Any:
    """Call a function on what it is about, and with whatever else its signature asks for.

    Args:
        function: the student's.
        main: what it is about, in order, such as the sentence.
        known: what may be asked for by name: model, token2ind, ….
    """
    parameters = _parameters(function)
    if parameters is None:
        return function(*main)
    chosen = _chosen(parameters, known, len(main))
    free = [p.name for p in parameters if p.name not in chosen]
    named = {free[i]: main[i] for i in range(min(len(free), len(main)))}
    return function(**named, **{name: known[meaning] for name, meaning in chosen.items()})


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return the named parameters; of a decorated function, those of the one inside. None if none can be seen."""
    for _ in range(5):
        try:
            found = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return None
        named = [p for p in found if p.kind in _NAMED]
        inner = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
        wrapped = [value for value in inner if inspect.isfunction(value) or inspect.isclass(value)]
        if named or not wrapped:
            return named if named or not found else None
        function = wrapped[0]
    return None


def _chosen(parameters: Sequence[inspect.Parameter], known: Mapping[str, Any], least: int) -> dict[str, str]:
    """Which parameters ask for what is known: by name, or by a word of it (`my_model`) as long as `least` are left."""
    meanings = {other: name for name in known for other in (name, *_ALSO_CALLED.get(name, ()))}
    names = [parameter.name for parameter in parameters]
    chosen = {name: meanings[name.lower()] for name in names if name.lower() in meanings}
    for name in names:
        found = [meanings[word] for word in name.lower().split("_") if word in meanings]
        if name not in chosen and found and found[0] not in chosen.values() and len(names) - len(chosen) > least:
            chosen[name] = found[0]
    return chosen


def each(function: Callable[..., Any], questions: Sequence[Sequence[Any]]) -> list[Any]:
    """Call a function on each list of arguments, all in one request to the box."""
    return [function(*arguments) for arguments in questions]


def ask_each(function: Callable[..., Any], questions: Sequence[Sequence[Any]], known: Mapping[str, Any]) -> list[Any]:
    """`ask` about each list of arguments."""
    return [ask(function, main, known) for main in questions]


def cpu() -> torch.device:
    """Return what the notebook calls `device`."""
    return torch.device("cpu")


class Pieces:
    """Replaces the lab's SentencePiece model; its pieces are whole words here, each after its mark.

    As in SentencePiece, a mark in a text is read as white space, and decoding turns it into a space.
    """

    def __init__(self, mark: str = "▁") -> None:
        self.mark = mark
        self.asked = False

    def encode_as_pieces(self, text: str) -> list[str]:
        """Text to tokens."""
        self.asked = True
        return [self.mark + word for word in text.replace("▁", " ").split()]

    def decode_pieces(self, pieces: Sequence[str]) -> str:
        """Tokens to text."""
        self.asked = True
        return ("" if self.mark else " ").join(pieces).replace("▁", " ").strip()

    def encode(self, text: str, out_type: Any = int, **_: Any) -> list[str]:
        """Text to tokens; ids would be those of a dictionary that the lab does not use."""
        if out_type is not str:
            raise TypeError("This stand-in for SentencePiece has no ids of its own: encode(text, out_type=str).")
        return self.encode_as_pieces(text)

    def decode(self, pieces: Sequence[str]) -> str:
        """Tokens to text."""
        return self.decode_pieces(pieces)

    EncodeAsPieces = encode_as_pieces
    DecodePieces = decode_pieces
    Encode = encode
    Decode = decode


def were_asked(pieces: Pieces) -> bool:
    """Return whether the student's code has cut or joined a text with them."""
    return pieces.asked
