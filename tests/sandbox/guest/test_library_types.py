"""Objects of other libraries cross as plain values, and data frames arrive in the box as what they were."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import matplotlib.figure
import msgpack
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from pandas.testing import assert_frame_equal, assert_index_equal, assert_series_equal
from PIL import Image

from tests.support.bare_worker import Worker
from tests.support.crossing import send_across
from tests.support.same_values import same
from tests.support.table_rows import Rows
from viva.sandbox.guest.transport import wire
from viva.sandbox.guest.transport.decoding import Decoder
from viva.sandbox.guest.transport.library_types import LIBRARY_TYPES, library_type
from viva.sandbox.guest.transport.value_types import KEEP
from viva.sandbox.guest.values.plain_data import PlainData

TIMES = pd.to_datetime(["2024-02-29 00:00", None, "2024-03-01 10:00"])
DATA_FRAMES: dict[str, pd.DataFrame] = {
    "numbers": pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan], "c": [True, False], "d": np.array([1, 2], np.int8)}),
    "texts": pd.DataFrame({"name": ["ada", None, ""]}),
    "objects": pd.DataFrame({"o": [[1], "x", None]}, dtype=object),
    "nullable": pd.DataFrame({"i": pd.array([1, None], "Int64"), "b": pd.array([True, None], "boolean")}),
    "large integers": pd.DataFrame({"i": pd.array([2**60 + 1, None], "Int64")}),
    "categories": pd.DataFrame({"k": pd.Categorical(["x", "y", "x"])}),
    "dates": pd.DataFrame({"t": TIMES, "d": TIMES - TIMES[0]}),
    "zones": pd.DataFrame({"t": TIMES.tz_localize("Europe/Berlin")}),
    "an index": pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="key")),
    "an index of numbers": pd.DataFrame({"a": [1, 2]}, index=[3, 1]),
    "an index with a name only": pd.DataFrame({"a": [1, 2]}, index=pd.RangeIndex(2, name="n")),
    "an index of dates": pd.DataFrame({"a": [1, 2, 3]}, index=pd.date_range("2024-01-01", periods=3)),
    "two levels": pd.DataFrame({"a": [1, 2]}, index=pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["k", "n"])),
    "columns of two levels": pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])),
    "labels of numbers": pd.DataFrame([[1, 2], [3, 4]]),
    "one label twice": pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "no rows": pd.DataFrame({"a": np.zeros(0)}),
    "no columns": pd.DataFrame(index=pd.RangeIndex(3)),
}
SPARSE = np.array([[0.0, 2.0], [0.0, 0.0]])


def figure() -> matplotlib.figure.Figure:
    made = matplotlib.figure.Figure()
    axes = made.subplots()
    axes.plot([0, 1], [2.0, 3.0], label="loss")
    axes.plot([0, 1], [1.0, 1.0])
    axes.bar([0, 1], [3, 4], label="count")
    axes.scatter([1.0], [2.0])
    axes.imshow([[0, 1], [2, 3]])
    axes.set(title="Losses", xlabel="step", ylabel="loss", yscale="log")
    axes.legend()
    return made


SAMPLES: list[tuple[Callable[[], Any], Any]] = [
    (lambda: pd.Index(["a", "b"]), ["a", "b"]),
    (lambda: pd.Index([1, 2]), np.array([1, 2])),
    (lambda: pd.MultiIndex.from_tuples([("a", 1)]), [("a", 1)]),
    (lambda: pd.NA, None),
    (lambda: pd.NaT, None),
    (lambda: pd.Timestamp("2024-02-29 10:00"), datetime(2024, 2, 29, 10)),
    (lambda: pd.Timestamp("2024-02-29", tz="UTC"), datetime(2024, 2, 29, tzinfo=UTC)),
    (lambda: pd.Timedelta("1D"), timedelta(1)),
    (lambda: scipy.sparse.csr_matrix(SPARSE), SPARSE),
    (lambda: scipy.sparse.coo_array(SPARSE), SPARSE),
    (lambda: Image.fromarray(np.array([[1, 2]], np.uint8)), np.array([[1, 2]], np.uint8)),
    (lambda: Image.new("P", (1, 1)), np.zeros((1, 1, 3), np.uint8)),
]


def crossed(value: object) -> Any:
    """The value as it arrives from a box."""
    return send_across(value, PlainData(lambda kept: pytest.fail(f"{kept!r} was kept")))


def test_library_types_have_samples() -> None:
    made = [pd.DataFrame(), pd.Series([1]), figure(), figure().axes[0], *(make() for make, _ in SAMPLES)]
    assert {library_type(type(value)) for value in made} >= set(LIBRARY_TYPES)


def test_library_values_arrive_as_plain_values() -> None:
    with Rows() as row:
        for make, expected in SAMPLES:
            with row(repr(expected)):
                assert same(crossed(make()), expected)
                assert same(crossed([make()]), [expected])


def test_frames_cross() -> None:
    with Rows() as row:
        for name, frame in DATA_FRAMES.items():
            with row(name):
                arrived = crossed(frame)
                assert (type(arrived), arrived.shape, len(arrived)) == (wire.Frame, frame.shape, len(frame))
                assert_frame_equal(arrived.to_pandas(), frame, check_freq=False, check_column_type=False)
                for place in range(frame.shape[1]):
                    column = frame.iloc[:, place]
                    assert_series_equal(crossed(column).to_pandas(), column, check_freq=False)


def test_index_keeps_names() -> None:
    frame = DATA_FRAMES["two levels"]
    assert_index_equal(crossed(frame).to_pandas().index, frame.index)
    named = frame.reset_index().rename_axis(columns="what")
    assert crossed(named).to_pandas().columns.name == "what"


def test_frames_arrive_in_the_box(worker: Worker) -> None:
    worker.define(
        "import pandas as pd\n"
        "def total(table, by): return type(table).__name__, table.groupby('k', observed=True)[by].sum()\n"
        "def same(table): return table"
    )
    table = pd.DataFrame({"k": pd.Categorical(["x", "y", "x"]), "n": [1, 2, 3]})
    [name, sums] = worker.ask("call", space="module:solution", name="total", args=[table, "n"], kwargs={})
    assert name == "DataFrame"
    assert sums.is_series and list(sums.row_labels) == ["x", "y"] and list(sums["n"]) == [4, 2]
    for each in DATA_FRAMES.values():
        again = worker.ask("call", space="module:solution", name="same", args=[each], kwargs={}).to_pandas()
        assert_frame_equal(again, each, check_freq=False, check_column_type=False)


def test_large_sparse_matrix_stays() -> None:
    row = library_type(scipy.sparse.csr_matrix)
    assert row is not None and row.plain(scipy.sparse.csr_matrix((1 << 20, 1 << 20))) is KEEP


def test_figure_arrives_as_what_it_shows() -> None:
    found = crossed(figure())
    [axes] = found["axes"]
    assert (axes["title"], axes["xlabel"], axes["ylabel"], axes["yscale"]) == ("Losses", "step", "loss", "log")
    assert [line["label"] for line in axes["lines"]] == ["loss", ""]
    assert axes["lines"][0]["y"].tolist() == [2.0, 3.0]
    assert [box[3] for box in axes["bars"][0]["boxes"]] == [3.0, 4.0]
    assert axes["points"][0]["xy"].tolist() == [[1.0, 2.0]]
    assert axes["images"][0].tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert set(axes["legend"]) == {"loss", "count"}


def decoded(message: object) -> Any:
    return Decoder([]).value(msgpack.packb(message))


GOOD = [False, 2, ["a"], [[1, 2]], ["int64"], None, [], []]


@pytest.mark.parametrize(
    ("place", "content"),
    [
        (0, 1), (1, -1), (1, 3), (1, True), (2, []), (2, ["a", "b"]), (2, [[1]]), (2, "a"), (3, [[1]]), (3, [1]),
        (3, ["ab"]), (4, [1]), (4, ["x" * 101]), (4, []), (5, [1]), (5, "ab"), (5, [[1], [2]]), (6, None), (7, [[1]]),
    ],
)  # fmt: skip
def test_invalid_frame(place: int, content: object) -> None:
    assert decoded({"F": GOOD}).columns == ["a"]
    parts = [*GOOD[:place], content, *GOOD[place + 1 :]]
    with pytest.raises(wire.WireError):
        decoded({"F": parts})


def test_frame_with_claimed_rows() -> None:
    with pytest.raises(wire.WireError):
        decoded({"F": [False, 1 << 60, [], [], [], None, [], []]})
    assert len(decoded({"F": [False, 3, [], [], [], None, [], []]})) == 3


def test_nested_frames() -> None:
    deep: object = [1]
    for _ in range(60):
        deep = {"F": [True, 1, ["a"], [[deep]], ["object"], None, [], []]}
    with pytest.raises(wire.WireError):
        decoded(deep)
