"""What is shown besides the reports of adapting_transformers: the audit of runs, of their logs and of the programs."""

from types import SimpleNamespace
from typing import Any

from graders.adapting_transformers.test_reports import findings_about, unseeded
from viva.model.errors import BoxDied, MissingName

LOG = "\n".join(
    f"Epoch {epoch}: lr 0.0, loss {loss}, val_acc 0.62" for epoch, loss in ((1, 0.70), (2, 0.66), (4, 0.61))
)


def test_a_log_is_read_with_the_run_that_it_stands_in() -> None:
    run: dict[str, Any] = {"lr": 1e-4, "epochs": 4, "dev": 0.7104, "test": 0.6931, "log": LOG}
    lines = findings_about({"run 1": run})
    assert lines[0] == "run 1: lr 0.0001, epochs 4, dev 0.7104 = 2323/3270, test 0.6931 = 989/1427"
    assert lines[1:3] == [
        "The log of run 1: the learning rate is 0 in all 3 rows, so no step changes a weight.",
        "Epoch 3 is missing: the log of run 1 has 1, 2, 4, and 4 epochs are stated.",
    ]
    assert lines[3].startswith("Dev: 0.7104 is reported but appears nowhere in the log of run 1; the best dev accuracy")


def test_a_run_without_a_log_is_shown_as_before() -> None:
    assert len(findings_about({"run 1": {"lr": 1e-4, "dev": 0.7104, "test": 0.6931}})) == 1


def test_an_unseeded_split_is_pointed_out_where_the_program_can_be_read() -> None:
    source = {"base_classification.py": "rows = load_dataset('boolq').shuffle()"}
    (finding,) = unseeded(SimpleNamespace(source=source.__getitem__), "base_classification.py")
    assert finding.text.startswith("base_classification.py, line 1: `load_dataset('boolq').shuffle()` has no seed")


def test_what_cannot_be_read_changes_nothing() -> None:
    for error in (MissingName("base_classification.py"), BoxDied("memory")):
        assert unseeded(SimpleNamespace(source=raising(error)), "base_classification.py") == []


def raising(error: Exception) -> Any:
    def source(name: str) -> str:
        raise error

    return source
