"""Tasks T1 and T2: from documents to items, and from items to batches."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from viva.grading import agree, number, visibility, weight

Items = list[tuple[list[int], list[int]]]
TOKEN2IND = {"<oov>": 5, "noir": 0, "<eos>": 8, "dort": 1, "le": 2, "<sos>": 7, "chat": 3, "bien": 4, "<pad>": 6}
"""The dictionary decides about ids, not a habit: 0 to 3 are common words."""
GLOBAL = {"<sos>": 0, "<pad>": 1, "<eos>": 2, "<oov>": 3, "le": 4, "chat": 5, "noir": 6, "dort": 7, "bien": 8}
"""What the global `token2ind` is while a Dataset is handed another dictionary."""
AS_THEY_ARE = ["Le", "été", "ete", "▁bien", ",", "d'art", "<sep>", "l'", "bien.", "١"]
"""Tokens are looked up unchanged: with capitals, accents, marks of pieces and punctuation."""
LARGE = TOKEN2IND | {"bien": 300, "dort": 40_000, "le": 50_000, "<oov>": 33_211}
"""Ids of a real dictionary do not fit into 8 or 16 bits."""


@number("T1")
@weight(3)
def test_language_model_items(student: Any, key: Any, submission: Any, inside: Any) -> None:
    """The source is <sos> and the tokens, the target the tokens and <eos>: what follows each token of the source."""
    for lines, max_len in [
        (["le chat dort"], 512),
        (["le chien dort", "bien"], 512),
        (["le chat noir dort bien", "le chat noir dort"], 4),
    ]:
        documents = [line.split() for line in lines]
        found = items_of(student, submission, inside, documents, None, TOKEN2IND, max_len, "language_modeling")
        expected = key.items(documents, [], TOKEN2IND, max_len, "language_modeling")
        name = f"the items (source, target) of {' | '.join(lines)!r} with max_len = {max_len}, token2ind = {TOKEN2IND}"
        agree(found, expected, hints=item_mistakes(key, documents, max_len, expected), name=name)


@number("T1")
@weight(1)
@visibility("after_published")
def test_items_of_random_documents(
    student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator
) -> None:
    """Random documents for both tasks, other ids, tokens of all kinds, empty lines, too many tokens; the defaults.

    Try empty lines, tokens that the vocabulary lacks, with capitals or signs, documents that are too long, ids above
    32,767, and other ids for the special tokens.
    """
    for task in ("language_modeling", "classification"):
        documents, labels = drawn(rng, 8)
        documents[3], documents[5], labels[5] = [], documents[0], 1 - labels[0]
        found = items_of(student, submission, inside, documents, labels, LARGE, 7, task)
        expected = key.items(documents, labels, LARGE, 7, task)
        agree(len(found), len(expected))
        # whether an empty line holds no token, or one of no letters, is not asked
        agree([*found[:3], *found[4:]], [*expected[:3], *expected[4:]])
    check_tokens(student, key, submission, inside)
    long = [["le", "chat"] * 300]
    found = items_of(student, submission, inside, long, None, TOKEN2IND, None, None)
    agree(found, key.items(long, [], TOKEN2IND, 512, "language_modeling"))


@number("T2")
@weight(2)
def test_classification_items(student: Any, key: Any, submission: Any, inside: Any) -> None:
    """For a classifier the target is the label; the source is the same as for a language model."""
    documents, labels = [["le", "chat", "dort"], ["chien", "noir"]], [1, 0]
    found = items_of(student, submission, inside, documents, labels, TOKEN2IND, 512, "classification")
    expected = key.items(documents, labels, TOKEN2IND, 512, "classification")
    hints = {
        "unknown words are left out; they become <oov>": [([7, 2, 3, 1], [1]), ([7, 0], [0])],
        "the source ends with <eos>; it is only ever predicted": with_end(expected),
        "<sos> is missing at the beginning of the source": [(source[1:], target) for source, target in expected],
    }
    agree(found, expected, hints=hints, name=f"the items (source, target) of {documents} with token2ind = {TOKEN2IND}")


@number("T2")
@weight(2)
def test_collator(student: Any, key: Any, submission: Any, inside: Any) -> None:
    """Sources are padded at their end to one (L, N), time first; targets go into one row in the same order."""
    lines = ["le chat dort", "bien", "le chat noir dort bien", ""]
    for task in ("language_modeling", "classification"):
        pairs = key.items([line.split() for line in lines], [1, 0, 0, 1], TOKEN2IND, 6, task)
        source, target = collated(student, submission, inside, pairs, TOKEN2IND)
        expected = key.collate(pairs, TOKEN2IND["<pad>"])
        sources = [source for source, _ in pairs]
        of_task = f"of a batch for {task} with the sources {sources} and the id {TOKEN2IND['<pad>']} for <pad>"
        agree(source, expected[0], hints=source_mistakes(pairs, expected[0]), name=f"the source {of_task}")
        hints = {} if task == "classification" else target_mistakes(key, expected)
        agree(target, expected[1], hints=hints, name=f"the target {of_task}")


@number("T2")
@weight(1)
@visibility("after_published")
def test_batches_of_random_items(
    student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator
) -> None:
    """Random batches from one item to seven, with large ids and another one for <pad>.

    Try a batch of one item, items of equal length, ids above 32,767, and another id for <pad>.
    """
    for task, size in [("language_modeling", 1), ("language_modeling", 7), ("classification", 5)]:
        pairs = key.items(*drawn(rng, size), LARGE, 9, task)
        agree(list(collated(student, submission, inside, pairs, LARGE)), list(key.collate(pairs, LARGE["<pad>"])))


def check_tokens(student: Any, key: Any, submission: Any, inside: Any) -> None:
    """Raise unless each token is found by its own name and by no other."""
    known = {**TOKEN2IND, **{token: 100 + index for index, token in enumerate(AS_THEY_ARE[::2])}}
    documents = [AS_THEY_ARE, [token.swapcase() for token in AS_THEY_ARE], ["LE", "Chat", "le", "chat."]]
    found = items_of(student, submission, inside, documents, None, known, 512, "language_modeling")
    agree(found, key.items(documents, [], known, 512, "language_modeling"))


def items_of(
    student: Any,
    submission: Any,
    inside: Any,
    documents: Sequence[Sequence[str]],
    labels: Sequence[int] | None,
    token2ind: dict[str, int],
    max_len: int | None,
    task: str | None,
) -> Any:
    """The student's dataset over files with these documents and labels; None leaves an argument to its default."""
    submission.put("documents.txt", "".join(f"{' '.join(tokens)}\n" for tokens in documents).encode())
    submission.put("labels.txt", "".join(f"{label}\n" for label in labels or ()).encode())
    submission.set(token2ind=GLOBAL)  # the argument decides
    paths = ("documents.txt", "labels.txt" if labels is not None else None)
    given = {"token2ind": token2ind, "max_len": max_len, "task": task}
    known = {name: value for name, value in given.items() if value is not None}
    found = inside.items(inside.ask.keep(student.Dataset, paths, known))
    for ids in (ids for pair in found["items"] if isinstance(pair, list | tuple) for ids in pair):
        check_whole(ids, "an item of Dataset holds")
    assert not found["other"], (
        f"Asked again for item {found['other'][0]}, Dataset gives another item than the first time: does it change "
        "what it keeps?"
    )
    return found["items"]


