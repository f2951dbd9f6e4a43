"""Task T3: one step of training, and what many of them do.

The steps are taken on a model whose gradient is known by hand (`inside.PrefixMean`), so that the parameters after them
can be compared whatever the student's own model is. `train_step` takes the batch; the lab's `train` asks `get_loader`.
"""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import agree, number, visibility, weight

Array = NDArray[np.float64]
Parts = Any
"""Embedding, weight and bias: a `PrefixMean` of the key."""
Batch = tuple[NDArray[np.int64], NDArray[np.int64]]
WORDS = ["<sos>", "<pad>", "<eos>", "<oov>", "le", "chat", "noir", "dort", "bien"]
TOKEN2IND = {word: index for index, word in enumerate(WORDS)}
OTHER_IDS = dict(zip(WORDS, (7, 4, 3, 2, 1, 0, 8, 5, 6), strict=True))
"""The same words with other ids: the dictionary decides, not a habit."""
V, D, RATE, MAX_NORM = len(WORDS), 4, 0.8, 0.5
LANGUAGE, CLASSES = "language_modeling", "classification"


@number("T3")
@weight(4)
def test_language_model_step(student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator) -> None:
    """One step follows the clipped gradient of the mean cross entropy of the next tokens, <pad> left out."""
    source, target = batch = batch_of(key, ["le chat noir dort bien", "le chat dort", "bien"], [], LANGUAGE)
    for is_long in (True, False):
        before = drawn(key, rng, batch, LANGUAGE, is_long=is_long)
        after = stepped(student, submission, inside, before, [batch], LANGUAGE)
        expected = key.training_step(before, source, target, ignored=1, learning_rate=RATE)
        hints = language_mistakes(key, before, source, target)
        if not is_long:
            hints |= lengths_mistakes(before, expected)
        name = (
            "the language model after one step"
            if is_long
            else "the language model after one step, whose gradient is too short to be clipped,"
        )
        compare(after, expected, hints, step_name(name, before, after, expected))


@number("T3")
@weight(3)
def test_classification_step(student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator) -> None:
    """One step follows the clipped gradient of the mean cross entropy of the labels, read at the last token."""
    source, target = batch = batch_of(key, ["le chat dort", "chat noir dort", "bien le noir"], [1, 0, 1], CLASSES)
    before = drawn(key, rng, batch, CLASSES)
    after = stepped(student, submission, inside, before, [batch], CLASSES)
    expected = key.training_step(before, source, target, positions=[3, 3, 3], learning_rate=RATE)
    hints = classification_mistakes(key, before, source, target)
    compare(after, expected, hints, step_name("the classifier after one step", before, after, expected))
    before = drawn(key, rng, batch, CLASSES, is_long=False)
    after = stepped(student, submission, inside, before, [batch], CLASSES)
    expected = key.training_step(before, source, target, positions=[3, 3, 3], learning_rate=RATE)
    hints = classification_mistakes(key, before, source, target) | lengths_mistakes(before, expected)
    name = step_name(
        "the classifier after one step, whose gradient is too short to be clipped,", before, after, expected
    )
    compare(after, expected, hints, name)


@number("T3")
@weight(1)
@pytest.mark.depends("test_language_model_step")
def test_gradients_do_not_add_up(
    student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator
) -> None:
    """The second step follows the second gradient alone."""
    source, target = batch = batch_of(key, ["le chat dort", "le chat dort"], [], LANGUAGE)
    before = drawn(key, rng, batch, LANGUAGE)
    after = stepped(student, submission, inside, before, [batch, batch], LANGUAGE)

    def step(parts: Parts) -> Parts:
        return key.training_step(parts, source, target, ignored=1, learning_rate=RATE)

    def added() -> Parts:
        """torch clips the gradients where they are kept, so the second step has the clipped first one in it."""
        first = step(before)
        kept = [(old - new) / RATE for old, new in zip(before, first, strict=True)]
        fresh = language_gradient(key, first, source, target)
        both = key.PrefixMean(*(one + other for one, other in zip(kept, fresh, strict=True)))
        return key.descended(first, both, RATE, MAX_NORM)

    hints = {
        "the gradient of the first step is still there: optimizer.zero_grad() is missing": added,
        "only one step was taken": lambda: step(before),
    }
    compare(after, step(step(before)), hints, "the language model after two steps")
    batches = [
        batch_of(key, lines, [], LANGUAGE)
        for lines in (["le chat dort bien", "le chat"], ["bien noir le"], ["chat", "dort bien", "noir"])
    ]
    expected = before
    hints = {
        "only the first batch was trained on": lambda: step_on(key, before, batches[:1]),
        "the last batch was left out": lambda: step_on(key, before, batches[:-1]),
    }
    for batch in batches:
        expected = step_on(key, expected, [batch])
    after = stepped(student, submission, inside, before, batches, LANGUAGE)
    compare(after, expected, hints, "the model after three batches")


