"""Calls of a function that the notebook never calls, from the types in its annotations and its docstring."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

Samples = tuple[Any, Any]
"""The values of one argument in the two calls."""
_NAMES: Final = r"[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*"
_DOCUMENTED: Final = (
    re.compile(rf"^[ \t]*(?P<names>{_NAMES})[ \t]*:[ \t]*(?P<type>\S.*)$", re.M),  # numpy
    re.compile(rf"^[ \t]*(?P<names>{_NAMES})[ \t]*--+[ \t]*(?P<type>\S.*)$", re.M),  # Coursera
    re.compile(rf"^[ \t]*(?P<names>{_NAMES})[ \t]*\((?P<type>(?:[^()\n]|\([^()\n]*\))+)\)[ \t]*[:-]", re.M),  # Google
    re.compile(r"^[ \t]*:param[ \t]+(?P<type>[\w.\[\] ]+?)[ \t]+(?P<names>\w+)[ \t]*:", re.M),  # Sphinx
    re.compile(r"^[ \t]*:type[ \t]+(?P<names>\w+)[ \t]*:[ \t]*(?P<type>\S.*)$", re.M),
)
_RESULTS: Final = re.compile(
    r"^[ \t]*(?:Returns?|Yields?|Raises|Attributes|Examples?)\b:?[ \t]*$|^[ \t]*:returns?:", re.M
)
_SHAPE: Final = re.compile(r"\(\s*(?P<axes>(?:[A-Za-z]\w*|\d{1,2})\s*(?:,\s*(?:[A-Za-z]\w*|\d{1,2})\s*)*,?)\s*\)")
_VECTOR: Final = re.compile(r"\b(?:vectors?|1-?d|one-dimensional|array[-_ ]like of|array of)\b", re.I)
_ARRAY: Final = re.compile(r"\b(?:nd|np\.|numpy\.)?(?:array|vector|matrix|ndarray)s?\b", re.I)
_SIZES: Final = ((3, 5), (2, 4), (4, 3), (5, 2))
"""The sizes of the axes of one name, in the order in which the names come."""
_PLAIN: Final[Mapping[str, Samples]] = {
    r"list\[str\]|lists? of (?:str|string|word|token)s?": (["a", "b"], ["the", "cat", "sat"]),
    r"list\[int\]|lists? of (?:int|integer)s?": ([3, 1], [1, 4, 2]),
    r"list\[float\]|lists? of (?:float|number)s?": ([0.5, -1.0], [1.5, 2.5, 0.0]),
    r"bool|boolean": (True, False),
    r"int|integer": (1, 5),
    r"float|number(?! of)|real|scalar": (-1.5, 2.0),
    r"str|string|text": ("The cat sat.", "a cat and a dog"),
}


def described_calls(function: Callable[..., object]) -> list[inspect.BoundArguments]:
    """Return two calls that fit what is said of a function's parameters; none if the type of one is not said."""
    signature = inspect.signature(function)
    documented = _documented(inspect.getdoc(function) or "")
    axes: dict[str, tuple[int, int]] = {}
    found: dict[str, Samples] = {}
    for parameter in signature.parameters.values():
        if parameter.default is not parameter.empty or parameter.kind > parameter.KEYWORD_ONLY:
            continue
        samples = _samples(f"{_annotation(parameter)} {documented.get(parameter.name, '')}".strip(), axes)
        if samples is None:
            return []
        found[parameter.name] = samples
    calls = []
    for place in (0, 1):
        bound = signature.bind_partial()
        bound.arguments.update({name: samples[place] for name, samples in found.items()})
        calls.append(bound)
    return calls


def _annotation(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    if annotation is parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return text.replace("typing.", "").replace("List[", "list[")


def _documented(docstring: str) -> dict[str, str]:
    """Return what a docstring says of the types of parameters, up to its section on results."""
    end = _RESULTS.search(docstring)
    text = docstring[: end.start()] if end else docstring
    found: dict[str, str] = {}
    for pattern in _DOCUMENTED:
        for match in pattern.finditer(text):
            for name in match["names"].split(","):
                found.setdefault(name.strip(), match["type"])
    return found


def _samples(text: str, axes: dict[str, tuple[int, int]]) -> Samples | None:
    """Return two values of a type in words; None if it is not known.

    Args:
        text: the type, such as `int` or `ndarray, shape (n, m)`.
        axes: the sizes of axes by name, to which new names are added.
    """
    for pattern, samples in _PLAIN.items():
        if re.fullmatch(rf"(?:{pattern})(?!\w)(?!\s*(?:array|vector|matrix)).*", text.strip(), re.I):
            return samples
    if not _ARRAY.search(text):
        return None
    shape = _SHAPE.search(text)
    if shape:
        names = [name.strip() for name in shape["axes"].split(",") if name.strip()]
    else:
        names = ["length"] if _VECTOR.search(text) else ["rows", "columns"]
    for name in names:
        axes.setdefault(name, (int(name),) * 2 if name.isdigit() else _SIZES[len(axes) % len(_SIZES)])
    return tuple(_array([axes[name][place] for name in names], text, place) for place in (0, 1))


def _array(shape: list[int], text: str, place: int) -> Any:
    values = np.random.default_rng(place).integers(-6, 7, size=shape)
    if re.search(r"\bbool", text, re.I):
        return values > 0
    return values if re.search(r"\bint", text, re.I) else values / 2
