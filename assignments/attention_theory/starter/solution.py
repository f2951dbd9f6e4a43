"""Attention in theory: fill in the functions; the handout says what each takes and returns."""

import numpy as np


# Question 1a


def positional_encoding(max_len, d):
    """-> (max_len, d), sines in the even columns, cosines in the odd ones."""
    raise NotImplementedError


def self_attention(X, W_Q, W_K, W_V):
    """X (token, d), W_Q and W_K (d, d_k), W_V (d, d_v) -> (token, d_v)."""
    raise NotImplementedError


# Question 1b


def dot_add(x1, p1, x2, p2):
    """Vectors -> the dot product of x1 + p1 and x2 + p2."""
    raise NotImplementedError


def dot_concat(x1, p1, x2, p2):
    """Vectors -> the dot product of [x1, p1] and [x2, p2]."""
    raise NotImplementedError


# Question 1c.i


def attention_with_bias(Q, K, V, Pi):
    """Q (query, d), K (key, d), V (key, d_v), Pi (query, key) -> (query, d_v)."""
    raise NotImplementedError


def position_bias(Q_pos, K_pos):
    """Q_pos (query, d_pos), K_pos (key, d_pos) -> (query, key)."""
    raise NotImplementedError


# Question 1c.ii


def relative_bias_params(T, m, causal=False, clip=None):
    """Longest context, heads, whether j <= i only, largest distance -> number of biases of one layer."""
    raise NotImplementedError


# Question 1d


def multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads):
    """X (batch, token, d), matrices (d, d) -> (batch, token, d)."""
    raise NotImplementedError


# Question 1e


def argmax_receptive_field(T, n, k, pointers):
    """Positions, levels, heads, pointers[level][position][head] -> the T sizes at level n."""
    raise NotImplementedError


# Question 1f


def attention_flops(M, N, k):
    """Input length, output length, hidden dimension -> (encoder self-attention, cross-attention, decoder self-attention)."""
    raise NotImplementedError