@number("T3")
@weight(2)
def test_loss_falls_on_a_repeating_corpus(student: Any, key: Any, submission: Any, inside: Any) -> None:
    """Your own model, trained by your own step, learns a sentence by heart in thirty steps."""
    model = student.Model.keep(V, 2, 16, 1, V, 0.0)
    lines = ["le chat noir dort bien"] * 2
    batch = batch_of(key, lines, [], LANGUAGE)
    loader = inside.Loader.keep([batch], 30)
    own = student.generate_square_subsequent_mask if "generate_square_subsequent_mask" in student else None
    before, weights = float(inside.loss_of(model, loader, own, 1)), inside.parameters(model)
    optimizer = inside.adam.keep(model, 0.02)
    run_epoch(
        student,
        submission,
        inside,
        model,
        optimizer,
        loader,
        LANGUAGE,
        "".join(f"{line}\n" for line in lines),
    )
    after = float(inside.loss_of(model, loader, own, 1))
    if not after < 0.6 * before:
        check_rate(inside, optimizer, 0.02)
    assert after < 0.6 * before, (
        f"After 30 steps on one sentence the loss is {after:.2f}; it was {before:.2f}; expected below "
        f"{0.6 * before:.2f}. Do the steps reach the model's parameters, and do the targets belong to the outputs?"
    )
    trained = inside.parameters(model)
    same = [name for name, value in weights.items() if np.ndim(value) > 1 and np.array_equal(value, trained[name])]
    assert not same, (
        f"After 30 steps `{same[0]}` of your model is what it was: its gradient never arrives. Look for detach(), "
        "torch.no_grad() or requires_grad = False between it and the scores."
    )


@number("T3")
@weight(1)
@visibility("after_published")
def test_steps_on_random_batches(
    student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator
) -> None:
    """Random documents, other ids and other criteria; a classifier may read the last position or the last token.

    Try a batch of one item, many pads with another id than 1, and a criterion that is half the cross entropy, and
    compare the loss with the mean that the handout states.
    """
    pad = OTHER_IDS["<pad>"]
    for task, is_long in itertools.product((LANGUAGE, CLASSES), (True, False)):
        lengths, labels = [3, 6, 4, 6], [1, 0, 0, 1]
        lines = [" ".join(["le", "chat", *rng.choice(WORDS[4:], size=length - 2)]) for length in lengths]
        source, target = batch = batch_of(key, lines, labels, task, OTHER_IDS)
        before = drawn(key, rng, batch, task, is_long=is_long, pad=pad)
        factor = 1 if is_long else 0.5  # clipping would hide it
        scaled = {"learning_rate": factor * RATE, "max_norm": MAX_NORM / factor}
        after = stepped(student, submission, inside, before, [batch], task, OTHER_IDS, factor)
        if task == LANGUAGE:
            compare(after, key.training_step(before, source, target, ignored=pad, **scaled))
            continue
        last_position, last_token = [6] * 4, lengths
        one, other = (
            key.training_step(before, source, target, positions=read, **scaled) for read in (last_position, last_token)
        )
        is_one = all(np.allclose(found, wanted, atol=1e-4) for found, wanted in zip(after, one, strict=True))
        compare(after, one if is_one else other)


def step_on(key: Any, parts: Parts, batches: Sequence[Batch]) -> Parts:
    """Return the language model after a step on each batch."""
    for source, target in batches:
        parts = key.training_step(parts, source, target, ignored=1, learning_rate=RATE)
    return parts


