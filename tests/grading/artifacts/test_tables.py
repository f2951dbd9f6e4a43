"""Predictions as text: what csv, json and pandas write, by whichever road, is read as what was meant."""

import csv
import io
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.grading.artifacts.submitted_files import read_predictions
from viva.grading.artifacts.table_cells import Classes, read_cell
from viva.grading.artifacts.unusable import Unusable

NAMES = ("negative", "positive")
RIGHT = [1, 0, 0, 1, 1]
SCORES: list[list[float]] = [[0.25, 0.75], [2, -1], [0.5, 0.25], [-3, 4.5], [0, 1e-3]]


def read(text: str | bytes, classes: Any = NAMES, n: int = 5, ids: Any = None) -> Any:
    data = text.encode() if isinstance(text, str) else text
    return read_predictions(data, n, Classes.of(classes), ids).tolist()


CSV_OF_CLASSES = [
    "1\n0\n0\n1\n1\n",
    "1\r\n0\r\n0\r\n1\r\n1",
    "1\r0\r0\r1\r1\r",
    "\ufeff1\n0\n0\n1\n1\n\n\n",
    "prediction\n1\n0\n0\n1\n1\n",
    "0\n1\n0\n0\n1\n1\n",  # pandas, columns without names
    ",0\n0,1\n1,0\n2,0\n3,1\n4,1\n",  # and with its index
    "id,prediction\n0,1\n1,0\n2,0\n3,1\n4,1\n",
    "id,prediction\n4,1\n2,0\n0,1\n3,1\n1,0\n",
    "id,prediction\n5,1\n3,0\n1,1\n4,1\n2,0\n",
    "4,1\n2,0\n0,1\n3,1\n1,0\n",
    "prediction,id\n1,4\n0,2\n1,0\n1,3\n0,1\n",
    "id,label,prediction\n0,0,1\n1,0,0\n2,0,0\n3,0,1\n4,0,1\n",  # the label is what was right
    "id;prediction\n0;1,0\n1;0,0\n2;0,0\n3;1,0\n4;1,0\n",
    "id\tprediction\n0\t1\n1\t0\n2\t0\n3\t1\n4\t1\n",
    "# id prediction\n0 1\n1 0\n2 0\n3 1\n4 1\n",
    "1.0\n0.0\n0.0\n1.0\n1.0\n",
    "1.000000000000000000e+00\n0.000000000000000000e+00\n0e0\n1e0\n1e0\n",
    "positive\nnegative\nNegative\n POSITIVE\npositive\n",
    "sentiment\npositive\nnegative\nnegative\npositive\npositive\n",
    "True\nFalse\nFalse\nTrue\nTrue\n",
    "tensor(1)\ntensor(0)\ntensor(0)\ntensor(1)\ntensor(1)\n",
    "\"tensor(1, device='cuda:0')\"\ntensor([0])\n[0]\nnp.int64(1)\n[1]\n",
    'text,prediction\n"a, b\nc",1\n"x ""y""",0\nz,0\nz,1\nz,1\n',
    "row,probability_of_both,pred\na,.5,1\nb,.5,0\nc,.5,0\nd,.5,1\ne,.5,1\n",
    "index,prediction\n0,1\n1,0\n2,0\n0,1\n1,1\n",  # two frames joined: the index counts each by itself
    "id,prediction\nff3,1\n0a1,0\n77c,0\n12d,1\nab0,1\n",
]


def test_csv_of_classes() -> None:
    with Rows() as row:
        for text in CSV_OF_CLASSES:
            with row(text):
                assert read(text) == RIGHT


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(",".join(map(str, row)) for row in SCORES),
        "\n".join(" ".join(f"{x:.18e}" for x in row) for row in SCORES),  # np.savetxt
        "negative,positive\n" + "\n".join(",".join(map(str, row)) for row in SCORES),
        "positive,negative\n" + "\n".join(f"{b},{a}" for a, b in SCORES),
        "id,prob_0,prob_1\n" + "\n".join(f"{i},{a},{b}" for i, (a, b) in enumerate(SCORES)),
        "id,prob_1,prob_0\n" + "\n".join(f"{i},{b},{a}" for i, (a, b) in reversed(list(enumerate(SCORES)))),
        ",0,1\n" + "\n".join(f"{i},{a},{b}" for i, (a, b) in enumerate(SCORES)),
        "\n".join(f"{i},{a},{b}" for i, (a, b) in enumerate(SCORES)),
        "left,right\n" + "\n".join(f"{a},{b}" for a, b in SCORES),
        "id,logits\n" + "\n".join(f'{i},"[{a}, {b}]"' for i, (a, b) in enumerate(SCORES)),
        "logits\n" + "\n".join(f"[{a}  {b}]" for a, b in SCORES),
        "0;1\n" + "\n".join(f"{a};{b}".replace(".", ",") for a, b in SCORES),
    ],
)
def test_csv_of_scores(text: str) -> None:
    assert read(text) == SCORES


