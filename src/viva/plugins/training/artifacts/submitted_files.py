"""Predictions and checkpoints among the files of a submission."""

import math
from collections.abc import Hashable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, Protocol

import numpy as np

from viva.compare import Disagreement
from viva.compare.show import show
from viva.model.errors import MissingName
from viva.plugins.training.artifacts.array_files import NPY, Array, UnusableFile, read_arrays
from viva.plugins.training.artifacts.prediction_files import Labels, Scores, classes_of, read_predictions

_PICKLED: Final = (".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle", ".joblib")
"""Tried last, so that a student who submits one reads why it is not opened."""
PREDICTIONS: Final = (".npz", ".npy", ".csv", *_PICKLED)
CHECKPOINTS: Final = (".safetensors", ".npz", *_PICKLED)
_WRAPPERS: Final = ("module.", "_orig_mod.", "model.")
"""What DataParallel, torch.compile and a module around the model put before every name."""
_ELEMENT_BYTES: Final = 16
"""The widest type of numbers."""


class SubmittedFiles(Protocol):
    """The part of the fixture `submission` that reads files."""

    def read(self, path: str, /) -> bytes:
        """Return the bytes of a file; raise MissingName if there is none."""
        ...


def predictions(
    submission: SubmittedFiles,
    name: str,
    n: int,
    *,
    classes: int | Sequence[str] | None = None,
    ids: Sequence[Hashable] | None = None,
) -> Labels | Scores:
    """Return the predictions for n rows that the student submits as CSV, npy or npz.

    A CSV file has a header: `prediction` with the number or the name of a class, or a column of scores for each class,
    under its name or number; and `id`, where the rows are in another order. An npz file has the array `predictions`,
    classes (n,) or scores (n, C), and perhaps `id`.

    Args:
        submission: the fixture.
        name: the file, such as "predictions.csv"; in another folder or of another of these kinds it is found as well.
        n: how many rows to predict.
        classes: how many classes there are, or their names in the order of their numbers, which the file may then use.
        ids: the ids of the rows in the examiner's order. Without them, ids 0 … n−1 or 1 … n are understood.

    Returns:
        Classes (n,), int64, or scores (n, C), float64, in the examiner's order of rows. They are untrusted values.

    Raises:
        MissingName: there is no such file; the message says where to put it.
        Disagreement: it cannot be used; the message says what was expected and what to do.
        ValueError: n, classes or ids make no sense.
    """
    known = classes_of(classes)
    if n < 1 or (ids is not None and len({*ids}) != n):
        raise ValueError(f"predictions(n={n}): expected one row or more, and as many different ids.")
    file, data = _find_file(submission, name, PREDICTIONS, f"your predictions for the {n:,} rows")
    try:
        return read_predictions(data, n, known, ids)
    except UnusableFile as why:
        raise Disagreement(f"{file} {why}") from None


def checkpoint(
    submission: SubmittedFiles, name: str, *, shapes: Mapping[str, Sequence[int]] | None = None
) -> dict[str, Array]:
    """Return the weights that the student submits as safetensors or npz.

    Args:
        submission: the fixture.
        name: the file, such as "model.safetensors".
        shapes: what must be there, by name. Others are left out; a wrapper's prefix (`module.`) is removed.

    Returns:
        Arrays by name; half precision as float32. They are untrusted values.

    Raises:
        MissingName: there is no such file; the message says where to put it.
        Disagreement: it cannot be used; the message says what was expected and what to do.
    """
    file, data = _find_file(submission, name, CHECKPOINTS, "your weights")
    try:
        return read_checkpoint(data, shapes)
    except UnusableFile as why:
        raise Disagreement(f"{file} {why}") from None


def read_checkpoint(data: bytes, shapes: Mapping[str, Sequence[int]] | None = None) -> dict[str, Array]:
    """Return the arrays in the bytes of a checkpoint; see `checkpoint`.

    Raises:
        UnusableFile: they cannot be used; `str()` continues after the file's name.
    """
    arrays = read_arrays(data, sum(_ELEMENT_BYTES * math.prod(shape) for shape in (shapes or {}).values()))
    if data.startswith(NPY):
        raise UnusableFile("holds an array without a name: write all weights by safetensors.torch.save_file.")
    found = arrays if shapes is None else _declared(arrays, shapes)
    for name, array in found.items():
        if array.dtype.kind not in "biuf":
            raise UnusableFile(f"holds {show(name)} of type {array.dtype}; expected numbers.")
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise UnusableFile(f"holds NaN in {show(name)}: the training diverged; save weights that are numbers.")
    return found


def _declared(arrays: dict[str, Array], shapes: Mapping[str, Sequence[int]]) -> dict[str, Array]:
    """Return the arrays that were asked for, in their order."""
    for wrapper in _WRAPPERS:
        bare = {name.removeprefix(wrapper): array for name, array in arrays.items()}
        if not shapes.keys() <= arrays.keys() and shapes.keys() <= bare.keys():
            arrays = bare
    if missing := [name for name in shapes if name not in arrays]:
        there = ", ".join(show(name) for name in list(arrays)[:4])
        raise UnusableFile(
            f"lacks {show(missing[0])}{f' and {len(missing) - 1} more' if len(missing) > 1 else ''}; it holds {there}"
            f"{', …' if len(arrays) > 4 else ''}: save the state_dict of the model that the question asks for."
        )
    for name, shape in shapes.items():
        if arrays[name].shape != tuple(shape):
            raise UnusableFile(
                f"holds {show(name)} of shape {show(arrays[name].shape)}; expected {show(tuple(shape))}."
            )
    return {name: arrays[name] for name in shapes}


def _find_file(submission: SubmittedFiles, name: str, endings: Sequence[str], what: str) -> tuple[str, bytes]:
    """Return the file's name and bytes: of this name, or of the same name with another readable ending."""
    stem = str(PurePosixPath(name).with_suffix(""))
    for candidate in dict.fromkeys([name, *(stem + ending for ending in endings)]):
        try:
            return candidate, submission.read(candidate)
        except MissingName:
            continue
    raise MissingFile(name, what)


class MissingFile(MissingName):
    """A file was not submitted; the message says where to put it."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__(name)
        self.args = (f"No file {name} was found: submit {what} under this name, next to your code.",)
