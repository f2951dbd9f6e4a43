"""Translation and masks: fill in the functions; the handout says what each takes and returns."""

import numpy as np


# Question 1.1


def pad_batch(sequences, pad=0, side="right"):
    """Lists of token ids -> array (batch, longest)."""
    raise NotImplementedError


# Question 1.2


def length_sorted_batches(lengths, batch_size):
    """Lengths -> list of batches of indices, the longest sequences first."""
    raise NotImplementedError


# Question 1.3


def greedy_search(step_fn, max_steps):
    """step_fn(tokens) -> {next token: probability}; returns (tokens, log-probability)."""
    raise NotImplementedError


def beam_search(step_fn, beam_size, max_steps):
    """Returns at most beam_size pairs (tokens, log-probability), best first."""
    raise NotImplementedError


# Question 1.4


def modified_precision(candidate, references, n):
    """Tokens, list of tokens, order -> (clipped matches, number of n-grams)."""
    raise NotImplementedError


def brevity_penalty(candidate, references):
    """Tokens, list of tokens -> number."""
    raise NotImplementedError


def bleu(candidate, references, max_n=4):
    """Tokens, list of tokens -> number between 0 and 1, without smoothing."""
    raise NotImplementedError


# Question 2.1


def scaled_dot_product_attention(Q, K, V, mask=None):
    """Q (query, d_k), K (key, d_k), V (key, d_v), mask (query, key) with 1 = masked -> (query, d_v)."""
    raise NotImplementedError


def attention_scores(X, W_Q, W_K):
    """X (token, d), W_Q and W_K (d, d_k) -> (token, token), before softmax."""
    raise NotImplementedError


# Question 2.2


def qk_moments(mu, sigma, h):
    """-> (mean of q·k, variance of q·k)."""
    raise NotImplementedError


# Question 2.3


def linear_attention(Q, K, V, feature_map):
    """Q (query, d), K (key, d), V (key, d_v) -> (query, d_v)."""
    raise NotImplementedError


def causal_linear_attention(Q, K, V, feature_map):
    """Q and K (token, d), V (token, d_v) -> (token, d_v); token i sees tokens 0 … i."""
    raise NotImplementedError


# Question 2.4


def group_attention(Q, K, V, groups):
    """Q and K (token, d_k), V (token, d_v) -> (token, d_v); ValueError if the groups cannot be equal."""
    raise NotImplementedError


# Question 3.4


def mask_for_unidirectional_lm(source_seg, target_seg):
    """Lists of tokens -> (n, n), 0 = visible, 1 = masked."""
    raise NotImplementedError


def mask_for_bidirectional_lm(source_seg, target_seg):
    """Lists of tokens -> (n, n), 0 = visible, 1 = masked."""
    raise NotImplementedError


def mask_for_seq2seq_lm(source_seg, target_seg):
    """Lists of tokens -> (n, n), 0 = visible, 1 = masked."""
    raise NotImplementedError


# Question 4.1


def best_span(S, E, T, C, tau, max_len=None):
    """S, E, C (d,), T (token, d) -> (first, last) or None."""
    raise NotImplementedError


def squad_exact_match(prediction, golds):
    """Text, list of texts -> 0 or 1."""
    raise NotImplementedError


def squad_f1(prediction, golds):
    """Text, list of texts -> number between 0 and 1."""
    raise NotImplementedError


def choose_threshold(null_scores, span_scores, f1_null, f1_span):
    """Four arrays (question,) -> a threshold with the best mean F1."""
    raise NotImplementedError


# Question 4.2


def sample_span_length(p, max_length, rng):
    """-> whole number from 1 to max_length."""
    raise NotImplementedError


def span_mask(words, budget, p, max_length, rng):
    """Words as lists of subword tokens -> list of (first word, last word)."""
    raise NotImplementedError


def span_boundary_representation(X, start, end, P, W_1, W_2):
    """X (token, d), P (max_length, d), W_1 (3 d, d), W_2 (d, d) -> (end - start + 1, d)."""
    raise NotImplementedError


def spanbert_loss(mlm_logits, sbo_logits, targets, masked):
    """Logits (token, vocabulary), target ids (token,), masked positions -> number."""
    raise NotImplementedError
