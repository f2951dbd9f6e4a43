"""Questions 3.2.1 to 3.2.3: classification.py, what its model computes and what its training changes.

The encoder's weights are drawn here, and what the student's model computes with them is compared with the reference.
What training changed is determined from the parameters before and after, never from `requires_grad`: the course's file
restricts the optimizer's list alone.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from graders.adapting_transformers.test_base_classification import check_steps
from viva.grading import agree, number, visibility, weight

Array = NDArray[np.float64]
Weights = dict[str, Array]
Batch = dict[str, NDArray[np.int64]]
VOCABULARY, D, LAYERS, INNER, POSITIONS, CLASSES = 20, 8, 2, 12, 24, 2
TUNED_D = 52
"""The size of the models whose tuned parameters are counted: a count below 100 does not tell two mistakes apart."""
KIND = "prefix"
CHANGED = {"full": {"base", "head"}, "head": {"head"}, "prefix": {"prefix", "head"}}
PARTS = {"base": "the pretrained encoder", "head": "the head", "prefix": "the prefix"}
RELATIVE, ABSOLUTE = 5e-5, 5e-5
"""Single precision through two layers, in any order of summation."""
ROUNDING = 100.0
"""How many times these tolerances the rounding of half precision may take."""


@number("3.2.1")
@weight(3)
@pytest.mark.parametrize("kind", ["full", "head"])
def test_forward(submission: Any, key: Any, inside: Any, rng: np.random.Generator, kind: str) -> None:
    """Full and head: a linear head on the mean of the encoder's last hidden states."""
    check_forward(submission, key, inside, rng, kind, 5, 2 if kind == "full" else 3)
    if kind == "full":
        check_forward(submission, key, inside, rng, None, 5)