def stepped(
    student: Any,
    submission: Any,
    inside: Any,
    before: Parts,
    batches: Sequence[Batch],
    task: str,
    token2ind: dict[str, int] = TOKEN2IND,
    factor: float = 1,
) -> list[Array]:
    """Return the parameters of the known model after the student has trained it on these batches.

    The criterion is so many times the cross entropy.
    """
    model, loader = inside.PrefixMean.keep(*before, "evaluation"), inside.Loader.keep(list(batches))
    model.eval()  # as it is left when accuracy was measured after the last epoch
    optimizer = inside.plain_descent.keep(model, RATE)
    run_epoch(student, submission, inside, model, optimizer, loader, task, "", token2ind, factor)
    found = [np.asarray(part, dtype=np.float64) for part in model.parts()]
    if all(old.shape == new.shape and np.allclose(old, new) for old, new in zip(before, found, strict=False)):
        check_rate(inside, optimizer, RATE)
    assert not inside.asked_without_mask(model), (
        f"With task={task!r} the model was called without the square mask (with None, or with a mask whose entries are"
        " all equal): a real model's last position then reads states that have seen what comes after them."
    )
    return found


def run_epoch(
    student: Any,
    submission: Any,
    inside: Any,
    model: Any,
    optimizer: Any,
    loader: Any,
    task: str,
    corpus: str,
    token2ind: dict[str, int] = TOKEN2IND,
    factor: float = 1,
) -> None:
    """Train on every batch of the loader once, by `train_step` or by the lab's `train`."""
    world = {
        "model": model,
        "optimizer": optimizer,
        "criterion": inside.criterion.keep(token2ind["<pad>"] if task == LANGUAGE else None, factor),
        "device": inside.cpu.keep(),
        "token2ind": token2ind,
        "ind2token": {index: word for word, index in token2ind.items()},
    }
    submission.set(**world, ntokens=V, nhid=D, get_loader=inside.get_loader.keep(loader))
    if "train_step" in student:
        inside.steps(student.train_step, loader, task, world)
        return
    submission.put("documents.txt", corpus.encode())
    submission.put("labels.txt", b"")
    known = {**world, "task": task, "log_interval": 1000, "save_interval": -1, "data_loader": loader, "loader": loader}
    inside.ask(student.train, ("documents.txt", "labels.txt" if task == CLASSES else None), known)


def check_rate(inside: Any, optimizer: Any, given: float) -> None:
    """Raise if nothing was learned because the learning rate is 0, or next to it."""
    rate = max(float(rate) for rate in inside.rates_of(optimizer))
    assert rate > 1e-3 * given, (
        f"Nothing changed: the optimizer's learning rate was {given:g} and is {rate:g} after your training. Does a "
        "scheduler begin anew in every step? Do the steps reach the model's parameters?"
    )


def compare(
    after: Sequence[Array], expected: Parts, hints: dict[str, Callable[[], Any]] | None = None, name: str = ""
) -> None:
    """Compare parameters part by part, so that a message can say which part differs."""
    parts = ("embedding", "weight of the head", "bias of the head")

    def named(values: Any) -> dict[str, Any]:
        return dict(zip(parts, values, strict=True))

    lazy = {hint: (lambda mistake=mistake: named(mistake())) for hint, mistake in (hints or {}).items()}
    assert len(after) == len(parts), "The model lost its parameters while it was trained."
    agree(named(after), named(expected), hints=lazy, atol=1e-4, name=name or "the model")


def step_name(name: str, before: Parts, after: Sequence[Array], expected: Parts) -> str:
    """Return the name with how long the step is, and whether it goes in the right direction."""
    if any(np.shape(old) != np.shape(new) for old, new in zip(before, after, strict=False)):
        return name
    taken, right = (
        np.concatenate([np.ravel(new - old) for old, new in zip(before, parts, strict=True)])
        for parts in (after, expected)
    )
    lengths = float(np.linalg.norm(taken)), float(np.linalg.norm(right))
    cosine = float(taken @ right) / max(lengths[0] * lengths[1], 1e-12)
    where = "in the right direction" if cosine > 0.9999 else f"in another direction (cosine {cosine:.3f})"
    yours = "nothing changed" if lengths[0] < 1e-5 else f"yours is {lengths[0]:.3g} long, {where}"
    return f"{name} of SGD with learning rate {RATE} ({yours}; expected a step of length {lengths[1]:.3g})"


