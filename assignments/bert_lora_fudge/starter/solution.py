"""BERT, LoRA and constrained generation: fill in the functions; the handout says what each takes and returns."""

import numpy as np


# Question 1


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
