"""How BERT reads one text or two: Devlin et al. (2019), "BERT", section 3 and figure 2.

[CLS] a_1 … a_n [SEP]                        segment 0
[CLS] a_1 … a_n [SEP] b_1 … b_m [SEP]        segment 0 up to and including the first [SEP], then segment 1
"""

from collections.abc import Sequence

CLS = "[CLS]"
SEP = "[SEP]"

Packed = tuple[list[str], list[int]]
"""Tokens, and the segment of each."""


def pack_single(tokens: Sequence[str]) -> Packed:
    """Pack one text for classification or tagging."""
    packed = [CLS, *tokens, SEP]
    return packed, [0] * len(packed)


def pack_pair(question: Sequence[str], passage: Sequence[str]) -> Packed:
    """Pack a question and a passage, or any two texts."""
    first, second = [CLS, *question, SEP], [*passage, SEP]
    return first + second, [0] * len(first) + [1] * len(second)
