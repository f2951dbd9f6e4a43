"""The stubs of libraries that own assignments put into a box behave as the libraries do."""

import importlib
import io
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graders.transfer_learning.inside.asking import Pieces
from graders.transfer_learning.inside.loaders import Loader
from tests.support.own_assignments import ROOT
from tests.support.table_rows import Rows

pytestmark = pytest.mark.long  # the packages take seconds to import, and a model is trained

INSIDE = ROOT / "graders" / "adapting_transformers" / "inside"


@pytest.fixture(scope="module")
def inside() -> Iterator[Callable[[str], Any]]:
    """Import a module of the folder; its package, which puts the stand-ins into their places, does not run."""
    package = types.ModuleType("inside_adapting_transformers")
    package.__path__ = [str(INSIDE)]
    sys.modules[package.__name__] = package
    yield lambda name: importlib.import_module(f"{package.__name__}.{name}")
    for name in [name for name in sys.modules if name.partition(".")[0] == package.__name__]:
        del sys.modules[name]


COLUMNS: dict[str, list[Any]] = {
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


def test_datasets_rows_and_columns(inside: Callable[[str], Any]) -> None:
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


def test_datasets_settings(inside: Callable[[str], Any]) -> None:
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


def test_datasets_split_names(inside: Callable[[str], Any]) -> None:
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


def test_pictures_are_not_drawn(inside: Callable[[str], Any]) -> None:
    pyplot = importlib.import_module("matplotlib.pyplot")
    with inside("pictures").no_pictures():
        _, (one, two, three) = pyplot.subplots(1, 3, figsize=(9, 3))
        _, grid = pyplot.subplots(2, 3)
        (_, _, _), (_, _, last) = grid
        assert len([*grid.flat]) == len([*grid.ravel()]) == 6
        for axis in (one, two, three, last, grid[0, 1], pyplot.subplots()[1]):
            axis.plot([1, 2]).set_label("loss")


def test_datasets_random_splits(inside: Callable[[str], Any]) -> None:
    datasets = importlib.import_module("datasets")
    for made in (inside("splits").Split(COLUMNS), datasets.Dataset.from_dict(COLUMNS)):
        first, again = (list(made.shuffle(seed=3)["length"]) for _ in "12")
        assert first == again != COLUMNS["length"] and sorted(first) == sorted(COLUMNS["length"])
        options: list[tuple[dict[str, float], tuple[int, int]]] = [
            ({}, (8, 3)), ({"test_size": 0.1}, (9, 2)), ({"test_size": 4}, (7, 4)),
        ]  # fmt: skip
        for option, sizes in options:
            split = made.train_test_split(**option, seed=1)
            assert (split["train"].num_rows, split["test"].num_rows) == sizes
            both = [*split["train"]["length"], *split["test"]["length"]]
            assert sorted(both) == sorted(COLUMNS["length"]) and both != COLUMNS["length"]


def test_evaluate_accuracy(inside: Callable[[str], Any]) -> None:
    evaluate: Any = importlib.import_module("evaluate")
    datasets: Any = importlib.import_module("datasets")

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


QUESTION, PASSAGE = "is the cat", "A dog, a zebra; in the house"
CALLS: dict[str, Callable[[Any], Any]] = {
    "one text": lambda tokenizer: tokenizer(PASSAGE),
    "a pair": lambda tokenizer: tokenizer(QUESTION, PASSAGE),
    "written separator": lambda tokenizer: tokenizer(f"{QUESTION} [SEP] {PASSAGE}"),
    "cut and padded": lambda tokenizer: [
        tokenizer(QUESTION, PASSAGE, truncation=how, max_length=length, padding="max_length")
        for how in ("only_second", True)
        for length in (8, 20)
    ],
    "a batch": lambda tokenizer: tokenizer([QUESTION, "it"], [PASSAGE, "dog"], padding=True),
    "a batch of pairs": lambda tokenizer: tokenizer([(QUESTION, PASSAGE), ("it", "dog")], padding="longest"),
    "empty texts": lambda tokenizer: (tokenizer(""), tokenizer("", PASSAGE)),
    "encode": lambda tokenizer: tokenizer.encode(QUESTION, add_special_tokens=False),
    "tokens": lambda tokenizer: tokenizer.tokenize(PASSAGE),
    "ids of tokens": lambda tokenizer: tokenizer.convert_tokens_to_ids(["cat", "[SEP]", "zebra"]),
    "decode": lambda tokenizer: tokenizer.decode(tokenizer(QUESTION, PASSAGE)["input_ids"]),
    "without special tokens": lambda tokenizer: tokenizer.decode(
        tokenizer(QUESTION)["input_ids"], skip_special_tokens=True
    ),
    "special ids": lambda tokenizer: [
        tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id,
        tokenizer.mask_token_id, tokenizer.sep_token, tokenizer.pad_token, tokenizer.vocab_size, len(tokenizer),
    ],
}  # fmt: skip


def test_tokenizer_ids(inside: Callable[[str], Any], tmp_path: Path) -> None:
    hub = inside("hub")
    transformers = importlib.import_module("transformers")
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join([*hub.SPECIAL, *hub.WORDS]) + "\n", "utf-8")
    real = transformers.BertTokenizer(vocab=str(vocabulary), model_input_names=["input_ids", "attention_mask"])
    ours = hub.tokenizer()
    with Rows() as row:
        for name, call in CALLS.items():
            with row(name):
                assert plain(call(ours)) == plain(call(real))


