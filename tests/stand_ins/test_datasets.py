"""The stand-ins for `datasets` and `evaluate` behave as the packages do."""

import importlib
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch

from tests.support.table_rows import Rows

pytestmark = pytest.mark.long  # the packages take seconds to import

Inside = Callable[[str], Any]
COLUMNS = {
    "question": [f"is it {n % 3}" for n in range(11)],
    "answer": [n % 4 == 0 for n in range(11)],
    "length": [(7 * n) % 11 for n in range(11)],
}
SPLITS = {"train": COLUMNS, "validation": {name: values[:4] for name, values in COLUMNS.items()}}

# What a program may do with one split, and what it sees then.
WITH_ROWS: dict[str, Callable[[Any], Any]] = {
    "len": len,
    "shape": lambda rows: (rows.num_rows, rows.num_columns, rows.shape, rows.column_names, list(rows.features)),
    "one row": lambda rows: (rows[3], rows[-1]),
    "a slice": lambda rows: (rows[2:5], rows[:2], rows[-3:], rows[::4]),
    "some rows": lambda rows: rows[[4, 0]],
    "a column": lambda rows: list(rows["length"]),
    "a value": lambda rows: rows["question"][2],
    "all rows": list,
    "select": lambda rows: rows.select([5, 1]).to_list(),
    "select a range": lambda rows: rows.select(range(2, 5)).to_dict(),
    "take and skip": lambda rows: (rows.take(2).to_list(), rows.skip(8).to_list()),
    "sort": lambda rows: in_order(rows),
    "batches": lambda rows: list(rows.iter(4)),
    "flatten indices": lambda rows: rows.select([5, 1]).flatten_indices().to_list(),
    "unique": lambda rows: rows.unique("question"),
    "rename": lambda rows: rows.rename_column("answer", "labels").to_list(),
    "rename several": lambda rows: rows.rename_columns({"answer": "labels", "question": "text"}).to_list(),
    "remove": lambda rows: (rows.remove_columns("answer").to_list(), rows.remove_columns(["answer", "length"])[0]),
    "select columns": lambda rows: rows.select_columns(["answer"]).to_list(),
    "add a column": lambda rows: rows.add_column("n", list(range(11))).to_list(),
    "map": lambda rows: rows.map(lambda row: {"words": len(row["question"].split())}).to_list(),
    "map over a column": lambda rows: rows.map(lambda row: {"length": row["length"] + 1}).to_list(),
    "map and remove": lambda rows: rows.map(lambda row: {"labels": int(row["answer"])}, remove_columns=["answer"])[4],
    "map batches": lambda rows: rows.map(
        lambda batch: {"ids": [[n, 1] for n in batch["length"]]}, batched=True, batch_size=4
    ).to_list(),
    "map to more rows": lambda rows: rows.map(
        lambda batch: {"n": [n for n in batch["length"] for _ in "12"]},
        batched=True,
        remove_columns=["question", "answer", "length"],
    ).to_list(),
    "map with indices": lambda rows: rows.map(lambda row, n: {"n": n}, with_indices=True).to_list(),
    "map with columns": lambda rows: rows.map(lambda text: {"text": text.upper()}, input_columns="question")[1],
    "map with arguments": lambda rows: rows.map(lambda row, by: {"n": row["length"] * by}, fn_kwargs={"by": 3})[2],
    "filter": lambda rows: rows.filter(lambda row: row["answer"]).to_list(),
    "filter with indices": lambda rows: rows.filter(lambda _, n: n > 6, with_indices=True).to_list(),
    "filter with columns": lambda rows: rows.filter(lambda n: n > 6, input_columns=["length"]).to_list(),
    "two parts in order": lambda rows: parts(rows.train_test_split(test_size=0.3, shuffle=False)),
    "tensors": lambda rows: tensors(rows.with_format("torch", columns=["answer", "length"])[3]),
    "tensors of a slice": lambda rows: tensors(rows.with_format("torch")[1:3]),
    "tensors of lists": lambda rows: tensors(
        rows.map(lambda row: {"ids": [row["length"], 0]}).with_format("torch", columns=["ids"])[:4]
    ),
}
WITH_SPLITS: dict[str, Callable[[Any], Any]] = {
    "names": lambda splits: (list(splits), splits.num_rows, splits.column_names, splits.shape),
    "one": lambda splits: splits["validation"].to_list(),
    "map": lambda splits: splits.map(lambda row: {"n": row["length"] + 1})["train"].to_list(),
    "filter": lambda splits: splits.filter(lambda row: row["answer"])["train"].to_list(),
    "rename": lambda splits: splits.rename_column("answer", "labels")["train"].to_list(),
    "remove": lambda splits: splits.remove_columns(["answer"])["validation"].to_list(),
    "tensors": lambda splits: tensors(splits.with_format("torch", columns=["length"])["validation"][2]),
}


