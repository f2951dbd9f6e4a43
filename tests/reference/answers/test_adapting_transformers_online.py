"""Loading from the hub, with stand-ins for the libraries: nothing here goes to the network."""

import inspect
import json
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from fixtures.adapting_transformers.data import online

ROOT = Path(__file__).parents[3]


class Split:
    """A split of a data set, with as many rows as BoolQ's; every third answer is False."""

    def __init__(self, n: int, columns: Sequence[str] = ("question", "answer", "passage")) -> None:
        self._n, self.column_names = n, list(columns)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, wanted: int | str) -> Any:
        if isinstance(wanted, str):
            return [row % 3 > 0 for row in range(self._n)]
        return {"question": "is it old", "passage": "the river is old", "answer": True}


def offer(patch: pytest.MonkeyPatch, splits: dict[str, Split]) -> list[tuple[Any, ...]]:
    """Put stand-ins in the place of `datasets` and of the hub; what they were asked."""
    asked: list[tuple[Any, ...]] = []

    def load_dataset(*names: Any) -> dict[str, Split]:
        asked.append(("datasets", *names))
        return splits

    def model(*names: Any, **given: Any) -> torch.nn.Module:
        asked.append(("model", *names, given))
        return torch.nn.Linear(3, 2)

    def tokenizer(*names: Any) -> Any:
        asked.append(("tokenizer", *names))
        return lambda *texts: {"input_ids": " ".join(texts).split()}

    patch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=load_dataset))  # type: ignore[arg-type]
    patch.setattr(transformers.AutoModelForSequenceClassification, "from_pretrained", model)
    patch.setattr(transformers.AutoTokenizer, "from_pretrained", tokenizer)
    return asked


def boolq() -> dict[str, Split]:
    return {name: Split(n) for name, n in online.ROWS.items()}


def refuse(arguments: Sequence[str]) -> int:
    pytest.fail(f"{arguments} was started")


def test_without_the_word_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    asked = offer(monkeypatch, boolq())
    assert online.main(["--num_epochs", "1"], refuse) == 1
    assert not asked and capsys.readouterr().err == online.REFUSED + "\n" and online.REFUSED.count(".") == 1


def test_what_was_loaded_is_said_and_the_program_started(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    asked, started = offer(monkeypatch, boolq()), list[Sequence[str]]()

    def start(arguments: Sequence[str]) -> int:
        started.append(arguments)
        return 7

    assert online.main(["--online", "--num_epochs", "3", "--model", "bert-base-cased"], start) == 7
    assert asked == [
        ("datasets", "google/boolq"),
        ("tokenizer", "bert-base-cased"),
        ("model", "bert-base-cased", {"num_labels": 2}),
    ]
    said = capsys.readouterr().out
    assert "validation: 2180/3270 are True (0.66666667); 8 parameters; 7 tokens in the first row of dev" in said
    program = [sys.executable, "-m", "reference.adaptation.base_classification"]
    assert started == [[*program, "--model", "bert-base-cased", "--num_epochs", "3"]]


@pytest.mark.parametrize(
    ("splits", "words"),
    [
        ({**boolq(), "train": Split(8000)}, "expected 9427 rows in train"),
        ({"train": Split(9427)}, "expected 3270 rows in validation"),
        ({**boolq(), "validation": Split(3270, ["question", "label"])}, "with answer, passage, question"),
    ],
    ids=["fewer rows", "a split is missing", "other columns"],
)
def test_other_data_are_refused(
    splits: dict[str, Split], words: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    offer(monkeypatch, splits)
    assert online.main(["--online"], refuse) == 1
    assert words in capsys.readouterr().err


def test_what_cannot_be_had_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)  # type: ignore[arg-type]
    assert online.main(["--online"], refuse) == 1
    assert "BERT and BoolQ could not be loaded: import of datasets" in capsys.readouterr().err
    assert online.main(["--online", "--program", str(tmp_path / "no.py")], refuse) == 1
    assert "no such file; --program is the file to start" in capsys.readouterr().err


@pytest.mark.slow
def test_a_program_is_started_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """As it is, with its own files next to it; what it writes goes."""
    (tmp_path / "beside.py").write_text("WORD = 'yes'\n", "utf-8")
    program = tmp_path / "classification.py"
    text = "import json, os, sys\nfrom beside import WORD\nopen('plot.png', 'w').close()\n"
    text += "json.dump([os.getcwd(), sys.argv[1:], WORD], open(os.environ['SAID'], 'w'))\nsys.exit(5)\n"
    program.write_text(text, "utf-8")
    said = tmp_path / "said.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAID", str(said))
        status = online.run(online.command(program, "m", ["--type", "full"]))
    folder, arguments, word = json.loads(said.read_text("utf-8"))
    assert (status, arguments, word) == (5, ["--model", "m", "--type", "full"], "yes")
    assert not Path(folder).exists() and not (tmp_path / "plot.png").exists()


@pytest.mark.long
def test_the_reference_can_be_started() -> None:
    assert online.run([*online.command(None, "m", []), "--help"]) == 0


def test_transformers_takes_what_it_is_given() -> None:
    for cls, named in (
        (transformers.AutoTokenizer, {}),
        (transformers.AutoModelForSequenceClassification, {"num_labels": 2}),
    ):
        inspect.signature(cls.from_pretrained).bind("distilbert-base-uncased", **named)
    assert transformers.AutoConfig.for_model("distilbert", num_labels=2).num_labels == 2


def test_datasets_takes_what_it_is_given() -> None:
    datasets = pytest.importorskip("datasets", reason="not among viva's own requirements")
    bound = inspect.signature(datasets.load_dataset).bind(online.DATA)
    assert bound.arguments == {"path": online.DATA}