def plain(value: Any) -> Any:
    """Encodings as dicts."""
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return dict(value) if hasattr(value, "keys") else value


WORDS = ["le", "chat", "noir", "dort", "dans", "la", "maison", "une", "petite", "souris", "mange", "du", "fromage"]
BLANKS = st.sampled_from([" ", "  ", "\t", "\n", "▁", " ▁"])


@pytest.fixture(scope="module")
def real() -> Any:
    """A model whose pieces are the words."""
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([" ".join(WORDS)] * 20),
        model_writer=model,
        model_type="word",
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


ENCODINGS: dict[str, Callable[[Any, str], Any]] = {
    "encode": lambda model, text: model.encode(text, out_type=str),
    "encode_as_pieces": lambda model, text: model.encode_as_pieces(text),
    "EncodeAsPieces": lambda model, text: model.EncodeAsPieces(text),
    "Encode": lambda model, text: model.Encode(text, out_type=str),
}
DECODINGS: dict[str, Callable[[Any, list[str]], Any]] = {
    "decode": lambda model, pieces: model.decode(pieces),
    "decode_pieces": lambda model, pieces: model.decode_pieces(pieces),
    "DecodePieces": lambda model, pieces: model.DecodePieces(pieces),
    "Decode": lambda model, pieces: model.Decode(pieces),
}


@given(st.lists(st.tuples(st.sampled_from(WORDS), BLANKS), max_size=6), st.sampled_from(["", " ", "▁"]))
def test_sentencepiece_encodes(real: Any, words: list[tuple[str, str]], before: str) -> None:
    text = before + "".join(word + blank for word, blank in words)
    for encode in ENCODINGS.values():
        assert encode(Pieces(), text) == encode(real, text)


@given(st.lists(st.sampled_from(WORDS), max_size=6))
def test_sentencepiece_decodes(real: Any, words: list[str]) -> None:
    pieces = [f"▁{word}" for word in words]
    for decode in DECODINGS.values():
        assert decode(Pieces(), pieces) == decode(real, pieces) == " ".join(words)


def test_loader_behaves_as_the_one_of_torch() -> None:
    items = [(torch.arange(n, n + 3), torch.tensor(n)) for n in range(5)]

    def collate(some: list[Any]) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.stack([x for x, _ in some], dim=1), torch.stack([y for _, y in some])

    dataset: Any = items
    real: Any = torch.utils.data.DataLoader(dataset, batch_size=2, collate_fn=collate)
    ours = Loader([collate(items[start : start + 2]) for start in (0, 2, 4)])
    assert (len(ours), len(ours.dataset), ours.batch_size) == (len(real), len(real.dataset), real.batch_size)
    for _ in range(2):  # a loader begins again each time
        for (x, y), (real_x, real_y) in zip(ours, real, strict=True):
            assert torch.equal(x, real_x) and torch.equal(y, real_y)