def in_order(rows: Any) -> Any:
    """The rows by a column, up and down."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the package calls pyarrow in an old way
        return rows.sort("length").to_list(), rows.sort("length", reverse=True)[0]


def parts(splits: Mapping[str, Any]) -> dict[str, Any]:
    """The rows of each part."""
    return {name: split.to_list() for name, split in splits.items()}


def tensors(row: Mapping[str, Any]) -> dict[str, Any]:
    """Type, dtype and numbers of each column."""
    return {
        name: (str(value.dtype), value.tolist()) if isinstance(value, torch.Tensor) else value
        for name, value in row.items()
    }


def test_rows_and_columns_behave_as_in_datasets(inside: Inside) -> None:
    stand_ins = inside("splits")
    datasets = importlib.import_module("datasets")
    datasets.disable_progress_bars()
    with Rows() as row:
        for name, seen in WITH_ROWS.items():
            with row(name):
                assert seen(stand_ins.Split(COLUMNS)) == seen(datasets.Dataset.from_dict(COLUMNS))
        for name, seen in WITH_SPLITS.items():
            with row(f"splits: {name}"):
                ours = stand_ins.Splits({part: stand_ins.Split(columns) for part, columns in SPLITS.items()})
                theirs = {part: datasets.Dataset.from_dict(columns) for part, columns in SPLITS.items()}
                assert seen(ours) == seen(datasets.DatasetDict(theirs))


def test_programs_ask_the_libraries_to_be_quiet_in_many_ways(inside: Inside) -> None:
    """`datasets.logging` was missing, and with it everything that a file defines below."""
    real = {name: importlib.import_module(name) for name in ("datasets", "evaluate")}
    missing = []
    for name, package in real.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, name, types.ModuleType(name))
            for below in ("utils", "utils.logging", "logging"):
                patch.setitem(sys.modules, f"{name}.{below}", types.ModuleType(below))
            inside("settings").put_settings(name)
            ours = sys.modules[name]
            asked = [n for n in dir(package) if n.endswith(("progress_bar", "progress_bars", "able_caching"))]
            missing += [f"{name}.{n}" for n in asked if n[:2] in ("di", "en") and not callable(getattr(ours, n, None))]
            verbs = [
                n for n in dir(package.logging) if n.startswith(("set_verbosity", "get_", "DEBUG", "ERROR", "INFO"))
            ]
            missing += [f"{name}.logging.{n}" for n in verbs if not hasattr(ours.logging, n)]
    assert missing == []


def test_splits_are_named_as_in_datasets(inside: Inside) -> None:
    data = inside("data")
    whole = data.load_dataset("google/boolq")
    train, rows = whole["train"].to_list(), len(whole["train"])
    for split, kept in {
        "train": train,
        "train[:50%]": train[: rows // 2],
        "train[50%:]": train[rows // 2 :],
        "train[:3]": train[:3],
        "train[-2:]": train[-2:],
        "train+validation": train + whole["validation"].to_list(),
    }.items():
        assert data.load_dataset("google/boolq", split=split).to_list() == kept, split
    assert len(data.load_dataset("google/boolq", split="train[:8000]")) == round(8000 * rows / 9427 - 0.5)
    drawn = whole["train"].train_test_split(test_size=1427)
    assert 1 < len(drawn["test"]) < rows // 4


def test_curves_of_any_number_of_panels_are_not_drawn(inside: Inside) -> None:
    pyplot = importlib.import_module("matplotlib.pyplot")
    with inside("pictures").no_pictures():
        _, (one, two, three) = pyplot.subplots(1, 3, figsize=(9, 3))
        _, grid = pyplot.subplots(2, 3)
        (_, _, _), (_, _, last) = grid
        assert len([*grid.flat]) == len([*grid.ravel()]) == 6
        for axis in (one, two, three, last, grid[0, 1], pyplot.subplots()[1]):
            axis.plot([1, 2]).set_label("loss")


def test_what_is_drawn_is_as_large_and_repeats_by_its_seed(inside: Inside) -> None:
    datasets = importlib.import_module("datasets")
    for made in (inside("splits").Split(COLUMNS), datasets.Dataset.from_dict(COLUMNS)):
        first, again = (list(made.shuffle(seed=3)["length"]) for _ in "12")
        assert first == again != COLUMNS["length"] and sorted(first) == sorted(COLUMNS["length"])
        for given, sizes in [({}, (8, 3)), ({"test_size": 0.1}, (9, 2)), ({"test_size": 4}, (7, 4))]:
            split = made.train_test_split(**given, seed=1)
            assert (split["train"].num_rows, split["test"].num_rows) == sizes
            both = [*split["train"]["length"], *split["test"]["length"]]
            assert sorted(both) == sorted(COLUMNS["length"]) and both != COLUMNS["length"]


def test_accuracy_counts_as_a_metric_of_evaluate_does(inside: Inside) -> None:
    evaluate, datasets = importlib.import_module("evaluate"), importlib.import_module("datasets")

    class Real(evaluate.Metric):  # type: ignore[misc]  # the package has no types
        def _info(self) -> Any:
            features = datasets.Features({name: datasets.Value("int32") for name in ("predictions", "references")})
            return evaluate.MetricInfo(description="", citation="", features=features)

        def _compute(self, predictions: Any, references: Any) -> dict[str, float]:
            return {"accuracy": float(np.mean(np.asarray(predictions) == np.asarray(references)))}

    def seen(metric: Any) -> list[Any]:
        found = [metric.compute(predictions=[1, 0, 1], references=[1, 1, 1])]
        metric.add_batch(predictions=torch.tensor([0, 1]), references=torch.tensor([0, 0]))
        metric.add_batch(predictions=np.array([1]), references=np.array([1]))
        metric.add(prediction=0, reference=1)
        metric.add(predictions=1, references=1)
        found.append(metric.compute())
        metric.add_batch(predictions=[0], references=[0])
        return [*found, metric.compute()]

    accuracy = inside("data").Accuracy
    assert seen(accuracy()) == seen(Real())
    for metric in (accuracy(), Real()):
        with pytest.raises(ValueError):
            metric.add_batch(predictions=[1, 0], references=[1])