def check_whole(ids: Any, what: str) -> None:
    """Raise unless ids and labels are whole numbers by their type too, as embedding and cross entropy want them."""
    if np.size(ids) and isinstance(ids, list | tuple | np.ndarray):
        kind = np.asarray(ids).dtype
        assert kind.kind not in "fcb", f"{what} ids or labels of type {kind}; expected whole numbers."


def collated(student: Any, submission: Any, inside: Any, pairs: Items, token2ind: dict[str, int]) -> tuple[Any, Any]:
    """Return the student's batch as (source, target in one row); the lab's collator finds `<pad>` in a global."""
    submission.set(token2ind=token2ind, ind2token={i: token for token, i in token2ind.items()})
    calls = (
        inside.ask.call(student.MyCollator, (items.keep(pairs),), {"token2ind": token2ind})
        for items in (inside.tensors, inside.lists, inside.arrays)  # as the student's own Dataset gives them
    )
    call = next(calls)
    if call.raised is not None:
        call = next((other for other in calls if other.raised is None), call)
    if call.raised is not None:
        raise call.raised
    found = call.value
    assert isinstance(found, list | tuple) and len(found) == 2, "MyCollator: expected the pair (source, target)."
    source, target = found
    for ids in found:
        check_whole(ids, "the batch holds")
    return source, np.asarray(target).reshape(-1)