def batch_of(
    key: Any, lines: Sequence[str], labels: Sequence[int], task: str, token2ind: dict[str, int] = TOKEN2IND
) -> Batch:
    """Documents as the lab's collator gives them."""
    items = key.items([line.split() for line in lines], labels, token2ind, 512, task)
    batch: Batch = key.collate(items, token2ind["<pad>"])
    return batch


def drawn(
    key: Any,
    rng: np.random.Generator,
    batch: Batch,
    task: str,
    *,
    is_long: bool = True,
    pad: int = TOKEN2IND["<pad>"],
) -> Parts:
    """Parameters with a gradient on this batch that is long enough to be clipped, or far too short.

    If there are any, a quarter of it is long enough as well: then only the short one shows that it was scaled.
    """
    source, target = batch
    n_out = V if task == LANGUAGE else 2
    positions = None if task == LANGUAGE else [len(source) - 1] * source.shape[1]
    ignored = pad if task == LANGUAGE else None
    tries = 0
    while True:
        tries += 1
        embedding, weight, bias = (rng.standard_normal(shape) for shape in ((V, D), (n_out, D), n_out))
        if task == LANGUAGE and not is_long:  # such a model already knows how frequent the words are
            frequent = np.log(np.bincount(target[target != pad], minlength=n_out) + 0.1)
            model = key.PrefixMean(embedding / 3, weight / 3, frequent + bias / 10)
        else:
            model = key.PrefixMean(embedding, 2 * weight, bias)
        free = key.training_step(
            model, source, target, positions=positions, ignored=ignored, learning_rate=1, max_norm=1e9
        )
        norm = np.sqrt(sum(float(np.square(old - new).sum()) for old, new in zip(model, free, strict=True)))
        if norm > (4.4 if tries <= 40 else 2) * MAX_NORM if is_long else 0.05 < norm < MAX_NORM / 2.5:
            return model


def lengths_mistakes(before: Parts, after: Parts) -> dict[str, Callable[[], Any]]:
    """Return what a gradient gives that is right up to a factor, which clipping hides as long as it is long."""

    def times(factor: float) -> Callable[[], Any]:
        return lambda: tuple(old + factor * (new - old) for old, new in zip(before, after, strict=True))

    return {
        "a gradient shorter than 0.5 is stretched; clipping leaves it as it is": times(
            MAX_NORM / norm_of(before, after)
        ),
        **{
            f"the gradient is {factor} times as long as that of criterion(scores, target)": times(float(factor))
            for factor in map(Fraction, ("2", "3", "4", "6", "18", "1/2", "1/3", "1/4", "1/18"))
        },
    }


def norm_of(before: Parts, after: Parts) -> float:
    """Return the length of the gradient that a step without clipping has followed."""
    return float(np.sqrt(sum(float(np.square(o - n).sum()) for o, n in zip(before, after, strict=True)))) / RATE


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def language_mistakes(
    key: Any, before: Parts, source: NDArray[np.int64], target: NDArray[np.int64]
) -> dict[str, Callable[[], Any]]:
    def step(target: NDArray[np.int64] = target, **options: Any) -> Any:
        return key.training_step(before, source, target, **{"ignored": 1, "learning_rate": RATE, **options})

    def softmax_twice() -> Any:
        return key.descended(before, language_gradient(key, before, source, target, twice=True), RATE, MAX_NORM)

    return {
        "nothing changed: is loss.backward() or optimizer.step() missing, or does a copy of the model learn?": lambda: (
            before
        ),
        "the model was still in evaluation mode, without dropout: call model.train()": lambda: turned(
            key, key.training_step(turned(key, before), source, target, ignored=1, learning_rate=RATE)
        ),
        "the gradient is not clipped to norm 0.5": lambda: step(max_norm=1e9),
        "each number of the gradient is clipped to 0.5; clip its norm": lambda: by_value(
            key, before, step(max_norm=1e9)
        ),
        "the mask is not used, so the model sees what it is to predict": lambda: step(causal=False),
        "softmax is taken before the cross entropy, which takes it itself": softmax_twice,
        "the target is the source itself, not what follows": lambda: step(source.reshape(-1)),
        "scores and targets are put into a row in different orders": lambda: step(
            target.reshape(source.shape).T.reshape(-1)
        ),
        "<pad> counts as a target; the criterion leaves it out": lambda: step(ignored=None),
        "the targets are shifted a second time": lambda: step(shifted(target.reshape(source.shape))),
    }


