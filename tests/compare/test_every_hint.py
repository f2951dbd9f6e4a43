"""Every known mistake of every assignment is named where it is made, and not where an answer is only close to it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from viva.config import load_course

ROOT = Path(__file__).parents[2]
SUBMISSIONS = {
    "attention_theory": "plain_loops",
    "translation_and_masks": "plain_loops",
    "bert_lora_fudge": "plain_loops",
    "transfer_learning": "torch_module",
    "adapting_transformers": "plain_loops",
}
WITHOUT_EFFECT = {
    (
        "test_evaluation_mode",
        "the model was still in training mode, with dropout: call model.eval()",
    ): "one accuracy, which other mistakes give as well",
    ("test_long_passages_are_cut", "padding is the tokenizer's [PAD], whose id is not always 0"): "no row has padding",
    (
        "test_head_by_hand",
        "this is the count for a head with a d × d layer; say so in 3.2.2.definition",
    ): "the submission says so",
    ("test_two_heads_copy_two_tokens", "the scale 1/√d_head is missing"): "all scores are far from each other",
    (
        "test_two_heads_copy_two_tokens",
        "the scores are divided by √d; each head has only d/heads components",
    ): "all scores are far from each other",
    ("test_two_heads_copy_two_tokens", "W_O is not applied"): "W_O is the identity",
}
"""Hints that tests share with others, where the mistake changes no answer."""


def test_every_assignment_has_a_submission() -> None:
    assert set(SUBMISSIONS) == set(load_course(ROOT).assignments)


@pytest.mark.long
@pytest.mark.parametrize("assignment", SUBMISSIONS)
def test_every_known_mistake(assignment: str, tmp_path: Path) -> None:
    read_by_students = tmp_path / "read_by_students.jsonl"
    submission = ROOT / "fixtures" / assignment / "submissions/accepted" / SUBMISSIONS[assignment]
    command = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.support.pretended_mistakes",
        "-m",
        "not training",
        "--submission",
        str(submission),
    ]
    paths = {"PRETENDED": str(read_by_students), "PYTHONPATH": str(ROOT), "VIVA_SECRET": "mistakes need no secret"}
    arguments = [sys.executable, *command, f"graders/{assignment}"]
    ran = subprocess.run(arguments, cwd=ROOT, env={**os.environ, **paths}, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:]
    rows = [json.loads(line) for line in read_by_students.read_text("utf-8").splitlines()]
    assert len(rows) > 100
    silent = [(r["test"], r["hint"]) for r in rows if not r["near"] and r["hint"] not in r["read"]]
    assert set(silent) <= set(WITHOUT_EFFECT), "\n".join(map(str, sorted(set(silent) - set(WITHOUT_EFFECT))))
    assert not [r for r in rows if r["near"] and r["hint"] in r["read"]], "named for an answer that is only close"
