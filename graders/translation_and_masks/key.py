"""The model answers of translation_and_masks, in the student's API, on top of `reference/`.

Two more functions take plain data where the student's are handed an object of the box (a step function, a feature map).
"""

from collections.abc import Sequence
from typing import Any

from reference.attention.groups import group_attention
from reference.attention.linear import (
    causal_linear_attention,
    elu_plus_one,
    linear_attention,
    unnormalised_linear_attention,
)
from reference.attention.scaled_dot_product import (
    Array,
    attention_scores,
    qk_moments,
    scaled_dot_product_attention,
    softmax_sensitivity,
)
from reference.attention.unilm_masks import Kind, unilm_mask
from reference.batching.length_sorted import length_sorted_batches
from reference.batching.padding import pad_batch
from reference.bert.span_scoring import best_span, choose_threshold, squad_exact_match, squad_f1
from reference.generation.beam_search import Hypothesis, beam_search, greedy_search
from reference.generation.bleu import bleu, brevity_penalty, modified_precision
from reference.pretraining.spanbert import (
    sample_span_length,
    span_boundary_representation,
    span_length_distribution,
    span_mask,
    spanbert_loss,
)

__all__ = [
    "answers",
    "attention_scores",
    "beam_search",
    "best_paths",
    "best_span",
    "bleu",
    "brevity_penalty",
    "causal_linear_attention",
    "choose_threshold",
    "greedy_search",
    "group_attention",
    "kernel_attention",
    "length_sorted_batches",
    "mask_for_bidirectional_lm",
    "mask_for_seq2seq_lm",
    "mask_for_unidirectional_lm",
    "modified_precision",
    "pad_batch",
    "qk_moments",
    "sample_span_length",
    "scaled_dot_product_attention",
    "softmax_sensitivity",
    "span_boundary_representation",
    "span_length_distribution",
    "span_mask",
    "spanbert_loss",
    "squad_exact_match",
    "squad_f1",
]

answers: dict[str, Any] = {
    "1.1": [[5, 11, 3, 17, 8], [9, 2, 0, 0, 0], [4, 6, 12, 0, 0]],
    "1.3.greedy": "ADG",
    "1.3.beam": ["BDG", "ADG"],
    "1.3.probability": 0.18,
    "1.4.P1": "11/12",
    "1.4.P2": "9/11",
    "1.4.P3": "8/10",
    "1.4.P4": "7/9",
    "1.4.BP": 1,
    "1.4.BLEU": 0.826517,
    "2.2.mean": "h * mu**2",
    "2.2.variance": "h * (sigma**4 + 2 * mu**2 * sigma**2)",
    "2.4": "n**2 / G",
    "3.2.encoder": "B",
    "3.2.decoder": "A",
    "3.2.encoder-decoder": "A",
    "3.2.summariser": "C",
    "3.3.unidirectional": unilm_mask("unidirectional", 5, 4),
    "3.3.bidirectional": unilm_mask("bidirectional", 5, 4),
    "3.3.sequence_to_sequence": unilm_mask("sequence_to_sequence", 5, 4),
}

with_full_stop = {
    "1.4.P1": 12 / 13,
    "1.4.P2": 10 / 12,
    "1.4.P3": 9 / 11,
    "1.4.P4": 8 / 10,
    "1.4.BP": 1.0,
    "1.4.BLEU": (12 / 13 * 10 / 12 * 9 / 11 * 8 / 10) ** 0.25,
}
"""The answers by hand to question 1.4 if the full stop counts as a token."""


def mask_for_unidirectional_lm(source_seg: Sequence[str], target_seg: Sequence[str]) -> Any:
    """Return the course's own name for the mask that hides the future; 0 = visible, 1 = masked."""
    return _mask("unidirectional", source_seg, target_seg)


def mask_for_bidirectional_lm(source_seg: Sequence[str], target_seg: Sequence[str]) -> Any:
    """Return the course's own name for the mask that hides nothing."""
    return _mask("bidirectional", source_seg, target_seg)


def mask_for_seq2seq_lm(source_seg: Sequence[str], target_seg: Sequence[str]) -> Any:
    """The course's own name for the mask that hides the target from the source, and its future from the target."""
    return _mask("sequence_to_sequence", source_seg, target_seg)


def _mask(kind: Kind, source_seg: Sequence[str], target_seg: Sequence[str]) -> Any:
    return unilm_mask(kind, len(source_seg), len(target_seg))


def best_paths(nodes: list[tuple[list[str], dict[str, float]]], beam_size: int, max_steps: int) -> list[Hypothesis]:
    """Beam search over a tree given as pairs of prefix and next-token probabilities."""
    table = {tuple(prefix): probabilities for prefix, probabilities in nodes}
    return beam_search(table.__getitem__, beam_size, max_steps)


def kernel_attention(Q: Array, K: Array, V: Array, *, causal: bool = False, normalised: bool = True) -> Array:
    """Linear attention with the feature map elu + 1."""
    if causal:
        return causal_linear_attention(Q, K, V, elu_plus_one)
    return (linear_attention if normalised else unnormalised_linear_attention)(Q, K, V, elu_plus_one)
