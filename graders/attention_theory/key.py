"""The model answers of attention_theory, in the student's API, on top of `reference/`.

Further names are for the graders alone: weights that copy tokens, pointers that spread, and mistakes that are known.
"""

from typing import Any

from reference.attention.complexity import attention_flops
from reference.attention.multi_head import copying_weights, multi_head_attention
from reference.attention.position_terms import cross_terms, dot_add, dot_concat
from reference.attention.receptive_field import argmax_receptive_field, receptive_field_bound, spreading_pointers
from reference.attention.relative_bias import (
    attention_with_bias,
    position_bias,
    relative_bias_params,
    unnormalised_attention_with_bias,
)
from reference.attention.self_attention import self_attention
from reference.transformer.positional_encoding import positional_encoding

__all__ = [
    "answers",
    "argmax_receptive_field",
    "attention_flops",
    "attention_with_bias",
    "copying_weights",
    "cross_terms",
    "dot_add",
    "dot_concat",
    "multi_head_attention",
    "position_bias",
    "positional_encoding",
    "receptive_field_bound",
    "relative_bias_params",
    "self_attention",
    "spreading_pointers",
    "unnormalised_attention_with_bias",
]

answers: dict[str, Any] = {
    "1a.sentences": ["the cat sees the mouse", "the mouse sees the cat"],
    "1b.add": "x1*x2 + x1*p2 + p1*x2 + p1*p2",
    "1b.concat": "x1*x2 + p1*p2",
    "1c.scale": 1,
    "1c.ii": "(2*T - 1)*m",
    "1c.ii.clipped": "(2*k + 1)*m",
    "1c.ii.model": "",
    "1e.one": "2**n",
    "1e.two": "3**n",
    "1e.k": "(k + 1)**n",
    "1e.bound": 8,
    "1f.encoder": "O(M**2*k)",
    "1f.cross": "O(M*N*k)",
    "1f.decoder": "O(N**2*k)",
    "1g": "False",
    "1h": "first",
    "1i.summary": "encoder-decoder",
    "1i.sentiment": "encoder",
    "1i.retrieval": "encoder",
    "1i.translation": "encoder-decoder",
}
