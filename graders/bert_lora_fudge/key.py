"""The model answers of bert_lora_fudge, in the student's API, on top of `reference/`.

Some more functions take plain data where the student's are handed an object of the box (a step function, a classifier).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reference.adaptation.adapter_registry import AdapterRegistry
from reference.adaptation.lora import LoRALinear, merge
from reference.adaptation.storage import optimizer_floats, storage_full, storage_lora, trainable_params
from reference.attention.self_attention import self_attention
from reference.bert.cross_entropy import cross_entropy
from reference.bert.packing import pack_pair, pack_single
from reference.bert.question_answering import merge_spans, sliding_windows, span_ce, span_logits
from reference.bert.sentence_classifier import sentence_logits
from reference.bert.token_classifier import align_labels, token_logits
from reference.generation.fudge import (
    exact_prefix_classifier,
    fudge_decode,
    fudge_distribution,
    fudge_step,
    make_prefix_dataset,
    sentence_probabilities,
    train_prefix_classifier,
)
from reference.generation.posterior import (
    best_of_n_distribution,
    importance_resample,
    kl_divergence,
    posterior,
    total_variation,
)
from reference.pretraining.mlm import mlm_corrupt
from reference.pretraining.nsp import make_nsp_pairs
from reference.pretraining.pseudo_likelihood import Probabilities, log_likelihood, pseudo_log_likelihood

__all__ = [
    "AdapterRegistry",
    "LoRALinear",
    "align_labels",
    "answers",
    "best_of_n_distribution",
    "causal_log_probability",
    "classification_loss",
    "fudge_decode",
    "fudge_step",
    "guided_sentences",
    "importance_resample",
    "kl_divergence",
    "log_likelihood",
    "make_nsp_pairs",
    "make_prefix_dataset",
    "masked_log_probability",
    "merge",
    "merge_spans",
    "mlm_corrupt",
    "ner_loss",
    "optimizer_floats",
    "pack_pair",
    "pack_single",
    "posterior",
    "prefix_probabilities",
    "pseudo_log_likelihood",
    "self_attention",
    "sentence_logits",
    "sentences",
    "sliding_windows",
    "span_ce",
    "span_logits",
    "storage_full",
    "storage_lora",
    "token_logits",
    "total_variation",
    "train_prefix_classifier",
    "trainable_params",
]

answers: dict[str, Any] = {
    # Section 1
    "1a.ii.mask": 0.12,
    "1a.ii.random": 0.015,
    "1a.ii.kept": 0.015,
    "1c": "2*d + 2",
    # Sections 2 and 3
    "2b.trainable": "r*(d + k)",
    "2b.adam_full": "3*d*k",
    "2b.adam_lora": "d*k + 3*r*(d + k)",
    "2b.break_even": "d*k/(d + k)",
    "2c.inference": "d*k",
    "2c.per_task": "r*(d + k)",
    "2d.ii": "N*d*k + M*N*r*(d + k)",
    "2d.iii.full": "(M + 1)*N*d*k",
    "2d.iii.saving": "M*N*(d*k - r*(d + k))",
}


Prefix = tuple[Any, ...]
Nodes = list[tuple[list[str], dict[str, float]]]


def sentences(nodes: Nodes, max_steps: int) -> dict[Prefix, float]:
    """p(x) of every sentence of a language model given as pairs of prefix and next-token probabilities."""
    return sentence_probabilities(_table(nodes).__getitem__, max_steps)


def prefix_probabilities(nodes: Nodes, p_a: Mapping[Prefix, float], max_steps: int) -> dict[Prefix, float]:
    """p(a | prefix) of every prefix, from the empty one to the whole sentences, from p(a | x) of every sentence."""
    p_lm = sentences(nodes, max_steps)
    classify = exact_prefix_classifier(p_lm, p_a)
    return {x[:length]: classify(x[:length]) for x in p_lm for length in range(max_steps + 1)}


def guided_sentences(nodes: Nodes, p_a_given_prefix: Mapping[Prefix, float], max_steps: int) -> dict[Prefix, float]:
    """Return the probability of every sentence under FUDGE with a classifier given as a table."""
    return fudge_distribution(_table(nodes).__getitem__, p_a_given_prefix.__getitem__, max_steps)


def _table(nodes: Nodes) -> dict[Prefix, dict[str, float]]:
    return {tuple(prefix): probabilities for prefix, probabilities in nodes}


classification_loss = cross_entropy
ner_loss = cross_entropy


def causal_log_probability(nodes: Sequence[tuple[list[str], Probabilities]], tokens: Sequence[str]) -> float:
    """`log_likelihood` under a causal model given as pairs of prefix and next-token probabilities."""
    table = {tuple(prefix): probabilities for prefix, probabilities in nodes}
    return log_likelihood(lambda prefix: table[tuple(prefix)], tokens)


def masked_log_probability(rows: Sequence[tuple[list[str], Sequence[Probabilities]]], tokens: Sequence[str]) -> float:
    """`pseudo_log_likelihood` under a masked model given as pairs of sentence and probabilities at each position."""
    table = {tuple(sentence): probabilities for sentence, probabilities in rows}
    return pseudo_log_likelihood(lambda sentence: table[tuple(sentence)], tokens)
