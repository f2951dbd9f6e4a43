"""Each name of a starter is in the key, the handout and the starter's notebook, and each answer is asked for."""

import re

import pytest

from tests.reference.answers.conftest import ROOT, load_key

NAMES = {
    "adapting_transformers": 9,
    "attention_theory": 10,
    "bert_lora_fudge": 30,
    "transfer_learning": 14,
    "translation_and_masks": 24,
}
"""Functions and classes that students write, by assignment."""
NOT_IN_NOTEBOOK = {"positional_encoding", "train_step"}
"""The notebook of transfer_learning has a module and `train` instead."""


NAMES_ANSWERS = {"attention_theory", "bert_lora_fudge"}
"""Assignments whose handouts name the keys of answers.yaml; the others number their questions."""


@pytest.mark.parametrize("assignment", NAMES)
def test_starter_names_are_in_key_and_handout(assignment: str) -> None:
    key, folder = load_key(assignment), ROOT / "assignments" / assignment
    handout, starter = (folder / "handout.md").read_text("utf-8"), folder / "starter"
    names = re.findall(r"^(?:def|class) (\w+)", (starter / "solution.py").read_text("utf-8"), re.MULTILINE)
    assert len(names) == NAMES[assignment] and all(callable(getattr(key, name)) for name in names)
    assert all(f"`{name}(" in handout for name in names)
    by_hand, _ = (starter / "answers.yaml").read_text("utf-8").split("written:")
    answers = re.findall(r'^  "(.+?)":', by_hand, re.MULTILINE)
    assert answers == list(key.answers)
    if assignment in NAMES_ANSWERS:
        assert all(re.search(rf"`{re.escape(name)}[`:]", handout) for name in answers)


@pytest.mark.parametrize("assignment", sorted(NAMES.keys() - {"adapting_transformers"}))
def test_notebook_of_the_starter(assignment: str) -> None:
    starter = ROOT / "assignments" / assignment / "starter"
    notebook = (starter / f"{assignment}.ipynb").read_text("utf-8")
    names = re.findall(r"^(?:def|class) (\w+)", (starter / "solution.py").read_text("utf-8"), re.MULTILINE)
    assert all(re.search(rf"(?:def|class) {name}\b", notebook) for name in set(names) - NOT_IN_NOTEBOOK)
    assert all(f'\\"{name}\\": None' in notebook for name in load_key(assignment).answers)
