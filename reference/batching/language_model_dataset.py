"""What a language model and a classifier learn from a document: Radford et al. (2018), sections 3.1 and 3.2.

    document   w_1 … w_n
    source     <sos> w_1 … w_n
    target     w_1 … w_n <eos>            of a classifier: the label

Target t is the token after source t. `<eos>` is only ever predicted, so no source contains it.
"""

from collections.abc import Mapping, Sequence


def source_ids(tokens: Sequence[str], token2ind: Mapping[str, int], max_len: int) -> list[int]:
    """Return the ids of `<sos>` and the first max_len - 1 tokens; an unknown token has the id of `<oov>`."""
    unknown = token2ind["<oov>"]
    return [token2ind["<sos>"], *(token2ind.get(token, unknown) for token in tokens[: max_len - 1])]


def language_model_item(
    tokens: Sequence[str], token2ind: Mapping[str, int], max_len: int
) -> tuple[list[int], list[int]]:
    """Return source and target, equally long."""
    source = source_ids(tokens, token2ind, max_len)
    return source, [*source[1:], token2ind["<eos>"]]


def classification_item(
    tokens: Sequence[str], label: int, token2ind: Mapping[str, int], max_len: int
) -> tuple[list[int], list[int]]:
    """Return the source, and the label as a target of length 1."""
    return source_ids(tokens, token2ind, max_len), [label]
