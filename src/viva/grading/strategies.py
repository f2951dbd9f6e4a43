"""Ready-made hypothesis strategies for `agree_on`: what functions of NLP coursework take as arguments.

They shrink towards what a student can work out by hand: few tokens, small sizes, whole numbers. Hypothesis is imported
when the first of them is called, so that graders without `agree_on` do not pay for it.
"""

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from viva.grading.functions import as_argument

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from numpy.typing import NDArray

    from viva.sandbox.guest.transport.wire import Code

    Matrix = NDArray[np.float64]
    Matrices = SearchStrategy[Matrix]

T = TypeVar("T")
N = TypeVar("N", int, float)
Size = int | tuple[int, int] | str
_WHOLE: Final = re.compile(r"(?<![\w.])\d{1,9}(?![\w.])")
LARGEST_NAMED: Final = 5
"""The largest size that has a name."""
MANY: Final = 100
SAMPLED: Final = 32
"""Arrays of more than `MANY` elements, such as images, hold so many different ones: drawing each takes long."""


def lengths(low: int = 0, high: int = 12) -> "SearchStrategy[int]":
    """Draw whole numbers from `low` to `high`: lengths of segments, sizes of batches.

    Raises:
        ValueError: `low` is above `high`.
    """
    from hypothesis import strategies as st

    return st.integers(*_ordered(low, high))


def token_lists(vocabulary: Sequence[str] = "ab", low: int = 0, high: int = 8) -> "SearchStrategy[list[str]]":
    """Draw sentences as lists of `low` to `high` tokens; few different tokens, so that n-grams repeat.

    Raises:
        ValueError: the vocabulary is empty, or `low` is above `high`.
    """
    from hypothesis import strategies as st

    if not vocabulary:
        raise ValueError("token_lists: the vocabulary is empty; expected at least one token.")
    low, high = _ordered(low, high)
    return st.lists(st.sampled_from(list(vocabulary)), min_size=low, max_size=high)


def reference_lists(
    vocabulary: Sequence[str] = "ab", low: int = 1, high: int = 8, most: int = 3
) -> "SearchStrategy[list[list[str]]]":
    """Draw one to `most` sentences of `low` to `high` tokens each, as translations to compare with.

    Raises:
        ValueError: as for `token_lists`, or `most` is below 1.
    """
    from hypothesis import strategies as st

    return st.lists(token_lists(vocabulary, low, high), min_size=1, max_size=_ordered(1, most)[1])


