"""Questions 3.2.2, 3.2.3 and 3.2.5: how many parameters are tuned."""

from typing import Any

from viva.grading import agree, agree_formula, number, weight

WITHOUT_BIAS = "the bias of the head is missing: one number per class"


@number("3.2.2")
@weight(1)
def test_head_by_hand(submission: Any, key: Any) -> None:
    """The parameters of the head for two classes, as a formula in d."""
    hints = {
        WITHOUT_BIAS: "2*d",
        "this is a head for one class": "d + 1",
        "each class has one bias, not one per input": "4*d",
        "this is the count for a head with a d × d layer; say so in 3.2.2.definition": "d**2 + 3*d + 2",
    }
    expected = key.counts_of_the_head[definition(submission, "3.2.2.definition")]
    agree_formula(submission.answers["3.2.2"], expected, {"d": (2.0, 1024.0)}, hints=hints)


@number("3.2.3")
@weight(2)
def test_prefix_by_hand(submission: Any, key: Any) -> None:
    """The parameters of 128 prefix vectors and the head for two classes, as a formula in d."""
    hints = {
        WITHOUT_BIAS: "130*d",
        "the head is tuned with the prefix": "128*d",
        "the weights of the head are missing": "128*d + 2",
        "the prefix has no bias": "130*d + 130",
        "there is one bias per class": "130*d + 1",
        "the weights of the head are d for each of two classes": "129*d + 2",
    }
    for formula in key.counts_of_the_prefix["B"] + key.counts_of_the_prefix["C"]:
        hints[f"{formula} counts another model; say which in 3.2.3.definition"] = formula
    variables = {"d": (2.0, 1024.0), "L": (1.0, 24.0)}
    expected = key.counts_of_the_prefix[definition(submission, "3.2.3.definition")]
    agree_formula(submission.answers["3.2.3"], expected[0], variables, accept=expected[1:], hints=hints)


@number("3.2.2")
@weight(1)
def test_head_params(student: Any, key: Any) -> None:
    """head_params(d, C) counts a linear layer with its bias."""
    for d, C in [(768, 2), (1, 1), (16, 3), (7, 5), (1000, 301)]:
        hints = {
            "the bias is missing: C more": d * C,
            "there is one bias per class, not per input": d * C + d,
            "there are two classes whatever C is": 2 * d + 2,
            "there is one bias, whatever C is": d * C + 1,
        }
        agree(student.head_params(d, C), key.head_params(d, C), hints=hints, name=f"head_params({d}, {C})")


@number("3.2.3")
@weight(1)
def test_prefix_params(student: Any, key: Any) -> None:
    """prefix_params(l, d, C) counts the prefix vectors and the head."""
    for length, d, C in [(128, 768, 2), (1, 1, 1), (5, 16, 3), (20, 7, 5), (301, 1000, 3)]:
        head = d * C + C
        hints = {
            "the head is tuned with the prefix": length * d,
            "the bias of the head is missing: C more": length * d + d * C,
            "the prefix has no bias": length * (d + 1) + head,
            "the prefix stands before the word embeddings only: one vector for each position": 2 * length * d + head,
            "the prefix has 128 vectors whatever l is": 128 * d + head,
        }
        name = f"prefix_params({length}, {d}, {C})"
        agree(student.prefix_params(length, d, C), key.prefix_params(length, d, C), hints=hints, name=name)


@number("3.2.5")
@weight(1)
def test_lora_by_hand(submission: Any, key: Any) -> None:
    """The parameters of LoRA with rank n for a d × d matrix, as a formula in d and n."""
    hints = {
        "this is one of the two factors": "d*n",
        "this is the whole matrix": "d**2",
        "the factors are multiplied, their sizes are not": "d**2*n**2",
        "the whole matrix is frozen": "d**2 + 2*d*n",
    }
    variables = {"d": (2.0, 1024.0), "n": (1.0, 64.0)}
    agree_formula(submission.answers["3.2.5"], key.answers["3.2.5"], variables, hints=hints)


def definition(submission: Any, question: str) -> str:
    """Return which model the student counts: the letter they state, A if they say nothing."""
    return str(submission.answers.get(question, "A"))
