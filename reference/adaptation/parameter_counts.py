"""How many parameters each way of adapting a pretrained model tunes.

    linear head      d C + C      one layer on a token's state
    soft prompt      l d          Lester et al. (2021), "The Power of Scale", section 2 (peft: PromptTuning)
    prefix tuning    2 L l d      Li & Liang (2021), section 4: keys and values of every layer (peft: PrefixTuning)
    LoRA             r (d + k)    Hu et al. (2022), section 4.1: for a d x k matrix

The course calls "prefix" what Lester et al. call a prompt: vectors before the word embeddings; it tunes the head too.
"""


def head_params(d: int, C: int) -> int:
    """Count a linear layer from d numbers to C classes, with its bias."""
    return d * C + C


def prefix_params(l: int, d: int, C: int) -> int:  # noqa: E741  # the question's own letter
    """Count l trainable vectors of d numbers before the word embeddings, and the head: l d + d C + C."""
    return l * d + head_params(d, C)


def dense_head_params(d: int, C: int) -> int:
    """Count a d x d layer before the linear one, as in Roberta- and DistilBertForSequenceClassification."""
    return d * d + d + head_params(d, C)


def key_value_prefix_params(l: int, d: int, layers: int) -> int:  # noqa: E741
    """Count l keys and l values of d numbers in each layer, without a head (peft's PrefixTuning)."""
    return 2 * layers * l * d


def lora_params(d: int, n: int) -> int:
    """Count the two factors of rank n of the change of a d x d matrix."""
    return n * (d + d)
