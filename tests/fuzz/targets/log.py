"""Logs of training and tables of runs: any text gives rows and findings, each a sentence; nothing raises."""

import contextlib
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.fuzz.target import Target, expect, expect_sentence
from viva.plugins.training.audits import audit_log, audit_runs, audit_seeds
from viva.plugins.training.audits.log_rows import MAX_ROWS, read_log

SIZES = {"dev": 3270, "test": 1427}


def check(data: bytes) -> None:
    """Read the text as a log, as JSON where it is that, and as a program."""
    text = data.decode("utf-8", "replace")
    logs: list[Any] = [text, text.splitlines()]
    with contextlib.suppress(ValueError, RecursionError):
        logs.append(json.loads(text))
    for log in logs:
        rows = read_log(log)
        expect(len(rows) <= MAX_ROWS, "more rows than are read")
        expect(all(0 <= share <= 1 for row in rows for share in row.accuracies.values()), "an accuracy that is none")
        findings = audit_log(log, reported={"dev": "71 %", "test": 0.6931}, lr="5e-5", epochs=7)
        if isinstance(log, dict):
            runs = {str(label)[:50]: run for label, run in log.items() if isinstance(run, dict)}
            findings += audit_runs(runs, SIZES, majority={"dev": Fraction(2033, 3270)})
        for finding in [*findings, *audit_seeds({"a.py": text})][:50]:
            expect_sentence(finding.text, 5000)


def seeds() -> Iterator[bytes]:
    """Logs of every form."""
    table = "epoch,loss,dev\n1,0.9,0.61\n2,0.8,0.62\n3,nan,0.62\n"
    rows = [{"epoch": e, "loss": 1 / e, "dev": 0.6, "lr": 0} for e in (1, 2, 2)]
    for text in (
        table, table.replace(",", " , "), json.dumps(rows), "step,loss\n10,inf\n20,-nan\n",
        json.dumps({"run 1": {"lr": 1e-4, "dev": 0.6217, "test": 0.5}, "run 2": {"dev": "71.04 %", "test": "1/0"}}),
        "import random\nrandom.shuffle(x)\n", "[[1e999]]", "epoch,loss\n" + "10000,1e-300\n" * 3,
        "from torch.utils.data import random_split as r\nr(d, [1, 2])\n%pip install x\n",
    ):  # fmt: skip
        yield text.encode()


WORDS = (
    "epoch", "loss", "lr", "step", "nan", "inf", "%", '"dev":', '"test":', "random.shuffle(", "train_test_split(",
    "manual_seed(", "import ",
    "def f():\n ", "\t", ";", "|", "1e-5",
)  # fmt: skip
TARGET = Target(check, seeds, WORDS)
