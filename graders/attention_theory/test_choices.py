"""Questions 1g, 1h and 1i: true or false, who is right, and which model suits which task."""

import re
from typing import Any

import pytest

from viva.grading import agree_choice, number, weight

TASKS = ["summary", "sentiment", "retrieval", "translation"]


@number("1g")
@weight(2)
def test_masked_autoencoders(submission: Any, key: Any) -> None:
    """Whether masking a token also replaces its positional encoding."""
    agree_choice(submission.answers["1g"], key.answers["1g"])


@number("1h")
@weight(2)
def test_who_is_right(submission: Any, key: Any) -> None:
    """Which of the two students is right about text without labels."""
    agree_choice(student_named(submission.answers["1h"]), key.answers["1h"])


@number("1i")
@weight(4)
@pytest.mark.parametrize("task", TASKS)
def test_which_model_suits_which_task(submission: Any, key: Any, task: str) -> None:
    """An encoder or an encoder-decoder model for each of the four tasks."""
    beside = [model_named(submission.answers.get(f"1i.{other}")) for other in TASKS if other != task]
    agree_choice(model_named(submission.answers[f"1i.{task}"]), key.answers[f"1i.{task}"], beside=beside)


def student_named(answer: Any) -> Any:
    """ "The first student, because …", "1" and "student A" as first or second; anything else as it is."""
    text = words(answer)
    found = re.search(r"\b(?:(first|1st|1|one|a|former)|(second|2nd|2|two|b|latter))\b", text)
    undecided = re.search(r"\b(?:both|neither|none|first\W{1,3}(?:(?:and|or)\W{1,3})?(?:the )?second)\b", text)
    if isinstance(answer, bool) or found is None or undecided:
        return answer
    return "first" if found[1] else "second"


def model_named(answer: Any) -> Any:
    """ "Seq2Seq", "S2S", "enc-dec", "encoder and decoder", "encoder only", "Enc" as encoder-decoder or encoder."""
    text = re.split(r"\b(?:not|rather|instead|because|since|as|like|such)\b|[(,;.:]", words(answer))[0]
    text = re.sub(r"\b(?:no|without)(?: an?| the)? decoder\b", "", text)
    squeezed = re.sub(r"[^a-z0-9]", "", text)
    if re.search(r"seq(?:uence)?s?(?:2|to)seq|^s2s|^ed$", squeezed):
        return "encoder-decoder"
    encoder, decoder = "enc" in squeezed, "dec" in squeezed
    if encoder or decoder:
        return "encoder-decoder" if encoder and decoder else "encoder" if encoder else "decoder"
    return answer


def words(answer: Any) -> str:
    """Lower case, with every dash as a hyphen."""
    return re.sub(r"[‐-―−]", "-", str(answer)[:300].lower()).removeprefix("the ").strip()