@number("3.2.3")
@weight(4)
def test_forward_with_a_prefix(submission: Any, student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Prefix: the same with prefix_length trained vectors before the word embeddings, which attention may read."""
    has_model = "CustomModelforSequenceClassification" in submission.preferring("classification")
    if has_model or "prepend_soft_prompt" not in student:
        check_forward(submission, key, inside, rng, "prefix", 3)
    else:
        check_prepending(student.prepend_soft_prompt, key, rng)


@number("3.2.3")
@weight(2)
@visibility("after_published")
def test_forward_of_random_models(submission: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Other weights, other sizes, other lengths of prefix and text; and the steps of prefix tuning.

    Try texts of different lengths in one batch, other prefix lengths, and batches of one row.
    """
    for kind, prefix_length in (("prefix", 1), ("prefix", int(rng.integers(8, 13))), ("full", 3)):
        check_forward(submission, key, inside, rng, kind, prefix_length)
    check_forward(submission, key, inside, rng, KIND, int(rng.integers(4, 7)), 3, d=12)
    own = submission.preferring("classification")
    check_steps(submission, own.train, own.CustomModelforSequenceClassification, key, inside, rng, KIND)


@number("3.2.1")
@weight(2)
def test_full_tuning(submission: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Full tuning changes the encoder and the head."""
    check_changes(submission, key, inside, rng, "full")


@number("3.2.2")
@weight(4)
def test_head_tuning(submission: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Head tuning changes the head's parameters and no other."""
    check_changes(submission, key, inside, rng, "head")


@number("3.2.3")
@weight(4)
def test_prefix_tuning(submission: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Prefix tuning changes the prefix and the head, and not the encoder."""
    check_changes(submission, key, inside, rng, "prefix")


def check_forward(
    submission: Any,
    key: Any,
    inside: Any,
    rng: np.random.Generator,
    kind: str | None,
    prefix_length: int,
    classes: int = CLASSES,
    d: int = D,
) -> None:
    """The logits of a new model; without a kind, of one that is made with the defaults, which are full and 2."""
    weights, batch = drawn(key, rng, d)
    make = submission.preferring("classification").CustomModelforSequenceClassification
    inside.serve(weights)
    submission.set(
        prefix_length=prefix_length, args=inside.arguments.keep(type=kind or "full", prefix_length=prefix_length)
    )
    asked = {name: batch[name] for name in ("input_ids", "attention_mask")}
    found = inside.computed(make, kind, prefix_length, asked, classes)
    check_made(found, kind)
    compare(found["logits"], found["groups"], key, weights, batch, kind or "full", prefix_length, classes)
    check_batches(found)


def check_made(found: Mapping[str, Any], kind: str | None) -> None:
    """The model is of the type and on the encoder that were asked for, and leaves its arguments alone."""
    assert kind is not None or found["type"] in (None, "full"), (
        f"A model that is made without a type says that it is {found['type']!r}; expected the default, 'full'."
    )
    others = [name for name in found["names"] if name != "tiny"]
    assert not others, f"A model that is made with model_name 'tiny' loads {others[0]!r}; expected the encoder 'tiny'."
    assert not found["changed"], "forward changes the input_ids or the attention_mask that it is given."


def check_batches(found: Mapping[str, Any]) -> None:
    """The logits of a row do not depend on the other rows."""
    logits, one, thrice = (np.asarray(found[name], dtype=np.float64) for name in ("logits", "one", "thrice"))
    for rows, actual, expected in [("one row", one, logits[:1]), ("nine rows", thrice, np.concatenate([logits] * 3))]:
        assert alike(actual, expected), (
            f"In a batch of {rows} a row gets other logits than in a batch of three, or logits of another shape "
            f"({actual.shape}; expected {expected.shape})."
        )


def compare(
    returned: Any,
    groups: Any,
    key: Any,
    weights: Weights,
    batch: Batch,
    kind: str,
    prefix_length: int,
    classes: int = CLASSES,
) -> None:
    """The logits are those of the reference with the parameters that the student's model shows."""
    W, b, prefix = head_and_prefix(groups, kind, prefix_length, classes)
    question = (weights, batch["input_ids"], batch["attention_mask"], W, b)
    poolings: dict[str, Array] = key.classifier_logits(*question, prefix)
    actual = np.asarray(returned)
    expected = nearest(actual, poolings)
    if any(alike(actual, logits) for logits in poolings.values()):
        return
    wrong = mistakes(key, weights, batch, W, b, prefix)
    named = {name: logits for name, make in wrong.items() for logits in make().values() if alike(actual, logits)}
    name = f"the output of a model of type {kind!r} for three texts of 3, 7 and 5 tokens, padded to 7,"
    if prefix is not None:
        name += f" behind a prefix of {prefix_length} vectors,"
    agree(actual, expected, hints=named, name=name, rtol=RELATIVE, atol=ABSOLUTE)


def nearest(actual: Array, poolings: Mapping[str, Array]) -> Array:
    """Return the logits of the pooling that these come closest to; those of the mean if they have another shape."""
    if actual.shape != poolings["mean"].shape or actual.dtype.kind not in "fiu":
        return poolings["mean"]
    return min(poolings.values(), key=lambda logits: float(np.abs(actual - logits).max()))


def mistakes(
    key: Any, weights: Weights, batch: Batch, W: Array, b: Array, prefix: Array | None
) -> dict[str, Callable[[], dict[str, Array]]]:
    """Return what students compute instead, by every pooling."""
    ids, mask = batch["input_ids"], batch["attention_mask"]
    words = key.embed(weights, ids)
    everything = np.ones_like(mask)

    def plain(read: NDArray[np.int64]) -> dict[str, Array]:
        return dict(key.classifier_logits(weights, ids, read, W, b))

    def from_words(embeddings: Array, read: NDArray[np.int64], length: int) -> dict[str, Array]:
        return dict(key.logits_from(weights, embeddings, read, W, b, length))

    def probabilities() -> dict[str, Array]:
        found: dict[str, Array] = key.classifier_logits(weights, ids, mask, W, b, prefix)
        return {name: softmax(logits) for name, logits in found.items()}

    wrong: dict[str, Callable[[], dict[str, Array]]] = {
        "softmax is applied; logits are the head's output as it is": probabilities,
    }
    if prefix is None:
        return {**wrong, "the attention mask is not used: padding is read": lambda: plain(everything)}
    copies = np.broadcast_to(prefix, (len(ids), *prefix.shape))
    ones = np.ones((len(ids), len(prefix)), dtype=mask.dtype)
    before, read = key.add_soft_prompt(words, mask, prefix)
    return {
        **wrong,
        "the prefix is not there": lambda: plain(mask),
        "the attention mask leaves the prefix out: it grows by ones, not by zeros": lambda: from_words(
            before, np.concatenate([0 * ones, mask], axis=1), len(prefix)
        ),
        "the ones for the prefix stand at the end of the attention mask; the prefix comes first": lambda: from_words(
            before, np.concatenate([mask, ones], axis=1), len(prefix)
        ),
        "the attention mask is not used: padding is read": lambda: from_words(before, np.ones_like(read), len(prefix)),
        "the prefix stands behind the text": lambda: from_words(
            np.concatenate([words, copies], axis=1), np.concatenate([mask, ones], axis=1), 0
        ),
        "the prefix is put before the sum of word, position and segment, so that positions count twice; take the word "
        "embeddings alone": lambda: from_words(
            np.concatenate([copies, whole_embeddings(weights, words)], axis=1), read, len(prefix)
        ),
    }


def whole_embeddings(weights: Weights, words: Array) -> Array:
    """Return what BERT's embedding layer gives: position and segment added, normalised."""
    summed = words + weights["embeddings.position_embeddings.weight"][: words.shape[1]]
    summed = summed + weights["embeddings.token_type_embeddings.weight"][0]
    centred = summed - summed.mean(axis=-1, keepdims=True)
    gain, bias = (weights[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias"))
    whole: Array = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True)) * gain + bias
    return whole


def check_prepending(prepend_soft_prompt: Any, key: Any, rng: np.random.Generator) -> None:
    """The prefix as a function: embeddings (batch, n, d), mask (batch, n), prompt (l, d) -> both, longer by l."""
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]])
    for length in (2, 3):
        embeddings, prompt = rng.standard_normal((3, 5, 4)), rng.standard_normal((length, 4))
        found = prepend_soft_prompt(embeddings, mask, prompt)
        words, read = key.add_soft_prompt(embeddings, mask, prompt)
        agree(found[0], words, name=f"the embeddings with a prompt of {length} before them")
        hints = {
            "the mask is not extended": mask,
            "the mask leaves the prompt out": np.concatenate([np.zeros((3, length), dtype=int), mask], axis=1),
            "the ones stand at the end": np.concatenate([mask, np.ones((3, length), dtype=int)], axis=1),
        }
        agree(np.asarray(found[1]) * 1, read, hints=hints, name=f"the attention mask with a prompt of {length}")


