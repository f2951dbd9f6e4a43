"""Question 4 on our own data: the student's model, loading and training run on a language of two topics.

`fixtures/transfer_learning/data/make.py` explains the language and has made the documents and the pretrained weights;
the labels of the test documents stay here. `thresholds/measure.py` measured what right and wrong implementations reach.
"""

import functools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import number, weight
from viva.plugins import training

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "fixtures" / "transfer_learning" / "data"
LIMITS = training.thresholds("fine_tuning.json")
SPECIAL = ("<sos>", "<pad>", "<eos>", "<oov>")
NTOKEN, NHEAD, NHID, NLAYERS = 504, 2, 48, 2
TOKEN2IND = {word: index for index, word in enumerate([*SPECIAL, *(f"w{i:03}" for i in range(NTOKEN - len(SPECIAL)))])}
IND2TOKEN = {index: word for word, index in TOKEN2IND.items()}
EPOCHS, BATCH, RATE, DROPOUT = 2, 4, 2e-3, 0.5
"""Of fine-tuning; the dropout is the lab's default."""
LM_EPOCHS, LM_STEPS, LM_BATCH, LM_RATE = 2, 70, 32, 3e-3
ADAPTING_STEPS = 100
N_ASKED_ALONE = 200
"""Test documents that `evaluate_accuracy` is asked about one by one."""

Ids = NDArray[np.int64]


class Run(NamedTuple):
    """Two trainings that begin with the same head and read the same batches."""

    scratch: tuple[float, ...]
    """The accuracy on the test documents after each epoch, from random weights."""
    pretrained: tuple[float, ...]
    """The same on the pretrained base."""
    head: tuple[dict[str, Any], dict[str, Any]]
    """Parameters of the head of the latter, before and after."""

    @property
    def gaps(self) -> list[float]:
        """By how much the pretrained model is ahead, epoch by epoch."""
        return [after - before for before, after in zip(self.scratch, self.pretrained, strict=False)]


class Trainings:
    """What the student's code is asked to train, each once for all tests."""

    def __init__(self, student: Any, submission: Any, inside: Any) -> None:
        self._of = (student, submission, inside)
        self.language_model = functools.cache(lambda seed: pretrained(student, inside, seed))
        self.run = functools.cache(lambda seed: fine_tune(*self._of, self.language_model(seed), seed))


@pytest.fixture(scope="module")
def trainings(student: Any, submission: Any, inside: Any) -> Trainings:
    """The trainings of this submission."""
    return Trainings(student, submission, inside)


@number("4")
@weight(4)
@pytest.mark.training
@pytest.mark.timeout(120)
def test_pretrained_is_ahead_after_one_epoch(student: Any, inside: Any, trainings: Trainings) -> None:
    """On a small language of our own, your pretrained classifier is ahead after one epoch of your training."""
    training.judge(
        lambda seed: share_of_topics(student, inside, trainings.language_model(seed)),
        LIMITS["The share of documents whose topic the pretrained language model has seen"],
        help="The weights are right for the model of the handout: does your forward pass scale the embeddings and add "
        "the positions once?",
    )
    training.judge(
        lambda seed: trainings.run(seed).gaps[0],
        LIMITS["The gap after one epoch"],
        help="Does `load_pretrained` load the base, and do the steps reach the parameters?",
    )


@number("4")
@weight(3)
@pytest.mark.training
@pytest.mark.timeout(120)
def test_pretrained_is_ahead_at_the_end(trainings: Trainings) -> None:
    """At the end of your training it is still ahead, and its new head was trained as well."""
    first, last = LIMITS["The gap after one epoch"], LIMITS["The gap after two epochs"]
    run = trainings.run(training.SEEDS[0])
    training.draw("gap", run.gaps, {1: first.value, EPOCHS: last.value})
    training.judge(
        lambda seed: trainings.run(seed).gaps[-1],
        last,
        help="Does `load_pretrained` load the base, and do the steps reach the parameters?",
    )
    before, after = run.head
    assert any(not np.array_equal(before[name], after[name]) for name in before), (
        f"The head is the same after {EPOCHS} epochs of fine-tuning: it is new, so it must be trained. "
        "Are its parameters frozen (`requires_grad = False`)?"
    )