def matrices(
    rows: int | tuple[int, int] = (1, 5), columns: int | tuple[int, int] = (1, 5), largest: int = 3
) -> "Matrices":
    """Draw arrays (rows, columns) of halves between -`largest` and `largest`.

    Args:
        rows, columns: a size, or the smallest and the largest size.
        largest: the bound of the elements.

    Raises:
        ValueError: a smallest size above the largest.
    """
    from hypothesis import strategies as st

    elements = st.integers(-2 * largest, 2 * largest)

    def arranged(shape: tuple[int, int]) -> "Matrices":
        values = st.lists(elements, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
        return values.map(lambda flat: np.array(flat, dtype=np.float64).reshape(shape) / 2)

    return st.tuples(_size(rows), _size(columns)).flatmap(arranged)


def probability_rows(rows: int | tuple[int, int] = (1, 4), columns: int | tuple[int, int] = (1, 5)) -> "Matrices":
    """Draw arrays (rows, columns) without negative elements whose rows sum to 1; some elements are exactly 0.

    Raises:
        ValueError: a smallest size above the largest.
    """
    return matrices(rows, columns).map(_normalised)


def numbers(low: float = -3, high: float = 3) -> "SearchStrategy[float]":
    """Draw numbers from `low` to `high`: halves, which are easy to follow, and numbers with three decimals.

    Raises:
        ValueError: `low` is above `high`.
    """
    from hypothesis import strategies as st

    _ordered(low, high)
    halves = st.integers(math.ceil(2 * low), math.floor(2 * high)).map(lambda n: n / 2)
    others = st.integers(math.ceil(1000 * low), math.floor(1000 * high)).map(lambda n: n / 1000)
    return halves | others if math.ceil(2 * low) <= math.floor(2 * high) else others


def sequences(
    elements: "SearchStrategy[T]", size: Size = (0, 8), *, ordered: bool = False, distinct: bool = False
) -> "SearchStrategy[list[T]]":
    """Draw lists.

    Args:
        elements: what they hold.
        size: a number of elements, the smallest and the largest one, or a name: within one example, all sizes of the
            same name are equal.
        ordered: whether the elements ascend.
        distinct: whether no element occurs twice.

    Raises:
        ValueError: the smallest size is above the largest.
    """
    from hypothesis import strategies as st

    def lists(low: int, high: int) -> "SearchStrategy[list[T]]":
        return st.lists(elements, min_size=low, max_size=high, unique=distinct)

    drawn = lists(*size) if isinstance(size, tuple) else _named_size(size).flatmap(lambda n: lists(n, n))
    return drawn.map(sorted) if ordered else drawn  # type: ignore[arg-type]  # authors order what can be ordered


def arrays(
    *shape: Size, elements: "SearchStrategy[Any] | None" = None, ordered: bool = False, distinct: bool = False
) -> "SearchStrategy[NDArray[Any]]":
    """Draw numpy arrays of floats, integers, booleans or texts, as the elements are.

    Args:
        shape: sizes as in `sequences`: `arrays("n", "d")` and `arrays("d")` in one example share their `d`.
        elements: what they hold; None for `numbers()`. An array of more than 100 holds 32 different ones at most, at
            random places, unless they are distinct.
        ordered: whether the elements ascend along the last axis.
        distinct: whether no element occurs twice.

    Raises:
        ValueError: a smallest size is above the largest.
    """
    from hypothesis import strategies as st

    def filled(sizes: tuple[int, ...]) -> "SearchStrategy[NDArray[Any]]":
        count = math.prod(sizes)
        one = elements if elements is not None else numbers()
        if count > MANY and not distinct:
            few = st.lists(one, min_size=SAMPLED, max_size=SAMPLED)
            return st.builds(lambda seed, values: _sampled(seed, values, sizes), st.integers(0, 2**32 - 1), few)
        values = st.lists(one, min_size=count, max_size=count, unique=distinct)
        return values.map(lambda flat: np.array(flat if flat else np.zeros(0)).reshape(sizes))

    drawn = st.tuples(*map(_named_size, shape)).flatmap(filled)
    return drawn.map(lambda array: np.sort(array, axis=-1)) if ordered else drawn


def _sampled(seed: int, values: Sequence[Any], sizes: tuple[int, ...]) -> "NDArray[Any]":
    places = np.random.default_rng(seed).integers(len(values), size=sizes)
    found: NDArray[Any] = np.array(values)[places]
    return found


def rows(*shape: Size, elements: "SearchStrategy[Any] | None" = None) -> "SearchStrategy[list[Any]]":
    """Draw what `arrays` draws as lists in lists.

    Raises:
        ValueError: as for `arrays`.
    """
    return arrays(*shape, elements=elements).map(lambda array: array.tolist())


def tensors(
    *shape: Size, elements: "SearchStrategy[Any] | None" = None, ordered: bool = False, distinct: bool = False
) -> "SearchStrategy[Any]":
    """Draw torch tensors as `arrays` draws arrays; of float32, int64 or bool.

    Raises:
        ValueError: as for `arrays`.
    """
    import torch

    def made(array: "NDArray[Any]") -> Any:
        return torch.from_numpy(array.astype(np.float32) if array.dtype.kind == "f" else array)

    return arrays(*shape, elements=elements, ordered=ordered, distinct=distinct).map(made)


def frames(
    columns: "Mapping[str, SearchStrategy[Any]]", size: Size = (0, 6), *, index: "SearchStrategy[Any] | None" = None
) -> "SearchStrategy[Any]":
    """Draw data frames of pandas.

    Args:
        columns: what each column holds, by label; None is a missing value.
        size: the number of rows, as in `sequences`.
        index: the labels of the rows; None for those that number the rows.

    Raises:
        ValueError: the smallest size is above the largest.
    """
    from hypothesis import strategies as st

    def made(drawn: tuple[list[Any], ...]) -> Any:
        import pandas as pd

        *values, labels = drawn
        frame = pd.DataFrame(dict(zip(columns, values, strict=True)), columns=list(columns))
        return frame if index is None else frame.set_index(pd.Index(labels))

    def rows_of(count: int) -> "SearchStrategy[Any]":
        lists = [st.lists(each, min_size=count, max_size=count) for each in (*columns.values(), index or st.none())]
        return st.tuples(*lists).map(made)

    return _named_size(size).flatmap(rows_of)


def series(
    elements: "SearchStrategy[Any]", size: Size = (0, 6), *, index: "SearchStrategy[Any] | None" = None
) -> "SearchStrategy[Any]":
    """Draw series of pandas; see `frames`.

    Raises:
        ValueError: the smallest size is above the largest.
    """
    return frames({"": elements}, size, index=index).map(lambda frame: frame[""].rename(None))


def days(first: str, last: str) -> "SearchStrategy[datetime.datetime]":
    """Draw days from the first to the last one, each written as "2024-02-29"; they are dates at midnight.

    Raises:
        ValueError: a date is written in another form, or the first one is later than the last one.
    """
    from hypothesis import strategies as st

    ends = [datetime.date.fromisoformat(text) for text in (first, last)]
    return st.dates(*ends).map(lambda day: datetime.datetime(day.year, day.month, day.day))


def words(*samples: str) -> "SearchStrategy[str]":
    """Draw words: the samples, also in other cases, and short words of their letters.

    Raises:
        ValueError: there is no sample.
    """
    from hypothesis import strategies as st

    if not samples:
        raise ValueError("words: expected at least one sample.")
    known = list(dict.fromkeys([*samples, *(form for s in samples for form in (s.lower(), s.upper(), s.title()))]))
    letters = sorted({letter for sample in samples for letter in sample}) or ["a"]
    return st.sampled_from(known) | st.text(letters, min_size=1, max_size=6)


def texts(*samples: str, low: int = 0, high: int = 8) -> "SearchStrategy[str]":
    """Draw texts of `low` to `high` words of the samples, with their punctuation, repeated and in other cases.

    Raises:
        ValueError: no sample holds a word, or `low` is above `high`.
    """
    from hypothesis import strategies as st

    known = list(dict.fromkeys(word for sample in samples for word in sample.split()))
    if not known:
        raise ValueError("texts: expected at least one sample with a word in it.")
    low, high = _ordered(low, high)
    word = st.sampled_from([*known, *(form for w in known for form in (w.lower(), w.upper()))])
    pairs = st.lists(st.tuples(word, st.sampled_from([" ", " ", " ", "  ", "\n"])), min_size=low, max_size=high)
    return pairs.map(lambda drawn: "".join(part for pair in drawn for part in pair).rstrip())


def lines(*samples: str, low: int = 1, high: int = 6) -> "SearchStrategy[str]":
    """Draw texts of `low` to `high` lines of the samples, some with another number: for tables and the like.

    A line with one number also occurs with the numbers of other lines, and with numbers that are one more or less.

    Raises:
        ValueError: no sample holds a line, or `low` is above `high`.
    """
    from hypothesis import strategies as st

    known = list(dict.fromkeys(line for sample in samples for line in sample.splitlines()))
    if not known:
        raise ValueError("lines: expected at least one sample with a line in it.")
    low, high = _ordered(low, high)
    whole = sorted({int(number) for line in known for number in _WHOLE.findall(line)})
    others = sorted({n + step for n in whole for step in (-1, 0, 1) if n + step >= 0})
    varied = [_WHOLE.sub(str(n), line) for line in known if len(_WHOLE.findall(line)) == 1 for n in others]
    drawn = st.sampled_from(known) | st.sampled_from(varied or known)
    return st.lists(drawn, min_size=low, max_size=high).map("\n".join)


def distributions(low: int = 1, high: int = 5) -> "SearchStrategy[list[float]]":
    """Draw lists of `low` to `high` probabilities that sum to 1; some are exactly 0.

    Raises:
        ValueError: `low` is above `high`.
    """
    return probability_rows(1, (low, high)).map(lambda rows: rows[0].tolist())


def functions(*choices: Callable[..., object]) -> "SearchStrategy[Code]":
    """Draw one of the functions, to be passed to the student's function: `functions(lambda x: x**2 - 2, np.cos)`.

    Within one example, all `functions` and `matching` with equally many choices draw the one at the same place, so that
    a function goes with its derivative.

    Args:
        choices: lambdas, functions of the test file, or of a library. They run in the sandbox, and hold no answers.

    Raises:
        ValueError: there is none, or one cannot be sent to the sandbox.
    """
    return matching(*map(as_argument, choices))


def built(
    maker: Callable[..., object], *arguments: "SearchStrategy[Any]", **named: "SearchStrategy[Any]"
) -> "SearchStrategy[Code]":
    """Draw an object: `built(collections.Counter, texts("a b"))` or `built(key.Point, integers(), integers())`.

    Each call gets a new one.

    Args:
        maker: what makes the object, in the sandbox: a class or function of a library, whose refusals are not drawn,
            or `key.Class`, for which the submission's own class of that name makes it.
        arguments: how to draw what it gets: plain values, arrays, functions and other such objects.
        named: how to draw what it gets by keyword.

    Raises:
        ValueError: the maker is neither of a library nor of the key.
    """
    from viva.grading.built import can_be_made, maker_of, objects_of
    from viva.proxies.key import OfKey

    drawn = objects_of(maker_of(maker), arguments, named)
    return drawn if isinstance(maker, OfKey) else drawn.filter(can_be_made)


def networks(*choices: "Callable[[], object] | SearchStrategy[Code]", dropout: bool = False) -> "SearchStrategy[Code]":
    """Draw a network of torch with random weights: `networks(lambda: nn.Sequential(nn.Linear(2, 8), nn.ReLU()))`.

    Each call gets a new one. In one example, the student's and the key's have the same weights.

    Args:
        choices: what makes a network, or how to draw it: `built(key.Net, integers(1, 5))`. One is taken, as `functions`
            explains.
        dropout: whether half of them begin with a layer of dropout, so that only `eval()` makes answers certain.

    Raises:
        ValueError: there is none, or one cannot be sent to the sandbox.
    """
    from hypothesis import strategies as st

    from viva.grading.built_torch import network_by

    drawn = [each if isinstance(each, st.SearchStrategy) else st.just(as_argument(each)) for each in choices]
    maker = matching(*drawn).flatmap(lambda chosen: chosen)
    begins = st.booleans() if dropout else st.just(value=False)
    return st.tuples(maker, st.integers(0, 99), begins).map(lambda each: network_by(each[0], each[1], dropout=each[2]))


def optimizers(maker: Callable[..., object], **named: "SearchStrategy[Any]") -> "SearchStrategy[Code]":
    """Draw an optimizer of the first network among the arguments before it: `optimizers(optim.SGD, lr=just(0.1))`.

    Args:
        maker: a class of torch.optim.
        named: how to draw what it gets by keyword.
    """
    from hypothesis import strategies as st

    from viva.grading.built_torch import optimizer_by

    sent = as_argument(maker)
    return st.fixed_dictionaries(named).map(lambda each: optimizer_by(sent, each))


def matching(*choices: T) -> "SearchStrategy[T]":
    """Draw one of the values: within one example the one at the same place, as `functions` explains.

    Raises:
        ValueError: there is none.
    """
    from hypothesis import strategies as st

    if not choices:
        raise ValueError("functions, matching: expected at least one choice.")
    place = st.shared(st.integers(0, len(choices) - 1), key=f"viva choice of {len(choices)}")
    return place.map(choices.__getitem__)


def _normalised(values: "Matrix") -> "Matrix":
    weights = np.abs(values)
    weights[weights.sum(axis=1) == 0, 0] = 1
    normalised: Matrix = weights / weights.sum(axis=1, keepdims=True)
    return normalised


def sizes(name: str) -> "SearchStrategy[int]":
    """Draw the size of this name: `sizes("d")` next to `tensors("n", "d")` is the number of columns."""
    return _named_size(name)


def _named_size(size: Size) -> "SearchStrategy[int]":
    """Return the sizes to draw; those of one name are drawn once for each example."""
    from hypothesis import strategies as st

    if isinstance(size, str):
        return st.shared(st.integers(1, LARGEST_NAMED), key=f"viva size {size}")
    return _size(size)


def _size(size: int | tuple[int, int]) -> "SearchStrategy[int]":
    return lengths(size, size) if isinstance(size, int) else lengths(*size)


def _ordered(low: N, high: N) -> tuple[N, N]:
    if not low <= high:
        raise ValueError(f"the sizes are from {low} to {high}; expected the smaller one first.")
    return low, high