def check_changes(submission: Any, key: Any, inside: Any, rng: np.random.Generator, kind: str) -> None:
    """Train for a few steps and see which parameters moved, and how many they are."""
    weights, batch = drawn(key, rng, TUNED_D)
    prefix_length = 5
    found = tuned(submission, inside, weights, batch, kind, prefix_length)
    before, after = found["before"]["groups"], found["after"]["groups"]
    check_encoder(found["before"]["groups"])
    untouched = {name: weights[name] for name in before["base"]}
    agree(before["base"], untouched, name="the pretrained weights in a new model", rtol=1e-5, atol=1e-6)
    changed = {group: moved(before[group], after[group]) for group in CHANGED["full"] | CHANGED["prefix"]}
    for group in sorted(PARTS):
        should = group in CHANGED[kind]
        if should != bool(changed[group]) and (should or before[group]):
            raise AssertionError(told(kind, group, should, changed[group]))
    check_consistent(found, key, weights, batch, kind, prefix_length)
    if kind != "full":
        counted = sum(size for group in CHANGED[kind] for size in changed[group].values())
        head = key.head_params(TUNED_D, CLASSES)
        right = head if kind == "head" else key.prefix_params(prefix_length, TUNED_D, CLASSES)
        hints = {
            "the bias of the head is not tuned": right - CLASSES,
            "the head is a layer of d × d more": right + TUNED_D * TUNED_D + TUNED_D,
        }
        of_what = f"for d = {TUNED_D}" + (f" and a prefix_length of {prefix_length}" if kind == "prefix" else "")
        agree(counted, right, hints=hints, name=f"the number of tuned parameters of type {kind!r} {of_what}")


def check_consistent(
    found: Mapping[str, Any], key: Any, weights: Weights, batch: Batch, kind: str, prefix_length: int
) -> None:
    """A model that computed with the parameters that it shows still does so after training.

    One whose forward pass is wrong from the beginning is not judged here. A copy that was trained in its place differs
    by more than rounding does, in whatever precision the logits are.
    """
    held = []
    for when, times in (("before", 1.0), ("after", ROUNDING)):
        shown = found[when]["groups"]
        base = {**weights, **{name: np.asarray(value, dtype=np.float64) for name, value in shown["base"].items()}}
        question = (base, batch["input_ids"], batch["attention_mask"])
        poolings: dict[str, Array] = key.classifier_logits(*question, *head_and_prefix(shown, kind, prefix_length))
        logits = np.asarray(found[when]["logits"])
        held.append({name for name, expected in poolings.items() if alike(logits, expected, times)})
    assert not held[0] or held[0] & held[1], (
        f"After training with type {kind!r}, the logits are not those of the parameters that the model shows; before, "
        "they were. Is what was trained the model that was given?"
    )