def classification_mistakes(
    key: Any, before: Parts, source: NDArray[np.int64], target: NDArray[np.int64]
) -> dict[str, Callable[[], Any]]:
    length, batch = source.shape

    def step(position: int = -1, **options: Any) -> Any:
        positions = [position % length] * batch
        return key.training_step(before, source, target, **{"positions": positions, "learning_rate": RATE, **options})

    def by(upstream: Callable[[Array], Array]) -> Any:
        scores = key.logits(before, source)
        return key.descended(before, key.gradients(before, source, upstream(scores)), RATE, MAX_NORM)

    def everywhere(scores: Array) -> Array:
        _, flat = key.cross_entropy(scores.reshape(-1, 2), np.tile(target, length))
        return np.asarray(flat).reshape(scores.shape)

    def averaged(scores: Array) -> Array:
        _, flat = key.cross_entropy(scores.mean(axis=0), target)
        return np.repeat(np.asarray(flat)[None] / length, length, axis=0)

    def softmax_twice(scores: Array) -> Array:
        upstream = np.zeros_like(scores)
        upstream[-1] = through_softmax(key, scores[-1], target, None)
        return upstream

    return {
        "nothing changed: is loss.backward() or optimizer.step() missing, or does a copy of the model learn?": lambda: (
            before
        ),
        "the first token is read, which has seen nothing but itself; read the last one": lambda: step(0),
        "every token is trained to give the label; read the last one": lambda: by(everywhere),
        "the mean over the tokens is read; read the last one": lambda: by(averaged),
        "the last token but one is read": lambda: step(-2),
        "the gradient is not clipped to norm 0.5": lambda: step(max_norm=1e9),
        "softmax is taken before the cross entropy, which takes it itself": lambda: by(softmax_twice),
        "label 1 is left out, because it is also the id of <pad>": lambda: step(ignored=1),
    }


def by_value(key: Any, before: Parts, free: Parts) -> Parts:
    """Return what a step gives whose gradient is clipped number by number, from the step without clipping."""
    moved = zip(before, free, strict=True)
    return key.PrefixMean(*(old - RATE * np.clip((old - new) / RATE, -MAX_NORM, MAX_NORM) for old, new in moved))


def language_gradient(
    key: Any, parts: Parts, source: NDArray[np.int64], target: NDArray[np.int64], *, twice: bool = False
) -> Any:
    """Return the gradient of the language model's loss, with softmax taken once or twice."""
    scores = key.logits(parts, source)
    rows = scores.reshape(-1, V)
    upstream = through_softmax(key, rows, target, 1) if twice else key.cross_entropy(rows, target, 1)[1]
    return key.gradients(parts, source, np.asarray(upstream).reshape(scores.shape))


def through_softmax(key: Any, scores: Array, target: NDArray[np.int64], ignored: int | None) -> Array:
    """Return the gradient of the cross entropy of probabilities that are taken for scores."""
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    _, g = key.cross_entropy(p, target, ignored)
    return np.asarray(p * (g - (p * g).sum(axis=1, keepdims=True)))


def turned(key: Any, parts: Parts) -> Parts:
    """Return the same model with all scores turned round."""
    embedding, weight, bias = parts
    return key.PrefixMean(embedding, -weight, -bias)


def shifted(target: NDArray[np.int64]) -> NDArray[np.int64]:
    """One position further, with pads behind."""
    return np.vstack([target[1:], np.full((1, target.shape[1]), 1)]).reshape(-1)
