"""Task T7 and question 4: a classifier on the base of a language model, and what was gained by it."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from viva.grading import needs_review, number, weight
from viva.model.errors import MissingName
from viva.plugins.training.audits import audit_accuracy, read_accuracy

NTOKEN, NHEAD, NHID, NLAYERS, NCLASSES = 11, 2, 8, 2, 2
TOKEN2IND = {"<sos>": 0, "<pad>": 1, "<eos>": 2, "<oov>": 3, "a": 4, "b": 5, "c": 6}
SIZES = {"ntokens": NTOKEN, "nhead": NHEAD, "nhid": NHID, "nlayers": NLAYERS, "dropout": 0}
"""The globals that the notebook keeps them in."""
SETS = (2000, 400)
"""The course's test and validation sets."""
LEAST_GAP = Fraction(1, 10)
"""By how much pretraining is ahead after one epoch; three public runs have .14, .18 and .27."""


@number("T7")
@weight(4)
def test_the_pretrained_base_is_loaded(student: Any, submission: Any, inside: Any) -> None:
    """Every weight of the base is the language model's afterwards."""
    language_model, fresh, given, _ = load(student, submission, inside)
    pretrained, random, after = (base_of(inside.parameters(m)) for m in (language_model, fresh, given))
    assert sorted(after) == sorted(pretrained), (
        "After loading, the base has other parameters than the language model's base: "
        f"{', '.join(sorted(set(after) ^ set(pretrained))[:3])}."
    )
    missing = [name for name, value in pretrained.items() if not np.array_equal(after[name], value)]
    if not missing:
        return
    untouched = all(np.array_equal(after[name], random[name]) for name in after)
    assert not untouched, (
        "`base` of the model that was given still has its random weights: nothing was loaded into it. Copy the weights "
        "into this model, not into a copy of it. load_state_dict(strict=False) passes over names "
        "that do not fit without a word; the checkpoint's names begin with `base.`."
    )
    raise AssertionError(
        f"{len(missing)} of the base's {len(after)} parameters are not the language model's, first {missing[0]}."
    )


@number("T7")
@weight(3)
def test_the_head_is_new(student: Any, submission: Any, inside: Any, rng: np.random.Generator) -> None:
    """The loaded model has a head of its own with a score for each class, and nothing else is lost."""
    _, fresh, given, loaded = load(student, submission, inside)
    source = rng.integers(0, NTOKEN, (4, 4))
    own = student.generate_square_subsequent_mask if "generate_square_subsequent_mask" in student else None
    shape = np.shape(inside.shapes(loaded, source, own)["scores"])
    why = ": the language model's head, with a score for each token, must not come with its base" * (
        shape[-1:] == (NTOKEN,)
    )
    assert shape == (4, 4, NCLASSES), f"After loading, the model gives shape {shape}; expected {(4, 4, NCLASSES)}{why}."
    before, after = inside.parameters(fresh), inside.parameters(loaded)
    assert sorted(before) == sorted(after), "Parameters of the classifier were lost or added while weights were loaded."
    head = [name for name in after if name not in base_of(after)]
    zero = [name for name in head if not np.any(after[name]) and np.any(before[name])]
    assert not zero, f"The head was set to zero: {zero[0]}."
    before, after = (outside_the_base(inside.parameters(model)) for model in (fresh, given))
    other = [name for name in before if name not in after or not np.array_equal(before[name], after[name])]
    assert not other, (
        f"`{other[0]}` of the model that was given is another afterwards; load_pretrained leaves it as it is."
    )
    language_model, fresh, _, loaded = load(student, submission, inside, NTOKEN)  # here the old head would fit
    theirs, before, after = (inside.parameters(model) for model in (language_model, fresh, loaded))
    copied = [
        name
        for name in before
        if name in after and name in theirs and not name.startswith("base.") and np.shape(before[name])[:1] == (NTOKEN,)
        if np.shape(after[name]) == np.shape(theirs[name]) and np.array_equal(after[name], theirs[name])
    ]
    assert not copied, f"With nclasses = {NTOKEN} = ntoken, `{copied[0]}` is the language model's: its head came along."


@number("4")
@weight(3)
def test_fine_tuning_starts_from_the_pretrained_weights(student: Any, submission: Any, inside: Any) -> None:
    """After loading and one small step of your own training, the base is still next to the language model's."""
    language_model, _, _, loaded = load(student, submission, inside)
    head = outside_the_base(inside.parameters(loaded))
    optimizer = inside.plain_descent.keep(loaded, 1e-3)
    source, labels = np.array([[0, 0, 0], [4, 5, 6], [6, 4, 5]]), np.array([0, 1, 1])
    loader = inside.Loader.keep([(source, labels)])
    known = {
        "model": loaded,
        "optimizer": optimizer,
        "criterion": inside.criterion.keep(None),
        "device": inside.cpu.keep(),
        "token2ind": TOKEN2IND,
    }
    submission.set(**known, get_loader=inside.get_loader.keep(loader), **SIZES)
    if "train_step" in student:
        inside.steps(student.train_step, loader, "classification", known)
    else:
        submission.put("documents.txt", b"a c\nb a\nc b\n")
        submission.put("labels.txt", b"0\n1\n1\n")
        known |= {"task": "classification", "log_interval": 1000, "save_interval": -1}
        inside.ask(student.train, ("documents.txt", "labels.txt"), known)
    wanted, found = base_of(inside.parameters(language_model)), base_of(inside.parameters(loaded))
    away = float(np.sqrt(sum(np.square(found[name] - wanted[name]).sum() for name in wanted)))
    trained = outside_the_base(inside.parameters(loaded))
    is_head_alone = any(not np.array_equal(value, trained[name]) for name, value in head.items())
    assert away > 0 or not is_head_alone, (
        "After loading, one step of your training changes the head alone: fine-tuning trains the "
        "base too. Is it frozen (`requires_grad = False`) or detached?"
    )
    assert away < 0.05, (
        f"After loading and one step of 0.0005 at most, the base is {away:.2g} away from the language model's: "
        "training does not start from the pretrained weights."
    )


