"""BERT, LoRA and constrained generation: fill in the functions; the handout says what each takes and returns."""

import numpy as np


# Question 1a.i


def self_attention(X, W_Q, W_K, W_V, causal=False):
    """X (token, d), W_Q and W_K (d, d_k), W_V (d, d_v) -> (token, d_v)."""
    raise NotImplementedError


# Question 1a.ii


def mlm_corrupt(ids, special_mask, mask_id, V, p=0.15, rng=None):
    """ids and special_mask (token,) -> (inputs, labels), both (token,); -100 = not selected."""
    raise NotImplementedError


# Question 1b


def make_nsp_pairs(documents, rng):
    """Documents as lists of sentences -> list of (A, B, is_next)."""
    raise NotImplementedError


# Question 1c


def pack_single(tokens):
    """List of tokens -> (tokens with special ones, segment ids)."""
    raise NotImplementedError


def sentence_logits(H, W, b):
    """H (batch, token, d), W (class, d), b (class,) -> (batch, class)."""
    raise NotImplementedError


def classification_loss(logits, labels):
    """Logits (batch, class), labels (batch,) -> number."""
    raise NotImplementedError


# Question 1d


def token_logits(H, W, b):
    """H (batch, token, d), W (tag, d), b (tag,) -> (batch, token, tag)."""
    raise NotImplementedError


def align_labels(word_ids, word_labels):
    """The word of each token (None for special tokens), the label of each word -> label of each token, or -100."""
    raise NotImplementedError


def ner_loss(logits, labels, ignore_index=-100):
    """Logits (batch, token, tag), labels (batch, token) -> number."""
    raise NotImplementedError


# Question 1e.i


def pack_pair(question, passage):
    """Two lists of tokens -> (tokens with special ones, segment ids)."""
    raise NotImplementedError


# Question 1e.ii


def span_logits(H, w_s, w_e):
    """H (batch, token, d), w_s and w_e (d,) -> (start logits, end logits), each (batch, token)."""
    raise NotImplementedError


def span_ce(start_logits, end_logits, start, end):
    """Logits (batch, token), true positions (batch,) -> number."""
    raise NotImplementedError


# Question 1e.iii


def sliding_windows(n, max_len, stride):
    """-> list of (first token, first token after the window)."""
    raise NotImplementedError


def merge_spans(windows, start_logits, end_logits):
    """Windows, and for each the logits of its tokens -> (first token, last token) in the passage."""
    raise NotImplementedError


# Question 1f


def log_likelihood(step_fn, tokens):
    """step_fn(tokens so far) -> {next token: probability}; returns a number."""
    raise NotImplementedError


def pseudo_log_likelihood(fill_fn, tokens):
    """fill_fn(tokens, "[MASK]" among them) -> [{token: probability} for each position]; returns a number."""
    raise NotImplementedError


# Question 2a


class LoRALinear:
    """W (d, k), rank, alpha; forward(x) with x (batch, k) -> (batch, d). Make it a torch.nn.Module if you like."""

    def __init__(self, W, r, alpha):
        raise NotImplementedError


# Question 2b


def trainable_params(d, k, r):
    """-> whole number."""
    raise NotImplementedError


def optimizer_floats(kind, d, k, r=None, gradients=False):
    """kind "sgd" or "adam"; r=None means full fine-tuning -> whole number."""
    raise NotImplementedError


# Question 2c


def merge(W, A, B, alpha):
    """W (d, k), A (d, r), B (r, k) -> (d, k)."""
    raise NotImplementedError


# Question 2d


class AdapterRegistry:
    """One weight W (d, k) and the adapters that were accepted."""

    def __init__(self, W):
        raise NotImplementedError

    def accept(self, A, B, alpha):
        """A (d, r), B (r, k)."""

    def revert(self):
        """Take back the adapter that was accepted last."""

    def weight(self):
        """-> (d, k)."""


def storage_lora(N, M, d, k, r):
    """-> whole number."""
    raise NotImplementedError


def storage_full(N, M, d, k):
    """-> whole number."""
    raise NotImplementedError


# Question 3a


def posterior(p_lm, p_a):
    """p(x) and p(a | x), both (sentence,) -> p(x | a), (sentence,)."""
    raise NotImplementedError


# Question 3c


def best_of_n_distribution(p, score, n):
    """p and score (sentence,) -> (sentence,)."""
    raise NotImplementedError


def importance_resample(pool, scores, size, rng):
    """List of sentences, their scores -> list of `size` sentences."""
    raise NotImplementedError


# Question 3d


def fudge_step(p_next, p_a_given_prefix):
    """Both (vocabulary,) -> (vocabulary,)."""
    raise NotImplementedError


# Question 3e


def make_prefix_dataset(sentences, labels):
    """Lists of tokens, labels 0 or 1 -> list of (prefix, label)."""
    raise NotImplementedError


# Question 3f


def fudge_decode(step_fn, prefix_classifier, max_steps, rng):
    """step_fn(tokens) -> {next token: probability}, prefix_classifier(tokens) -> p(a | tokens); returns tokens."""
    raise NotImplementedError


def train_prefix_classifier(examples):
    """List of (prefix, label) -> function from a prefix to the probability of label 1."""
    raise NotImplementedError