@number("4")
@weight(2)
@pytest.mark.training
@pytest.mark.timeout(60)
def test_predictions_depend_on_the_documents_alone(student: Any, submission: Any, inside: Any) -> None:
    """Asked again about the same documents with other labels beside them, your evaluation sees the same predictions."""
    training.judge(
        lambda seed: share_that_changes(student, submission, inside, seed),
        LIMITS["The share of predictions that change"],
        help="Is the label part of what the model reads (Dataset, MyCollator), or is dropout on (model.eval())?",
    )


@number("4")
@weight(3)
@pytest.mark.training
@pytest.mark.timeout(120)
def test_language_model_predicts_unseen_documents(student: Any, submission: Any, inside: Any) -> None:
    """Trained by your own step, your language model predicts the next word of documents that it has not seen."""
    training.judge(
        lambda seed: times_likelier(student, submission, inside, seed),
        LIMITS["How many times likelier than by chance the words of unseen documents are"],
        help="Do the steps reach the parameters, and is the mask used? Without it the model sees the word that it is "
        "to predict while it is trained.",
    )


def fine_tune(student: Any, submission: Any, inside: Any, language_model: Any, seed: int) -> Run:
    """Train a classifier from scratch and one on the pretrained base."""
    right = as_labels(digits()["test"])
    accuracies: dict[str, tuple[float, ...]] = {}
    head: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for start in ("scratch", "pretrained"):
        model = inside.seeded.keep(student.Model, seed, [NTOKEN, NHEAD, NHID, NLAYERS, 2, DROPOUT])
        if start == "pretrained":
            model = loaded(student, submission, inside, model, language_model)
        before = head_of(inside.parameters(model))
        optimizer = inside.adam.keep(model, RATE)
        order = np.random.default_rng(seed)
        epochs = training.epochs(
            EPOCHS,
            budget_s=40,
            name=start,
            curve=seed == training.SEEDS[0],
        )
        for epoch, predicted in classified(student, submission, inside, model, optimizer, order, epochs):
            epoch.record(accuracy=np.mean(predicted == right))
        accuracies[start], head = epochs.values("accuracy"), (before, head_of(inside.parameters(model)))
    return Run(accuracies["scratch"], accuracies["pretrained"], head)