@number("4")
@weight(1)
def test_reported_accuracies_are_counts(submission: Any) -> None:
    """Each accuracy that you report is a whole number of right answers among the examples that you name."""
    runs = {name: reported(submission, name) for name in ("scratch", "pretrained")}
    n = examples(submission)
    for name, run in runs.items():
        for epoch, accuracy in enumerate(run, 1):
            for finding in audit_accuracy(accuracy, n, name=f"4.{name}, accuracy {epoch}:"):
                assert finding.kind != "no_count", finding.text


@number("4")
@weight(2)
def test_pretraining_helps_at_once(submission: Any) -> None:
    """After one epoch the pretrained model is ahead by at least ten points."""
    scratch, pretrained = reported(submission, "scratch"), reported(submission, "pretrained")
    gap = pretrained[0] - scratch[0]
    assert gap >= LEAST_GAP, (
        f"After one epoch the pretrained model has {float(pretrained[0]):.4g} and the one from scratch "
        f"{float(scratch[0]):.4g}: the gap of {float(gap):.3g} is below 0.1. Were the weights loaded, and is each "
        "list in the order of the epochs?"
    )


@number("4")
@weight(4)
def test_pretrained_against_scratch(submission: Any) -> None:
    """What the curves show, and why pretraining helps."""
    needs_review(submission.written["4"], rubric="4", findings=beside_the_curves(submission))


def load(student: Any, submission: Any, inside: Any, n_classes: int = NCLASSES) -> tuple[Any, Any, Any, Any]:
    """(language model, classifier as it was made, the same after loading, what came back)."""
    language_model = inside.shaken.keep(student.Model.keep(NTOKEN, NHEAD, NHID, NLAYERS, NTOKEN, 0.0))
    classifier = student.Model.keep(NTOKEN, NHEAD, NHID, NLAYERS, n_classes, 0.0)
    inside.save(language_model, "language_model.pt")
    fresh = inside.copied.keep(classifier)
    known = {"model": classifier, "device": inside.cpu.keep()}
    submission.set(**known, **SIZES)
    loaded = inside.load.keep(student.load_pretrained, "language_model.pt", known)
    return language_model, fresh, classifier, loaded


def outside_the_base(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters outside `.base`."""
    return {name: np.asarray(value) for name, value in parameters.items() if not name.startswith("base.")}


def base_of(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of `.base`."""
    found = {name: np.asarray(value) for name, value in parameters.items() if name.startswith("base.")}
    assert found, "Model has no part called `base`."
    return found


def reported(submission: Any, name: str) -> list[Fraction]:
    """Return the accuracies of one run, by epoch.

    Raises:
        AssertionError: they are not a list of shares.
    """
    values = submission.answers[f"4.{name}"]
    assert len(values) > 1, f"4.{name}: expected the accuracies of all epochs, such as [0.55, 0.61]."
    try:
        return [read_accuracy(value) for value in values]
    except ValueError as why:
        raise AssertionError(f"4.{name}: an accuracy {why}.") from None


def examples(submission: Any) -> int:
    """On how many examples accuracy was measured: the test set, if nothing is said."""
    return int(submission.answers.get("4.examples", SETS[0]))


def beside_the_curves(submission: Any) -> list[str]:
    """Return what the marker should know about the reported numbers, against three public runs of this lab."""
    try:
        scratch, pretrained = reported(submission, "scratch"), reported(submission, "pretrained")
    except (AssertionError, MissingName):
        return ["No accuracies were reported in a form that can be read."]
    bands: Sequence[tuple[str, Fraction, float, float]] = [
        ("The first epoch from scratch", scratch[0], 0.50, 0.56),
        ("The last epoch from scratch", scratch[-1], 0.68, 0.80),
        ("The first epoch of the pretrained model", pretrained[0], 0.69, 0.77),
        ("The best epoch of the pretrained model", max(pretrained), 0.77, 0.81),
    ]
    findings = [
        f"{name} has {float(value):.4g}; public runs lie between {low:.2f} and {high:.2f}."
        for name, value, low, high in bands
        if not low - 0.005 <= value <= high + 0.005
    ]
    gap = float(pretrained[-1] - scratch[-1])
    findings.append(f"At the end the pretrained model is ahead by {gap:.3f}; in public runs by .086, .023 and .008.")
    return findings
