"""Questions 1g, 1h and 1i: true or false, who is right, and which model suits which task."""

import re
from typing import Any

import pytest

from viva.grading import agree_choice, number, weight

SHORT = {"1": "first", "one": "first", "a": "first", "2": "second", "two": "second", "b": "second"}
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
    """ "The first student, because …", "1" and "student A" as first or second; anything else, and both, as it is."""
    if isinstance(answer, bool):
        return answer
    text = re.split(r"\b(?:because|since|as|for)\b", words(answer))[0]
    short = re.sub(r"\b(?:no|nr|number|student)\b|[^a-z0-9]", "", text)
    if short in SHORT:
        return SHORT[short]
    head, *remarks = re.split(r"[;:(]|\.\s", text)
    chosen = [head, *(r for r in remarks if re.fullmatch(r"\W*(?:the )?(?:first|second)(?: student)?\W*", r))]
    named = {side for part in chosen for clause in re.split(r",|\b(?:and|or|but|so)\b", part) for side in sides(clause)}
    undecided = len(named) != 1 or re.search(r"\b(?:both|neither|none)\b", text)
    return answer if undecided else named.pop()


def sides(clause: str) -> set[str]:
    """Return whom a clause says to be right: "the second is wrong" means the first."""
    pattern = r"\b(?:(first|1st|former|student (?:1|one|a))|(?:second|2nd|latter|student (?:2|two|b)))\b"
    refused = re.search(r"\b(?:is|was)(?: not|n't) right\b|\b(?:wrong|incorrect|mistaken)\b|^\W*not\b", clause)
    named = {(mention[1] is not None) != (refused is not None) for mention in re.finditer(pattern, clause)}
    named |= {(SHORT[name] == "first") != (refused is not None) for name in [clause.strip(" .)")] if name in SHORT}
    return {"first" if right else "second" for right in named}


def model_named(answer: Any) -> Any:
    """ "Seq2Seq", "S2S", "enc-dec", "encoder and decoder", "encoder only", "Enc" as encoder-decoder or encoder."""
    said = re.split(r"\b(?:not|rather|instead|because|since|as|like|such)\b|[(;.:]", words(answer))[0]
    if re.search(r",|\bor\b", said):
        named = {one_model(part) for part in re.split(r",|\bor\b", said)} - {None}
        if len(named) > 1:
            return answer  # two models, of which none is chosen
    text = said.split(",")[0]
    text = re.sub(r"\b(?:no|without)(?: an?| the)? decoder\b", "", text)
    squeezed = re.sub(r"[^a-z0-9]", "", text)
    if re.search(r"seq(?:uence)?s?(?:2|to)seq|^s2s|^ed$", squeezed):
        return "encoder-decoder"
    rest = re.sub(r"\benc(?:oder)?(?:[-+/&\s]|\band\b)*(?:an? |the )?dec(?:oder)?\b", " ", text)
    if rest != text and one_model(rest):
        return answer  # "encoder-decoder? encoder"
    encoder, decoder = "enc" in squeezed, "dec" in squeezed
    if encoder or decoder:
        return "encoder-decoder" if encoder and decoder else "encoder" if encoder else "decoder"
    remark = re.search(r"\(([^()]{1,40})\)", words(answer))
    return (remark and one_model(remark[1])) or answer  # "BERT (encoder)"


def one_model(part: str) -> str | None:
    """Return the model that a few words name and do nothing else, None for anything else."""
    name = re.sub(r"\b(?:an?|the|either|both|also|and|model|models|only|transformer)\b|[^a-z0-9]", "", part)
    if re.fullmatch(r"encoder|enc", name):
        return "encoder"
    if re.fullmatch(r"seq(?:uence)?s?(?:2|to)seq(?:uence)?s?|s2s|enc(?:oder)?dec(?:oder)?", name):
        return "encoder-decoder"
    return "decoder" if re.fullmatch(r"decoder|dec", name) else None


def words(answer: Any) -> str:
    """Lower case, with every dash as a hyphen."""
    return re.sub(r"[‐-―−]", "-", str(answer)[:300].lower()).removeprefix("the ").strip()