JSON_OF_CLASSES: list[Any] = [
    RIGHT,
    [[1], [0], [0], [1], [1]],
    [True, False, False, True, True],
    ["positive", "negative", "negative", "positive", "positive"],
    {"predictions": RIGHT},
    {"labels": [0] * 5, "predictions": RIGHT, "accuracy": 1.0},
    {"0": 1, "1": 0, "2": 0, "3": 1, "4": 1},
    {"4": 1, "1": 0, "2": 0, "3": 1, "0": 1},
    [{"id": i, "prediction": p} for i, p in enumerate(RIGHT)],
    [{"prediction": p, "id": i} for i, p in reversed(list(enumerate(RIGHT)))],
    {"prediction": {str(i): p for i, p in enumerate(RIGHT)}},  # DataFrame.to_json
    {"text": {str(i): "x" for i in range(5)}, "label": {str(i): p for i, p in enumerate(RIGHT)}},
]


def test_json_of_classes() -> None:
    with Rows() as row:
        for indent in [None, 2]:
            for value in JSON_OF_CLASSES:
                with row(indent, value):
                    assert read(json.dumps(value, indent=indent)) == RIGHT


@pytest.mark.parametrize(
    "value",
    [
        SCORES,
        {"logits": SCORES, "label_ids": RIGHT},
        [{"id": i, "negative": a, "positive": b} for i, (a, b) in enumerate(SCORES)],
        {str(i): row for i, row in enumerate(SCORES)},
    ],
)
def test_json_of_scores(value: Any) -> None:
    assert read(json.dumps(value)) == SCORES


def test_ids_of_the_author() -> None:
    ids = ["q9", "q7", "q1", "q12", "q3"]
    rows = "\n".join(f"{i},{p}" for i, p in sorted(zip(ids, RIGHT, strict=True)))
    assert read(f"qid,answer\n{rows}", ids=ids) == RIGHT
    assert read(rows, ids=ids) == RIGHT
    assert read(json.dumps(dict(sorted(zip(ids, RIGHT, strict=True)))), ids=ids) == RIGHT
    assert read("\n".join(map(str, RIGHT)), ids=ids) == RIGHT
    with pytest.raises(Unusable, match="no row with the id 'q1', and 1 of 5 ids are missing"):
        read(f"qid,answer\n{rows}".replace("q1,", "q2,"), ids=ids)


def test_class_names_win_over_numbers() -> None:
    """With stars from 1 to 5, a 1 is one star, and True is not a number where it is the name of class 0."""
    stars = [str(star) for star in range(1, 6)]
    assert read("1\n5\n3\n2\n1.0", stars) == [0, 4, 2, 1, 0]
    assert read("[1, 5, 3, 2, 1]", stars) == [0, 4, 2, 1, 0]
    assert read("[true, false, false, true, true]", ("True", "False")) == [0, 1, 1, 0, 0]
    assert read("True\nFalse\nFalse\nTrue\nTrue", ("True", "False")) == [0, 1, 1, 0, 0]


UNUSABLE = [
    ("", "is empty"),
    (" \n\t\n", "is empty"),
    ("1\n0\n0\n1\n", "holds 4 predictions; expected 5, one for each row"),
    ("prediction\n1\n0\n0\n1\n", "holds 4 predictions below its header; expected 5"),
    ("1\n0\n" * 4, "holds 8 predictions; expected 5"),
    ("[1, 0, 0, 1]", "holds 4 predictions; expected 5"),
    ('{"predictions": [1, 0]}', "holds 2 predictions; expected 5"),
    ("1\n0\n2\n1\n1\n", r"in row 3 says '2'; expected a class from 0 to 1 or its name \('negative', 'positive'\)"),
    ("1\n0\nneutral\n1\n1\n", "in row 3 says 'neutral'; expected a class"),
    ("1\n0\n0.7\n1\n1\n", "in row 3 says 0.7; expected a class from 0 to 1 .*, or a score for each class"),
    ("1\n0\nnan\n1\n1\n", "in row 3 says nan"),
    ("1\n0\n\n1\n1\n", "holds 4 predictions"),
    ("id,prediction\n0,1\n1,0\n2,\n3,1\n4,1\n", "in row 3 says ''"),
    ("id,prediction\n0,1\n1,0\n1,0\n3,1\n4,1\n", "no row with the id 2"),
    ("0.5,0.5\n" * 4 + "nan,1", "in row 5 says 'nan'; expected a score"),
    ("1,0,0\n" * 5, "has 3 columns without names; expected one of predictions, or 2 of scores"),
    ("1,0\n" * 4 + "0,0", "no names that tell them apart"),
    ("a,b\n" + "1,0\n" * 5, "has the columns 'a', 'b': call the one with your answers `prediction`"),
    ("id,prediction\n0,1\n1,0,7\n2,0\n3,1\n4,1\n", "has 3 columns in row 2; expected 2"),
    ("[1, 0, 0, 1", "is not valid JSON .* at line 1, column 12"),
    ('{"a": 1, "a": 0}', "holds 'a' twice"),
    ("[" + "1" * 5000 + ", 1, 1, 1, 1]", "a number of thousands of digits"),
    ("[1" + "0" * 400 + ", 1, 1, 1, 1]", "in row 1 says a whole number of about 401 digits"),
    ("1e400\n1\n1\n1\n1", "in row 1 says inf"),
    ("[[1, 2], [1], [1, 2], [1, 2], [1, 2]]", "lists of scores of different lengths"),
    ("[" + ", ".join(["[[1, 2], [3, 4]]"] * 5) + "]", r"in row 1 says \[1, 2\]; expected a score"),
    ("[" * 100_000, "nested too deeply|far more than"),
    ('{"x": null}', "holds 1 predictions"),
]


