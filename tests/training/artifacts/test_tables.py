"""Predictions as CSV: the declared form, what is accepted besides, and a sentence for everything else."""

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.plugins.training.artifacts.array_files import UnusableFile
from viva.plugins.training.artifacts.prediction_files import classes_of, read_predictions

NAMES = ("negative", "positive")
RIGHT = [1, 0, 0, 1, 1]
SCORES: list[list[float]] = [[0.25, 0.75], [2, -1], [0.5, 0.25], [-3, 4.5], [0, 1e-3]]


def read(text: str | bytes, classes: Any = NAMES, n: int = 5, ids: Any = None) -> Any:
    data = text.encode() if isinstance(text, str) else text
    return read_predictions(data, n, classes_of(classes), ids).tolist()


CSV_OF_CLASSES = [
    "prediction\n1\n0\n0\n1\n1\n",
    "prediction\r\n1\r\n0\r\n0\r\n1\r\n1",
    "\ufeffPrediction\n1.0\n0.0\n0\n1\n1\n\n\n",
    "id,prediction\n0,1\n1,0\n2,0\n3,1\n4,1\n",
    "id,prediction\n4,1\n2,0\n0,1\n3,1\n1,0\n",
    "prediction, id\n1, 5\n0, 3\n1, 1\n1, 4\n0, 2\n",
    "id,label,prediction\n0,0,1\n1,0,0\n2,0,0\n3,0,1\n4,0,1\n",  # the label is what was right
    "prediction\npositive\nnegative\nNegative\n POSITIVE\npositive\n",
    'text,prediction\n"a, b\nc",1\n"x ""y""",0\nz,0\nz,1\nz,1\n',
    "1\n0\n0\n1\n1\n",
    "positive\nnegative\nnegative\npositive\npositive",
]


def test_csv_of_classes() -> None:
    with Rows() as row:
        for text in CSV_OF_CLASSES:
            with row(text):
                assert read(text) == RIGHT
    assert read(CSV_OF_CLASSES[0].encode("utf-16")) == RIGHT


@pytest.mark.parametrize(
    "text",
    [
        "negative,positive\n" + "\n".join(",".join(map(str, row)) for row in SCORES),
        "positive,Negative\n" + "\n".join(f"{b},{a}" for a, b in SCORES),
        "id,positive,negative\n" + "\n".join(f"{i},{b},{a}" for i, (a, b) in reversed(list(enumerate(SCORES)))),
    ],
)
def test_csv_of_scores(text: str) -> None:
    assert read(text) == SCORES
    assert read(text.lower().replace("negative", "0").replace("positive", "1"), 2) == SCORES


def test_ids_of_the_author() -> None:
    ids = ["q9", "q7", "q1", "q12", "q3"]
    rows = "\n".join(f"{i},{p}" for i, p in sorted(zip(ids, RIGHT, strict=True)))
    assert read(f"id,prediction\n{rows}", ids=ids) == RIGHT
    with pytest.raises(UnusableFile, match="no row with the id 'q1', and 1 of 5 ids are missing"):
        read(f"id,prediction\n{rows}".replace("q1,", "q2,"), ids=ids)


def test_class_names_win_over_numbers() -> None:
    """With stars from 1 to 5, a 1 is one star."""
    assert read("1\n5\n3\n2\n1.0", [str(star) for star in range(1, 6)]) == [0, 4, 2, 1, 0]
    assert read("True\nFalse\nFalse\nTrue\nTrue", ("True", "False")) == [0, 1, 1, 0, 0]


UNUSABLE = [
    ("", "is empty"),
    (" \n\t\n", "is empty"),
    ("prediction\n1\n0\n0\n1\n", "in row 1 says 'prediction'; expected a class"),
    ("id,prediction\n0,1\n1,0\n", "holds 2 rows below its first line; expected 5"),
    ("1\n0\n" * 4, "holds more than 5 predictions"),
    ("1\n0\n2\n1\n1\n", r"in row 3 says '2'; expected a class from 0 to 1 or its name \('negative', 'positive'\)"),
    ("1\n0\nneutral\n1\n1\n", "in row 3 says 'neutral'; expected a class"),
    ("1\n0\n0.7\n1\n1\n", "in row 3 says '0.7'; expected a class"),
    ("1\n0\nnan\n1\n1\n", "in row 3 says 'nan'"),
    ("1\n0\n1e400\n1\n1\n", "in row 3 says '1e400'"),
    ("id,prediction\n0,1\n1,0\n2,\n3,1\n4,1\n", "in row 3 says ''"),
    ("id,prediction\n0,1\n1,0\n1,0\n3,1\n4,1\n", "no row with the id '2'"),
    ("negative,positive\n" + "0.5,0.5\n" * 4 + "nan,1", "in row 5 holds NaN as the score of class 0"),
    ("negative,positive\n" + "0.5,high\n" * 5, "says 'high'; expected a score"),
    ("1,0\n" * 5, "holds 4 rows below its first line; expected 5, in a CSV file whose first line names the columns"),
    ("a,b\n" + "1,0\n" * 5, "has the columns 'a', 'b'; expected a CSV file whose first line names the columns"),
    ("id;prediction\n" + "0;1\n" * 5, "has the columns 'id;prediction'; expected a CSV file"),
    ("id,prediction\n0,1\n1,0,7\n2,0\n3,1\n4,1\n", "has 3 columns in row 2; expected 2"),
    ('{"predictions": [1, 0, 0, 1, 1]}', "holds 0 rows below its first line; expected 5"),
]


def test_unusable_tables() -> None:
    with Rows() as row:
        for n, (text, says) in enumerate(UNUSABLE):
            with row(n, says), pytest.raises(UnusableFile, match=says):
                read(text)


WORDS = st.lists(st.text("abcdé -_'?", min_size=1, max_size=8).filter(str.strip), min_size=2, max_size=6,
                 unique_by=lambda word: word.strip().casefold())  # fmt: skip


def written(rows: Any, quoting: Any = csv.QUOTE_MINIMAL) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, quoting=quoting).writerows(rows)
    return file.getvalue().encode()


@given(words=WORDS, quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), data=st.data())
def test_class_round_trip(words: list[str], quoting: Any, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(words) - 1), min_size=1, max_size=40))
    named = written([["text", "prediction"], *(['a,\n"b', words[r]] for r in rows)], quoting)
    assert read(named, words, n=len(rows)) == rows
    by_id = written([["id", "prediction"], *reversed([[i, r] for i, r in enumerate(rows)])], quoting)
    assert read(by_id, len(words), n=len(rows)) == rows


@given(st.lists(st.tuples(*[st.floats(allow_nan=False, width=32)] * 3), min_size=1, max_size=20))
def test_score_round_trip(rows: list[tuple[float, ...]]) -> None:
    assert read(written([["0", "1", "2"], *rows]), 3, n=len(rows)) == [list(row) for row in rows]