def classified(
    student: Any,
    submission: Any,
    inside: Any,
    model: Any,
    optimizer: Any,
    order: np.random.Generator,
    epochs: Iterable[training.Epoch],
) -> Iterator[tuple[training.Epoch, Ids]]:
    """Train a classifier on the labelled documents; after each epoch, the topics (n,) of the test documents."""
    ids, labelled = documents(), as_labels(digits()["labelled"])
    tests = [source_of(part) for part in np.split(ids["test"], 4)]
    for epoch in epochs:
        parts = np.split(order.permutation(len(labelled)), len(labelled) // BATCH)
        loader = inside.Loader.keep([(source_of(ids["labelled"][part]), labelled[part]) for part in parts])
        train_once(student, submission, inside, model, optimizer, loader, "classification")
        scores = np.concatenate([np.asarray(x) for x in inside.last_scores(model, tests, own_mask(student))])
        yield epoch, scores.argmax(axis=1)


def pretrained(student: Any, inside: Any, seed: int) -> Any:
    """Return the student's own language model with the weights that the course has trained."""
    parts = np.split(documents()["unlabelled"][: ADAPTING_STEPS // 2 * LM_BATCH], ADAPTING_STEPS // 2) * 2
    batches = [(source_of(part), target_of(part)) for part in parts]
    sizes = [NTOKEN, NHEAD, NHID, NLAYERS, NTOKEN, 0.0]
    return inside.language_model.keep(student.Model, seed, sizes, weights(), batches, own_mask(student))


def loaded(student: Any, submission: Any, inside: Any, classifier: Any, language_model: Any) -> Any:
    """Return the classifier after the student's `load_pretrained` has loaded the language model."""
    inside.save(language_model, "language_model.pt")
    known = {"model": classifier, "device": inside.cpu.keep()}
    submission.set(**known, ntokens=NTOKEN, nhead=NHEAD, nhid=NHID, nlayers=NLAYERS, dropout=DROPOUT)
    return inside.load.keep(student.load_pretrained, "language_model.pt", known)


def share_that_changes(student: Any, submission: Any, inside: Any, seed: int) -> float:
    """Train through the student's data set and collator; return the share of predictions that change with the labels.

    The labels of the test documents are all 0 the first time and all 1 the second: no label enters the box.
    """
    ids, labels = documents(), digits()
    model = inside.seeded.keep(student.Model, seed, [NTOKEN, NHEAD, NHID, NLAYERS, 2, DROPOUT])
    optimizer = inside.adam.keep(model, RATE)
    data = dataset(student, submission, inside, ids["labelled"], labels["labelled"])
    rng = np.random.default_rng(seed)
    known = {"token2ind": TOKEN2IND, "ind2token": IND2TOKEN}
    for _ in training.epochs(EPOCHS, budget_s=20, name="through your data set", curve=False):
        order = rng.permutation(len(ids["labelled"])).reshape(-1, BATCH).tolist()
        loader = inside.batches_of.keep(data, student.MyCollator, order, known)
        train_once(student, submission, inside, model, optimizer, loader, "classification")
    predictions = []
    for label in (0, 1):
        data = dataset(student, submission, inside, ids["test"][:N_ASKED_ALONE], str(label) * N_ASKED_ALONE)
        alone = inside.batches_of.keep(data, student.MyCollator, [[i] for i in range(N_ASKED_ALONE)], known)
        world = known | {"model": model, "device": inside.cpu.keep()}
        found = np.asarray(inside.each_accuracy(student.evaluate_accuracy, alone, world), dtype=np.float64)
        assert found.shape == (N_ASKED_ALONE,), "evaluate_accuracy: expected one number for each loader."
        predictions.append(np.where(found > 0.5, label, 1 - label))
    return float(np.mean(predictions[0] != predictions[1]))


def dataset(student: Any, submission: Any, inside: Any, ids: Ids, labels: str) -> Any:
    """Return the student's data set of these documents, with a label for each."""
    lines = [" ".join(IND2TOKEN[index] for index in row) for row in ids.tolist()]
    submission.put("documents.txt", "".join(f"{line}\n" for line in lines).encode())
    submission.put("labels.txt", "".join(f"{label}\n" for label in labels).encode())
    submission.set(token2ind=TOKEN2IND, ind2token=IND2TOKEN)
    known = {"token2ind": TOKEN2IND, "max_len": 512, "task": "classification"}
    return inside.ask.keep(student.Dataset, ("documents.txt", "labels.txt"), known)


def times_likelier(student: Any, submission: Any, inside: Any, seed: int) -> float:
    """How a language model does that the student's step has trained; embedding and head are given.

    So a few seconds are enough for the layers, which have to find out what the beginning of a document is about.

    Returns:
        e to the power of log NTOKEN minus the loss: 1 for a model that knows nothing, whatever it is.
    """
    ids = documents()
    model = inside.seeded.keep(student.Model, seed, [NTOKEN, NHEAD, NHID, NLAYERS, NTOKEN, 0.0])
    model = inside.with_tables.keep(model, weights())
    optimizer = inside.adam.keep(model, LM_RATE)
    rng = np.random.default_rng(seed)
    for _ in training.epochs(LM_EPOCHS, budget_s=60, name="language model", curve=False):
        parts = np.split(rng.permutation(len(ids["unlabelled"]))[: LM_STEPS * LM_BATCH], LM_STEPS)
        batches = [(source_of(part), target_of(part)) for part in (ids["unlabelled"][part] for part in parts)]
        loader = inside.Loader.keep(batches)
        train_once(student, submission, inside, model, optimizer, loader, "language_modeling")
    return NTOKEN * float(np.exp(-loss_of(student, inside, model)))


def share_of_topics(student: Any, inside: Any, language_model: Any) -> float:
    """How often the words that the model expects after 16 words are, by their probability, of the document's topic."""
    p = next_words(student, inside, language_model, 16)[:, len(SPECIAL) :]  # (n, word)
    is_second = as_labels(digits()["words"]) == 1
    guessed = p[:, is_second].sum(axis=1) > p[:, ~is_second].sum(axis=1)
    return float(np.mean(guessed == as_labels(digits()["test"])))


def loss_of(student: Any, inside: Any, language_model: Any) -> float:
    """Return the mean cross entropy of the word that follows the beginnings of the test documents."""
    ids = documents()["test"]
    losses = []
    for length in (8, 16, 23):
        p = next_words(student, inside, language_model, length)
        losses.append(-np.mean(np.log(p[np.arange(len(ids)), ids[:, length]])))
    return float(np.mean(losses))


def next_words(student: Any, inside: Any, language_model: Any, length: int) -> NDArray[np.float64]:
    """Return the probabilities of what follows the beginnings of the test documents, (n, token).

    The box gets the beginnings alone and returns scores: nothing that follows is there to be seen.
    """
    ids = documents()["test"]
    [scores] = inside.last_scores(language_model, [source_of(ids[:, :length])], own_mask(student))
    rows = np.asarray(scores, dtype=np.float64)
    assert rows.shape == (len(ids), NTOKEN), (
        f"For {len(ids)} documents the language model gives scores of shape {rows.shape} at the last position; "
        f"expected {(len(ids), NTOKEN)}."
    )
    with np.errstate(all="ignore"):  # what is not a number stays so, and misses every threshold
        p = np.exp(rows - rows.max(axis=1, keepdims=True))
        return np.asarray(np.maximum(p / p.sum(axis=1, keepdims=True), 1e-12))


def train_once(student: Any, submission: Any, inside: Any, model: Any, optimizer: Any, loader: Any, task: str) -> None:
    """One epoch over the loader, by `train_step` or by the lab's `train`."""
    world = {
        "model": model,
        "optimizer": optimizer,
        "criterion": inside.criterion.keep(TOKEN2IND["<pad>"] if task == "language_modeling" else None),
        "device": inside.cpu.keep(),
        "token2ind": TOKEN2IND,
        "ind2token": IND2TOKEN,
    }
    submission.set(**world, ntokens=NTOKEN, nhid=NHID, get_loader=inside.get_loader.keep(loader))
    if "train_step" in student:
        inside.steps(student.train_step, loader, task, world)
        return
    submission.put("documents.txt", b"w000\n")
    submission.put("labels.txt", b"0\n")
    known = {**world, "task": task, "log_interval": 1000, "save_interval": -1, "data_loader": loader, "loader": loader}
    inside.ask(student.train, ("documents.txt", "labels.txt" if task == "classification" else None), known)


@functools.cache
def documents() -> dict[str, Ids]:
    """Token ids by name: labelled, test, unlabelled; (n, 24) each."""
    with np.load(DATA / "documents.npz") as file:
        return {name: file[name].astype(np.int64) for name in file.files}


@functools.cache
def weights() -> dict[str, NDArray[np.float32]]:
    """Return the weights of the language model, by the names of the lab's `Model`."""
    with np.load(DATA / "language_model.npz") as file:
        return {name: file[name].astype(np.float32) for name in file.files}


def source_of(ids: Ids) -> Ids:
    """`<sos>` and the words, time first."""
    return np.vstack([np.full((1, len(ids)), TOKEN2IND["<sos>"]), ids.T])


def target_of(ids: Ids) -> Ids:
    """Return the words and `<eos>`, time first, in one row."""
    return np.vstack([ids.T, np.full((1, len(ids)), TOKEN2IND["<eos>"])]).reshape(-1)


@functools.cache
def digits() -> dict[str, str]:
    """What only the examiner knows, a digit each: the labels of labelled and test documents, the topic of each word."""
    return dict(json.loads((HERE / "two_topics_labels.json").read_text("utf-8")))


def as_labels(text: str) -> Ids:
    """Labels from their digits."""
    return np.array([int(digit) for digit in text])


def own_mask(student: Any) -> Any:
    """Return the student's function for the mask, where it is not a method."""
    return student.generate_square_subsequent_mask if "generate_square_subsequent_mask" in student else None


def head_of(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters outside `.base`."""
    return {name: np.asarray(value) for name, value in parameters.items() if not name.startswith("base.")}