def test_unusable_tables() -> None:
    with Rows() as row:
        for n, (text, says) in enumerate(UNUSABLE):
            with row(n, says), pytest.raises(Unusable, match=says):
                read(text)


@pytest.mark.parametrize(
    "cell",
    [
        "tensor(" + " " * 30_000 + "(",
        "np.int64(" + "1 " * 15_000 + "(",
        "1" * 600 + "x",
        "[" + "1" * 30_000,
        "np.f(" * 6000,
    ],
)
def test_hostile_cells_are_fast(cell: str) -> None:
    """Spaces between three repetitions were tried in as many ways as their third power."""
    start = time.process_time()
    for _ in range(100):
        assert read_cell(cell) == cell
    assert time.process_time() - start < 5


def test_words_like_pickle_opcodes() -> None:
    """Every line that begins with c and the next one are one opcode to pickletools."""
    words = ["cat", "cow", "crow"]
    assert read("class\n" + "cat\ncow\ncat\ncow\ncrow\n" * 4, words, n=20) == [0, 1, 0, 1, 2] * 4


def test_ambiguous_rows() -> None:
    with pytest.raises(Unusable, match="add a header line"):
        read("1,0\n0,1\n", 2, n=2)
    assert read("id,prediction\n1,0\n0,1\n", 2, n=2) == [1, 0]


# --- round trips with independent writers

WRITERS: dict[str, Callable[[list[int], list[str]], bytes]] = {
    "csv with ids": lambda rows, words: _csv([["id", "prediction"], *([i, words[r]] for i, r in enumerate(rows))]),
    "csv in disorder": lambda rows, words: _csv([["id", "label"], *reversed([[i, r] for i, r in enumerate(rows)])]),
    "csv, all quoted": lambda rows, words: _csv([["text", "y_pred"], *(['a,\n"b', words[r]] for r in rows)], 1),
    "excel, UTF-16": lambda rows, words: _csv([["class"], *([words[r]] for r in rows)]).decode().encode("utf-16"),
    "json": lambda rows, words: json.dumps([words[r] for r in rows]).encode(),
    "json by id": lambda rows, words: json.dumps(dict(enumerate(rows))).encode(),
    "savetxt": lambda rows, words: _savetxt(np.array(rows)),
}


def _csv(rows: Any, quoting: Any = csv.QUOTE_MINIMAL) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, quoting=quoting).writerows(rows)
    return file.getvalue().encode()


def _savetxt(array: Any) -> bytes:
    file = io.BytesIO()
    np.savetxt(file, array)
    return file.getvalue()


WORDS = st.lists(st.text("abcdé -_'?", min_size=1, max_size=8).filter(str.strip), min_size=2, max_size=6,
                 unique_by=lambda word: word.strip().casefold())  # fmt: skip


@pytest.mark.parametrize("writer", WRITERS)
@given(words=WORDS, data=st.data())
def test_class_round_trip(writer: str, words: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(words) - 1), min_size=3, max_size=40))
    assert read(WRITERS[writer](rows, words), words, n=len(rows)) == rows


@given(
    st.lists(st.tuples(*[st.floats(allow_nan=False, width=32)] * 3), min_size=2, max_size=20),
    st.sampled_from(["json", "csv", "savetxt"]),
)
def test_score_round_trip(rows: list[tuple[float, ...]], how: str) -> None:
    listed = [list(row) for row in rows]
    data = {
        "json": lambda: json.dumps(listed).encode(),
        "csv": lambda: _csv(listed),
        "savetxt": lambda: _savetxt(listed),
    }
    assert read(data[how](), 3, n=len(rows)) == listed