def drawn(rng: np.random.Generator, size: int) -> tuple[list[list[str]], list[int]]:
    """Documents of 1 to 12 tokens, one in seven of them unknown, and their labels."""
    words = ["le", "chat", "noir", "dort", "bien", "le", "zèbre"]
    documents = [rng.choice(words, size=int(length)).tolist() for length in rng.integers(1, 13, size - 1)]
    return [["le", "zèbre", "noir"], *documents], rng.integers(0, 2, size).tolist()


def with_end(items: Items) -> Items:
    """Return the mistake to put `<eos>` behind every source."""
    return [([*source, TOKEN2IND["<eos>"]], target) for source, target in items]


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def item_mistakes(key: Any, documents: list[list[str]], max_len: int, right: Items) -> dict[str, Callable[[], Items]]:
    end, unknown = TOKEN2IND["<eos>"], TOKEN2IND["<oov>"]
    known = [[token for token in tokens if token in TOKEN2IND] for tokens in documents]
    return {
        "the source ends with <eos>; it is only ever predicted": lambda: with_end(right),
        "the source ends with <eos>, and the target with two of them": lambda: [
            ([*source, end], [*target, end]) for source, target in right
        ],
        "the target is the source itself; it must be one token ahead": lambda: [
            (source, source) for source, _ in right
        ],
        "<sos> is missing at the beginning of the source": lambda: [(source[1:], target) for source, target in right],
        "<sos> is missing at the beginning of the source, and the target starts a token late": lambda: [
            (source[1:], target[1:]) for source, target in right
        ],
        "<eos> is missing at the end of the target": lambda: [(source, target[:-1]) for source, target in right],
        "unknown words are left out; they become <oov>": lambda: key.items(known, [], TOKEN2IND, max_len, "language"),
        "unknown words become <pad>, not <oov>": lambda: [
            tuple([TOKEN2IND["<pad>"] if i == unknown else i for i in ids] for ids in pair) for pair in right
        ],
        "the global token2ind is read; the dictionary that Dataset is handed decides": lambda: key.items(
            documents, [], GLOBAL, max_len, "language"
        ),
        **id_mistakes(right),
        "documents are not cut to max_len - 1 tokens": lambda: key.items(documents, [], TOKEN2IND, 512, "language"),
    }


def id_mistakes(right: Items) -> dict[str, Callable[[], Any]]:
    """Return items with other ids for some tokens; targets of language models are ids as well."""

    def replaced(other: dict[int, int]) -> Any:
        return [tuple([other.get(i, i) for i in ids] for ids in pair) for pair in right]

    usual = {TOKEN2IND[token]: GLOBAL[token] for token in GLOBAL if token.startswith("<")}
    return {
        "the usual ids of special tokens are written down; look them up in token2ind": lambda: replaced(usual),
        "a word with the id 0 is taken for an unknown one": lambda: replaced({0: TOKEN2IND["<oov>"]}),
    }


def source_mistakes(pairs: Items, right: Any) -> dict[str, Callable[[], Any]]:
    longest, pad = len(right), TOKEN2IND["<pad>"]

    def padded(value: int, *, left: bool = False) -> Any:
        rows = [source for source, _ in pairs]
        fill = [[value] * (longest - len(row)) for row in rows]
        return np.array([[*f, *row] if left else [*row, *f] for row, f in zip(rows, fill, strict=True)]).T

    return {
        "the batch is the first axis (batch_first=True); expected (L, N), time first": lambda: right.T,
        "the pads stand at the beginning; they go to the end": lambda: padded(pad, left=True),
        "padded with 0; the id of <pad> is token2ind['<pad>']": lambda: padded(0),
        "padded with 1; the id of <pad> is token2ind['<pad>']": lambda: padded(1),
    }


def target_mistakes(key: Any, expected: tuple[Any, Any]) -> dict[str, Callable[[], Any]]:
    source, target = expected

    def padded(value: int) -> Any:
        return np.where(target == TOKEN2IND["<pad>"], value, target)

    return {
        "sequence after sequence; expected time first, as the scores (L, N, V) are flattened": lambda: target.reshape(
            source.shape
        ).T.reshape(-1),
        "padded with 0; the id of <pad> is token2ind['<pad>']": lambda: padded(0),
        "padded with 1; the id of <pad> is token2ind['<pad>']": lambda: padded(1),
        "this is the source": lambda: source.reshape(-1),
    }
