"""The programs of adapting_transformers: claims of its errata, findings about reports, and its online run."""

import ast
import json
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from fixtures.adapting_transformers.data import online
from graders.adapting_transformers.test_reports import findings_about, unseeded
from reference.adaptation.soft_prompt_classifier import classifier_logits
from reference.bert.encoder import draw_weights
from tests.reference.answers.conftest import ROOT
from viva.model.errors import BoxDied, MissingName

STARTER = ROOT / "assignments" / "adapting_transformers" / "starter"


def test_pooling_and_padding() -> None:
    rng = np.random.default_rng(4)
    weights = draw_weights(rng, 11, 8, 2, 12, 20)
    W, b, ids = rng.standard_normal((2, 8)), rng.standard_normal(2), rng.integers(1, 11, (1, 4))
    short = classifier_logits(weights, ids, np.ones((1, 4)), W, b)
    mask = np.array([[1, 1, 1, 1, 0, 0, 0]])
    padded = classifier_logits(weights, np.pad(ids, ((0, 0), (0, 3))), mask, W, b)
    same = {name for name in short if np.allclose(short[name], padded[name], atol=1e-9)}
    assert same == set(short) - {"mean", "mean of the text"}


def test_gaps_of_the_starter() -> None:
    """The typo is the course's; the model has no name `head`, and `prefix_length` is set below `__main__` alone."""
    for name in ("base_classification.py", "classification.py"):
        tree = ast.parse((STARTER / name).read_text("utf-8"))
        train = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "train")
        assert [argument.arg for argument in train.args.args][4] == "test_dataloder"
    source = (STARTER / "classification.py").read_text("utf-8")
    before_main, main = source.split('if __name__ == "__main__":')
    assert "prefix_length = " not in before_main and "prefix_length = " in main
    assert "self.head" not in source and "self.classifier" in source


LOG = "epoch,lr,loss,dev\n1,0.0,0.70,0.62\n2,0.0,0.66,0.62\n4,0.0,0.61,0.62\n"


def test_findings_about_a_log() -> None:
    run: dict[str, Any] = {"lr": 1e-4, "epochs": 4, "dev": 0.7104, "test": 0.6931, "log": LOG}
    lines = findings_about({"run 1": run})
    assert lines[0] == "run 1: lr 0.0001, epochs 4, dev 0.7104 = 2323/3270, test 0.6931 = 989/1427"
    assert lines[1:3] == [
        "The log of run 1: the learning rate is 0 in all 3 rows, so no step changes a weight.",
        "Epoch 3 is missing: the log of run 1 has 1, 2, 4, and 4 epochs are stated.",
    ]
    assert lines[3].startswith("Dev: 0.7104 is reported but appears nowhere in the log of run 1; the best dev accuracy")


def test_run_without_a_log() -> None:
    assert len(findings_about({"run 1": {"lr": 1e-4, "dev": 0.7104, "test": 0.6931}})) == 1


def test_unseeded_split() -> None:
    source = {"base_classification.py": "rows = load_dataset('boolq').shuffle()"}
    (finding,) = unseeded(SimpleNamespace(source=source.__getitem__), "base_classification.py")
    assert finding.text.startswith("base_classification.py, line 1: `load_dataset('boolq').shuffle()` has no seed")


def test_unreadable_program() -> None:
    for error in (MissingName("base_classification.py"), BoxDied("memory")):
        assert unseeded(SimpleNamespace(source=raising(error)), "base_classification.py") == []


def raising(error: Exception) -> Any:
    def source(name: str) -> str:
        raise error

    return source


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


def put_stubs(patch: pytest.MonkeyPatch, splits: dict[str, Split]) -> list[tuple[Any, ...]]:
    """Put stand-ins in the place of `datasets` and of the hub; what they were requests."""
    requests: list[tuple[Any, ...]] = []

    def load_dataset(*names: Any) -> dict[str, Split]:
        requests.append(("datasets", *names))
        return splits

    def model(*names: Any, **given: Any) -> torch.nn.Module:
        requests.append(("model", *names, given))
        return torch.nn.Linear(3, 2)

    def tokenizer(*names: Any) -> Any:
        requests.append(("tokenizer", *names))
        return lambda *texts: {"input_ids": " ".join(texts).split()}

    patch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=load_dataset))
    patch.setattr(transformers.AutoModelForSequenceClassification, "from_pretrained", model)
    patch.setattr(transformers.AutoTokenizer, "from_pretrained", tokenizer)
    return requests


def boolq() -> dict[str, Split]:
    return {name: Split(n) for name, n in online.ROWS.items()}


def refuse(arguments: Sequence[str]) -> int:
    pytest.fail(f"{arguments} was started")


def test_offline_by_default(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    requests = put_stubs(monkeypatch, boolq())
    assert online.main(["--num_epochs", "1"], refuse) == 1
    assert not requests and capsys.readouterr().err == online.REFUSED + "\n" and online.REFUSED.count(".") == 1


def test_online_run_loads_data_then_starts_training(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    requests, started = put_stubs(monkeypatch, boolq()), list[Sequence[str]]()

    def start(arguments: Sequence[str]) -> int:
        started.append(arguments)
        return 7

    assert online.main(["--online", "--num_epochs", "3", "--model", "bert-base-cased"], start) == 7
    assert requests == [
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
def test_other_data(splits: dict[str, Split], words: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    put_stubs(monkeypatch, splits)
    assert online.main(["--online"], refuse) == 1
    assert words in capsys.readouterr().err


def test_missing_library_or_program(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert online.main(["--online"], refuse) == 1
    assert "BERT and BoolQ could not be loaded: import of datasets" in capsys.readouterr().err
    assert online.main(["--online", "--program", str(tmp_path / "no.py")], refuse) == 1
    assert "no such file; --program is the file to start" in capsys.readouterr().err


@pytest.mark.slow
def test_program_runs_in_its_own_folder(tmp_path: Path) -> None:
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
