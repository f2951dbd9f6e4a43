"""Every known mistake of every assignment is named where it is made, and not where an answer is only close to it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from viva.config import load_course

ROOT = Path(__file__).parents[2]
ASKED = {
    "attention_theory": "plain_loops",
    "translation_and_masks": "plain_loops",
    "bert_lora_fudge": "plain_loops",
    "transfer_learning": "torch_module",
    "adapting_transformers": "plain_loops",
}
NOT_SEEN = {
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


def test_every_assignment_is_asked() -> None:
    assert set(ASKED) == set(load_course(ROOT).assignments)


@pytest.mark.long
@pytest.mark.parametrize("assignment", ASKED)
def test_every_known_mistake_is_named_where_it_is_made_alone(assignment: str, tmp_path: Path) -> None:
    said = tmp_path / "said.jsonl"
    submission = ROOT / "fixtures" / assignment / "submissions/accepted" / ASKED[assignment]
    command = ["-m", "pytest", "-q", "-p", "pretended_mistakes", "-m", "not training", "--submission", str(submission)]
    environment = {
        **os.environ,
        "PRETENDED": str(said),
        "PYTHONPATH": str(Path(__file__).parent),
        "VIVA_SECRET": "mistakes need no secret",
    }
    ran = subprocess.run(
        [sys.executable, *command, f"graders/{assignment}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
    rows = [json.loads(line) for line in said.read_text("utf-8").splitlines()]
    assert len(rows) > 100
    silent = [(r["test"], r["hint"]) for r in rows if not r["near"] and r["hint"] not in r["read"]]
    assert set(silent) <= set(NOT_SEEN), "made and not named"
    assert not [r for r in rows if r["near"] and r["hint"] in r["read"]], "named for an answer that is only close"
