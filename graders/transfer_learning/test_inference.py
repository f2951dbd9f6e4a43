"""Tasks T4, T5 and T6: what a trained model says next, and how often it is right."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import agree, number, visibility, weight

WORDS = ["le", "chat", "noir", "dort", "bien", "<eos>", "et", "<sos>", "la", "<oov>", "souris", "mange", "<pad>"]
"""The dictionary decides about ids, not a habit: 0 to 3 are common words."""
SPECIAL = [index for index, word in enumerate(WORDS) if word.startswith("<")]
COMMON = [index for index in range(len(WORDS)) if index not in SPECIAL]
TOKEN2IND = {word: index for index, word in enumerate(WORDS)}
IND2TOKEN = dict(enumerate(WORDS))
V, D, END, UNKNOWN = len(WORDS), 6, TOKEN2IND["<eos>"], TOKEN2IND["<oov>"]
IDS = f"token2ind here: {', '.join(f'{WORDS[index]} {index}' for index in SPECIAL)}"
"""What messages say about the dictionary."""
CLEAR = 2e-3
"""By how much the best score leads: rounding never decides."""
PROMPTS = ["le chat", "la souris mange", "bien"]
WINDOWS = (16, 20, 32, 35, 50, 64, 100, 128)
"""Lengths to which programs cut what the model reads."""


@number("T4")
@weight(3)
def test_next_token(student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator) -> None:
    """The most probable token after <sos> and the sentence, with dropout switched off."""
    for prompt in PROMPTS:
        model, ids = drawn_for_one_token(key, rng, prompt)
        hints = {name: WORDS[wrong] for name, wrong in next_mistakes(key, model, ids).items()}
        name, right = f"the token after {prompt!r} ({IDS})", WORDS[best(key, model, ids)]
        question = (student, "infer_next_token", submission, inside, model, [prompt], True)
        found = [word_of(one) for one in asked(*question)]
        if right not in found:
            check_same_again(found, [word_of(one) for one in asked(*question)], f"infer_next_token({prompt!r})")
        agree(right if right in found else found[0], right, hints=hints, name=name)
    for first in (END, UNKNOWN):
        model, _ = drawn_for_nothing(key, rng, PROMPTS[0], first)
        question = (student, "infer_next_token", submission, inside, model, PROMPTS[:1], True)
        found = [word_of(one) for one in asked(*question)]
        name = f"the token after {PROMPTS[0]!r} where {WORDS[first]} is the most probable one ({IDS})"
        agree(WORDS[first] if WORDS[first] in found else found[0], WORDS[first], name=name)


@number("T4")
@weight(1)
@visibility("after_published")
def test_next_tokens_of_random_models(
    student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator
) -> None:
    """Random models, sentences of one to eight tokens and a long one.

    Try sentences of one token, of eight and of 200, and check which position your prediction reads.
    """
    for length in (1, 4, 8, 200):
        prompt = " ".join(sorted(drawn_words(rng, length)))  # so that the beginning says what the end does not
        model, ids = drawn_for_one_token(key, rng, prompt)
        right = WORDS[best(key, model, ids)]
        found = [word_of(one) for one in asked(student, "infer_next_token", submission, inside, model, (prompt,), True)]
        agree(right if right in found else found[0], right)


@number("T5")
@weight(4)
def test_next_tokens(student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator) -> None:
    """The most probable token again and again, until <eos> or until max_len tokens are new."""
    for prompt, max_len, ends in [("le chat", 12, True), ("la souris mange", 8, False), ("bien", 9, True)]:
        model, ids = drawn_for_many(key, rng, prompt, max_len, ends=ends)
        check_many(student, key, submission, inside, model, ids, prompt, max_len, ends, is_told=True)
    model, ids = drawn_for_nothing(key, rng, "la souris dort")
    check_many(student, key, submission, inside, model, ids, "la souris dort", 8, True, is_told=True)


@number("T5")
@weight(1)
@visibility("after_published")
def test_continuations_of_random_models(
    student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator
) -> None:
    """Random models that end early, late and never; max_len is 50 if it is left out.

    Try a model that ends at once, one that never ends, other ids for <sos> and <eos>, and the default length.
    """
    for max_len, ends in [(8, True), (15, True), (6, False)]:
        prompt = " ".join(drawn_words(rng, 3))
        model, ids = drawn_for_many(key, rng, prompt, max_len, ends=ends)
        check_many(student, key, submission, inside, model, ids, prompt, max_len, ends)
    model, ids = drawn_for_many(key, rng, "la souris dort", 50, ends=False)
    check_many(student, key, submission, inside, model, ids, "la souris dort", None, False)


@number("T6")
@weight(4)
def test_accuracy(student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator) -> None:
    """The share of all examples of the loader that get their label, read at the last token."""
    for a, b, c in [(7, 7, 2), (6, 6, 4)]:
        model, batches, right = drawn_for_accuracy(key, rng, sizes=[a, b, c], lengths=[5, 3, 4])
        found, _, _ = evaluated(student, submission, inside, model, batches)
        hints = accuracy_mistakes(key, model, batches)
        counts = f"batches of {a}, {b} and {c} examples, of which {round((a + b + c) * right)} get their label"
        agree(found, right, hints=hints, name=f"the accuracy over {counts},")


@number("T6")
@weight(1)
@pytest.mark.depends("test_accuracy")
def test_evaluation_mode(student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator) -> None:
    """Dropout is off while accuracy is measured, and no gradient is followed."""
    model, batches, right = drawn_for_accuracy(key, rng, sizes=[3, 2], lengths=[4, 4])
    found, followed, without_mask = evaluated(student, submission, inside, model, batches, spoiled=True)
    hints = {"the model was still in training mode, with dropout: call model.eval()": 1 - right}
    agree(found, right, hints=hints, name="the accuracy of a model that was being trained")
    assert not without_mask, (
        "The model was called without the square mask (with None, or with a mask whose entries are all equal); it is "
        "model(source, src_mask) as in T3."
    )
    assert not followed, "Gradients were followed while accuracy was measured: put torch.no_grad() around it."


@number("T6")
@weight(1)
@visibility("after_published")
def test_accuracy_on_random_batches(
    student: Any, key: Any, submission: Any, inside: Any, rng: np.random.Generator
) -> None:
    """Random batches; with pads, the last position or the last token before them may be read.

    Try batches of different sizes, and a last batch with a single row.
    """
    for sizes in ([9, 9, 2], [1, 6], [7]):
        model, batches, right = drawn_for_accuracy(key, rng, sizes=sizes, lengths=[6] * len(sizes), padded=True)
        found, _, _ = evaluated(student, submission, inside, model, batches)
        other = key.accuracy(model, batches, last_tokens(batches))
        agree(found, other if abs(float(np.asarray(found).squeeze()) - right) > 1e-6 else right)


def asked(
    student: Any, name: str, submission: Any, inside: Any, model: Any, question: Sequence[Any], spoiled: bool = False
) -> list[Any]:
    """Return what a function of the lab says to a question, with the known model in the place of the trained one.

    Where it cuts the sentence with SentencePiece (the lab's `s`), it is asked a second time with a dictionary of
    pieces, whose words begin with `▁`, and says two things: the lab's code may rely on that mark.
    """
    found: list[Any] = []
    raised: list[BaseException] = []
    for with_mark in (False, True):
        known = world(student, submission, inside, model, spoiled, with_mark)
        call = inside.ask_each.call(student[name], [question], known)
        if call.raised is not None:
            raised.append(call.raised)
        else:
            if inside.asked_without_mask(known["model"]):
                raise AssertionError(
                    f"{name}: the model was called without the square mask (with None, or with a mask whose "
                    "entries are all equal); as in training, call model(source, mask)."
                )
            found.append(printed_words(call.printed) if call.value == [None] else call.value[0])
        if not inside.were_asked(known["s"]):
            break
    if not found:
        raise raised[0]
    return found


def evaluated(
    student: Any, submission: Any, inside: Any, model: Any, batches: Sequence[Any], *, spoiled: bool = False
) -> tuple[Any, bool, bool]:
    """What `evaluate_accuracy` returns, as a share; whether gradients were followed, and the mask was left out."""
    known = world(student, submission, inside, model, spoiled)
    found = inside.ask(student.evaluate_accuracy, (inside.Loader.keep(list(batches)),), known)
    value = np.asarray(found, dtype=np.float64) if isinstance(found, int | float | np.ndarray) else found
    percent = isinstance(value, np.ndarray) and value.size == 1 and 1 < float(value.squeeze()) <= 100
    model_asked = known["model"]
    return (value / 100 if percent else found), bool(model_asked.followed), inside.asked_without_mask(model_asked)


def world(
    student: Any, submission: Any, inside: Any, model: Any, spoiled: bool, with_mark: bool = False
) -> dict[str, Any]:
    """Return the globals of the lab, set and returned; the model is left in training mode, as after an epoch."""
    tokens = [f"▁{word}" if with_mark and index in COMMON else word for index, word in enumerate(WORDS)]
    pieces = inside.Pieces.keep("▁" if with_mark else "")
    known = {
        "model": inside.PrefixMean.keep(*model, "training" if spoiled else ""),
        "device": inside.cpu.keep(),
        "token2ind": {token: index for index, token in enumerate(tokens)},
        "ind2token": dict(enumerate(tokens)),
        "s": pieces,
    }
    also_called = {name: pieces for name in ("sp", "spm_model", "sp_model") if name not in student}
    submission.set(**known, **also_called, ntokens=V, nhid=D)
    return known


def printed_words(printed: str) -> str:
    """Return the last line that was printed; lines of known words come before a program's remarks about itself."""
    lines = printed.removesuffix("\n").split("\n")
    known = [line for line in lines if set(line.replace("▁", " ").split()) <= {*WORDS, ""}]
    return next((line for line in reversed(known) if line.strip()), "" if known else lines[-1])


def word_of(found: Any) -> Any:
    """Return a token, from an id, a token, or one of them with the scores (as the lab returns them)."""
    while isinstance(found, list | tuple) and found:
        found = found[0]
    if isinstance(found, np.ndarray):
        assert found.size == 1, f"infer_next_token returned an array of shape {found.shape}; expected one id."
        found = found.item()
    if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < V:
        return WORDS[found]
    return found.replace("▁", " ").strip() if isinstance(found, str) else found


def new_words(found: Any, prompt: str) -> list[str]:
    """Return the new tokens: without the prompt, `<sos>` and a final `<eos>`, from a text, tokens or ids."""
    if isinstance(found, tuple) and found and not isinstance(found[0], int):
        found = found[0]
    parts = [found] if isinstance(found, str) else list(np.asarray(found).reshape(-1)) if found is not None else []
    text = " ".join(str(part) if isinstance(part, str) else WORDS[int(part)] for part in parts)
    words = [word for word in text.replace("▁", " ").split() if word != "<sos>"]
    start = prompt.split()
    words = words[len(start) :] if words[: len(start)] == start else words
    return words[:-1] if words and words[-1] == "<eos>" else words


def check_many(
    student: Any,
    key: Any,
    submission: Any,
    inside: Any,
    model: Any,
    ids: Sequence[int],
    prompt: str,
    max_len: int | None,
    ends: bool,
    *,
    is_told: bool = False,
) -> None:
    """Ask for a continuation, of 50 tokens where no `max_len` is handed on, and compare it with greedy decoding."""
    longest = 50 if max_len is None else max_len
    expected = [WORDS[i] for i in key.next_tokens(model, ids, END, longest)]
    question = (prompt,) if max_len is None else (prompt, max_len)
    answers = asked(student, "infer_next_tokens", submission, inside, model, question, spoiled=True)
    found = [new_words(one, prompt) for one in answers]
    chosen = next((one for one in found if is_right(one, expected, prompt, longest, ends)), found[0])
    further = endless(key, model, ids, longest) if is_told else []
    embedding, weight, bias = model
    if is_told and not is_right(chosen, expected, prompt, longest, ends):
        answers = asked(student, "infer_next_tokens", submission, inside, model, question, spoiled=True)
        check_same_again(found, [new_words(one, prompt) for one in answers], f"infer_next_tokens{question}")
    turned = key.PrefixMean(embedding, -weight, -bias)
    spoiled = [WORDS[i] for i in key.next_tokens(turned, ids, END, longest)] if is_told else []
    in_training = new_words(spoiled, prompt)
    habits = habit_mistakes(key, model, ids, longest) if is_told else {}
    check_continuation(chosen, expected, prompt, longest, ends, further, in_training, habits)


def check_same_again(found: list[Any], again: list[Any], call: str) -> None:
    """Raise if two equal calls differ: then nothing else can be told from a wrong answer."""
    assert found == again, (
        f"Two equal calls of {call} returned {found[0]!r} and {again[0]!r}; expected the most probable token each "
        "time. Do not draw it, and keep nothing from call to call."
    )


def is_right(found: list[str], expected: list[str], prompt: str, max_len: int, ends: bool) -> bool:
    """Return whether the tokens are those of greedy decoding.

    Where the text does not end by itself, `max_len` may also count the prompt, or the prompt and `<sos>`.
    """
    size = len(prompt.split())
    counts = {len(expected)} if ends else {max_len, max_len - size, max_len - size - 1}
    return len(found) in counts and found == expected[: len(found)]


def check_continuation(
    found: list[str],
    expected: list[str],
    prompt: str,
    max_len: int,
    ends: bool,
    further: list[str],
    in_training: list[str],
    habits: Mapping[str, list[str]],
) -> None:
    """Raise with a sentence for the student unless the tokens are those that greedy decoding gives."""
    name = f"the list of tokens after {prompt!r} with max_len = {max_len} ({IDS})"
    if is_right(found, expected, prompt, max_len, ends):
        return
    hints: dict[str, Any] = {
        "decoding does not stop at <eos>": lambda: (
            (further[: len(found)] if len(found) > len(expected) else None) if ends else expected
        ),
        "one token too many; at most max_len are new": lambda: expected if ends else further[: max_len + 1],
        "one token too few; max_len are new": lambda: expected if ends else expected[:-1],
        "the first token again and again: the new one must be added to the sentence": lambda: (
            expected[:1] * max(2, len(found))
        ),
        "the sentence is left as it is": list,
        "the model was still in training mode, with dropout: call model.eval()": lambda: in_training,
        **habits,
    }
    agree(found, expected, hints=hints, name=name)


def best(key: Any, model: Any, ids: Sequence[int]) -> int:
    """Return the id of the best next token."""
    return int(np.argmax(scores_after(key, model, ids)))


def scores_after(key: Any, model: Any, ids: Sequence[int]) -> NDArray[np.float64]:
    """Return the scores of the next token, (V,)."""
    return np.asarray(key.logits(model, np.asarray(ids)[:, None])[-1, 0])


def endless(key: Any, model: Any, ids: Sequence[int], max_len: int) -> list[str]:
    """Return what decoding gives when nothing stops it, up to a little more than `max_len`."""
    return [WORDS[i] for i in key.next_tokens(model, ids, -1, max_len + 20)]


def prompt_ids(prompt: str) -> list[int]:
    """`<sos>` and the tokens."""
    return [TOKEN2IND["<sos>"], *(TOKEN2IND[word] for word in prompt.split())]


def drawn_words(rng: np.random.Generator, length: int) -> list[str]:
    """Common words."""
    return [WORDS[index] for index in rng.choice(COMMON, size=length)]


# Models are drawn until the known mistakes give other answers, and no score is a tie.


def drawn(key: Any, rng: np.random.Generator, n_out: int) -> Any:
    """Return a model; as a language model it does not say special tokens by itself."""
    embedding, weight = 2 * rng.standard_normal((V, D)), 2 * rng.standard_normal((n_out, D))
    bias = rng.standard_normal(n_out)
    if n_out == V:  # a third of the probability at most, so that a token that is drawn is another one
        weight, bias = weight / 15, bias / 15
        bias[SPECIAL] = -20.0
    return key.PrefixMean(embedding, weight, bias)


def is_clear(scores: NDArray[np.float64]) -> bool:
    """Return whether the best score leads."""
    second, first = np.sort(scores)[-2:]
    return bool(first - second > CLEAR)


def drawn_for_one_token(key: Any, rng: np.random.Generator, prompt: str) -> tuple[Any, list[int]]:
    ids = prompt_ids(prompt)
    wrong = next_mistakes if len(ids) <= min(WINDOWS) else window_mistakes
    while True:
        model = drawn(key, rng, V)
        if is_clear(scores_after(key, model, ids)) and best(key, model, ids) not in wrong(key, model, ids).values():
            return model, ids


def drawn_for_many(
    key: Any, rng: np.random.Generator, prompt: str, max_len: int, *, ends: bool
) -> tuple[Any, list[int]]:
    """Return a model that says two different tokens at least, and ends before `max_len` or never.

    A long text is another one where the end of it is all that is read.
    """
    ids = prompt_ids(prompt)
    while True:
        model = drawn(key, rng, V)
        if ends:
            model.bias[END] = rng.uniform(0, 1)
        new = said_clearly(key, model, ids, max_len, ends=ends)
        if new is None or len(set(new[:max_len])) < 2:
            continue
        if new[0] == ids[1]:  # it could be taken for the sentence, which many return as well
            continue
        if new in (key.next_tokens(model, ids[1:], END, max_len + 10), from_last_token(key, model, ids, max_len + 10)):
            continue
        windows = [n for n in WINDOWS if n < 0.8 * max_len]
        if any(from_window(key, model, ids, n, max_len) == new[:max_len] for n in windows):
            continue
        if new[:max_len] not in by_habit(key, model, ids, max_len):
            return model, ids


def said_clearly(key: Any, model: Any, ids: Sequence[int], max_len: int, *, ends: bool) -> list[int] | None:
    """Return what greedy decoding gives, up to a little more than `max_len`.

    None as soon as a best score of the first `max_len` does not lead, or the text ends too late or too early.
    """
    new: list[int] = []
    while len(new) < max_len + 10:
        scores = scores_after(key, model, [*ids, *new])
        if len(new) <= max_len and not is_clear(scores):
            return None
        found = int(np.argmax(scores))
        if found == END:
            return new if ends or len(new) > max_len else None
        new.append(found)
        if ends and len(new) > max_len - 3:
            return None
    return new


def drawn_for_nothing(key: Any, rng: np.random.Generator, prompt: str, first: int = END) -> tuple[Any, list[int]]:
    """Return a model that says `<eos>` at once, or another special token."""
    model, ids = drawn(key, rng, V), prompt_ids(prompt)
    model.bias[first] = 30.0
    return model, ids


def habit_mistakes(key: Any, model: Any, ids: Sequence[int], max_len: int) -> dict[str, list[str]]:
    first, end = ([WORDS[i] for i in said] for said in by_habit(key, model, ids, max_len))
    return {
        "the sentence begins with id 0; the id of <sos> is token2ind['<sos>']": first,
        "decoding stops at the id 2; the id of <eos> is token2ind['<eos>']": end,
    }


def by_habit(key: Any, model: Any, ids: Sequence[int], max_len: int) -> list[list[int]]:
    """Return what decoding gives where <sos> has the id 0, or <eos> the id 2, whatever the dictionary says."""
    other_end = key.next_tokens(model, ids, 2, max_len)
    return [
        key.next_tokens(model, [0, *ids[1:]], END, max_len),
        other_end[:-1] if other_end and other_end[-1] == END else other_end,
    ]


def from_last_token(key: Any, model: Any, ids: Sequence[int], max_len: int) -> list[int]:
    """Return what decoding gives where each token sees itself alone."""
    new: list[int] = []
    while len(new) < max_len and (found := best(key, model, [*ids, *new][-1:])) != END:
        new.append(found)
    return new


def from_window(key: Any, model: Any, ids: Sequence[int], n: int, max_len: int) -> list[int]:
    """Return what decoding gives where `<sos>` and the last n tokens are all that is read."""
    new: list[int] = []
    while len(new) < max_len:
        new.append(best(key, model, [ids[0], *[*ids[1:], *new][-n:]]))
    return new


def drawn_for_accuracy(
    key: Any, rng: np.random.Generator, *, sizes: list[int], lengths: list[int], padded: bool = False
) -> tuple[Any, list[tuple[Any, Any]], float]:
    """Return a model, batches and their accuracy, which the known mistakes do not give."""
    while True:
        model, batches = drawn(key, rng, 2), []
        for size, length in zip(sizes, lengths, strict=True):
            source = rng.choice(COMMON, (length, size))
            source[0] = TOKEN2IND["<sos>"]
            if padded and size > 1:
                source[length - 2 :, 0] = TOKEN2IND["<pad>"]
            batches.append((source, rng.integers(0, 2, size)))
        scores = np.concatenate([np.asarray(key.logits(model, source))[-3:].reshape(-1, 2) for source, _ in batches])
        if (np.abs(scores[:, 0] - scores[:, 1]) < CLEAR).any():
            continue
        right, accepted = (key.accuracy(model, batches, read(batches)) for read in (last_positions, last_tokens))
        if len(batches) > 2 and not padded and round(sum(sizes) * right) % 2 == 0:
            continue  # of 16 examples an odd number is right: the share has four decimals
        # 0 and 1 are what a program returns that reads nothing: they must point to no mistake.
        told = (right, accepted) if padded else (right, accepted, 0.0, 1.0)
        mistakes = accuracy_mistakes(key, model, batches).values() if len(batches) > 2 else ()
        wrong = (mistake() for mistake in mistakes) if mistakes else (1 - right,)
        if all(min(abs(value - one) for one in told) > 0.01 for value in wrong):
            return model, batches, float(right)


def last_positions(batches: Sequence[Any]) -> list[list[int]]:
    return [[len(source) - 1] * len(labels) for source, labels in batches]


def last_tokens(batches: Sequence[Any], pad: int = TOKEN2IND["<pad>"]) -> list[list[int]]:
    """Return the last position of each sequence that is not a pad."""
    return [((np.asarray(source) != pad).sum(axis=0) - 1).tolist() for source, _ in batches]


# What students get wrong.


def next_mistakes(key: Any, model: Any, ids: Sequence[int]) -> dict[str, int]:
    def at(ids: Sequence[int], position: int = -1) -> int:
        return int(np.argmax(np.asarray(key.logits(model, np.asarray(ids)[:, None]))[position, 0]))

    return {
        "the model was still in training mode, with dropout: call model.eval()": int(
            np.argmin(scores_after(key, model, ids))
        ),
        "the scores of the first position are read; the next token stands after the last": at(ids, 0),
        "<sos> is missing at the beginning": at(ids[1:]),
        "the last token sees itself alone: is the mask transposed?": at(ids[-1:]),
        "<eos> was put behind the sentence, so it is over": at([*ids, END]),
        "the sentence begins with id 0; the id of <sos> is token2ind['<sos>']": at([0, *ids[1:]]),
    }


def window_mistakes(key: Any, model: Any, ids: Sequence[int]) -> dict[str, int]:
    """Return what comes after the end of a long sentence alone."""
    return {
        f"the model sees {first}the last {n} tokens only": best(key, model, [*before, *ids[-n:]])
        for n in WINDOWS
        for first, before in (("", ()), ("<sos> and ", ids[:1]))
    }


def accuracy_mistakes(key: Any, model: Any, batches: Sequence[Any]) -> dict[str, Callable[[], float]]:
    def share(batch: Any, position: int = -1) -> float:
        source, labels = batch
        return float(key.accuracy(model, [batch], [[position % len(source)] * len(labels)]))

    sizes = [len(labels) for _, labels in batches]
    right = [share(batch) * size for batch, size in zip(batches, sizes, strict=True)]
    return {
        "the mean of the batches' accuracies; a small batch counts as much as a large one": lambda: float(
            np.mean([share(batch) for batch in batches])
        ),
        "divided by batches times the largest batch; the last one is smaller": lambda: (
            sum(right) / (len(batches) * max(sizes))
        ),
        "only the last batch counts": lambda: share(batches[-1]),
        "only the first batch counts": lambda: share(batches[0]),
        "the first token is read, which has seen nothing but itself; read the last one": lambda: float(
            np.average([share(batch, 0) for batch in batches], weights=sizes)
        ),
        "this is the share of wrong labels": lambda: 1 - sum(right) / sum(sizes),
        "divided by the number of batches": lambda: sum(right) / len(batches),
        "every example gets label 0": lambda: float(np.mean(np.concatenate([labels for _, labels in batches]) == 0)),
        "every example gets label 1": lambda: float(np.mean(np.concatenate([labels for _, labels in batches]) == 1)),
        "the last token sees itself alone: is the mask transposed?": lambda: share_of_last_tokens(key, model, batches),
        **{
            f"<pad> is taken for id {wrong}, so that another token is read than the last; it is token2ind['<pad>']": (
                functools.partial(key.accuracy, model, batches, last_tokens(batches, wrong))
            )
            for wrong in (0, 1)
        },
    }


def share_of_last_tokens(key: Any, model: Any, batches: Sequence[Any]) -> float:
    """Return the accuracy where each sequence is its last token."""
    alone = [(np.asarray(source)[-1:], labels) for source, labels in batches]
    return float(key.accuracy(model, alone, last_positions(alone)))