def told(kind: str, group: str, should: bool, changed: Mapping[str, int]) -> str:
    """One sentence about a part that moved and should not, or the other way round."""
    if should:
        return (
            f"Training with type {kind!r} does not change {PARTS[group]}; expected it to change. Does the optimizer "
            "have its parameters, and is it this optimizer that steps?"
        )
    some = ", ".join(sorted(changed)[:2])
    return (
        f"Training with type {kind!r} changes {PARTS[group]} ({some}, …); it should stay as it was. Which parameters "
        "does the optimizer have that steps?"
    )


def moved(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, int]:
    """Return the parameters that training changed, with their sizes."""
    return {
        name: np.size(value)
        for name, value in before.items()
        if name in after and not np.array_equal(np.asarray(value), np.asarray(after[name]))
    }


def tuned(
    submission: Any, inside: Any, weights: Weights, batch: Batch, kind: str, prefix_length: int
) -> dict[str, Any]:
    """Four steps with the student's own model and `train`."""
    own = submission.preferring("classification")
    inside.serve(weights)
    submission.set(
        prefix_length=prefix_length,
        test_dataloader=inside.Batches.keep([batch]),
        args=inside.arguments.keep(type=kind, prefix_length=prefix_length),
    )
    found = inside.tuned(own.CustomModelforSequenceClassification, own.train, kind, prefix_length, batch, 4, 0.05)
    return dict(found)


def check_encoder(groups: Any) -> None:
    """A new model holds an encoder that was loaded for it."""
    assert "embeddings.word_embeddings.weight" in groups["base"], (
        "A new model does not hold an encoder that was loaded for it: call AutoModel.from_pretrained(model_name) in "
        "__init__, each time that a model is made, and keep it as an attribute of the model."
    )


def head_and_prefix(
    groups: Any, kind: str, prefix_length: int, classes: int = CLASSES
) -> tuple[Array, Array, Array | None]:
    """Return the head's matrix and bias and the prefix, as the student's model shows them."""
    check_encoder(groups)
    d = np.shape(groups["base"]["embeddings.word_embeddings.weight"])[1]
    head = [np.asarray(value, dtype=np.float64) for value in groups["head"].values()]
    matrices = [value for value in head if value.shape == (classes, d)]
    biases = [value for value in head if value.shape == (classes,)]
    shapes = [value.shape for value in head]
    assert len(matrices) == 1 and len(matrices) + len(biases) == len(head), (
        f"Beside encoder and prefix the model has parameters of the shapes {shapes}; expected one linear layer, "
        f"({classes}, {d}) and ({classes},), for num_labels = {classes}."
    )
    prefixes = [np.asarray(value, dtype=np.float64) for value in groups["prefix"].values()]
    if kind != "prefix":
        return matrices[0], biases[0] if biases else np.zeros(classes), None
    assert len(prefixes) == 1, (
        f"With prefix_length = {prefix_length} and d = {d}, the model has {len(prefixes)} parameters of "
        f"{prefix_length * d} numbers; expected one, the prefix."
    )
    return matrices[0], biases[0] if biases else np.zeros(classes), prefixes[0].reshape(prefix_length, d)


def drawn(key: Any, rng: np.random.Generator, d: int = D) -> tuple[Weights, Batch]:
    """Weights of a small encoder, and three texts, one without padding."""
    weights = key.draw_weights(rng, VOCABULARY, d, LAYERS, INNER, POSITIONS)
    lengths = np.array([[3], [7], [5]])
    mask = (np.arange(7) < lengths).astype(np.int64)
    ids = rng.integers(5, VOCABULARY, (3, 7)) * mask
    ids[:, 0] = 2
    return weights, {"input_ids": ids, "attention_mask": mask, "labels": np.array([0, 1, 1])}


def alike(actual: Any, expected: Array, times: float = 1.0) -> bool:
    return (
        actual.shape == expected.shape
        and actual.dtype.kind in "fiu"
        and np.allclose(actual.astype(np.float64), expected, rtol=times * RELATIVE, atol=times * ABSOLUTE)
    )


def softmax(scores: Array) -> Array:
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights: Array = exponentials / exponentials.sum(axis=1, keepdims=True)
    return weights
