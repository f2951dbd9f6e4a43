"""Adapting Transformers: fill in the functions; the handout says what each takes and returns."""

import numpy as np


# Question 2.1


def hard_attention(q, K, V):
    """Query (h,), keys (n, h), values (n, d) -> (d,)."""
    raise NotImplementedError


# Question 2.2


def copy_query(K, j):
    """Keys (n, h) and a position from 0 to n - 1 -> query (h,)."""
    raise NotImplementedError


def extraction_matrix(A_basis):
    """Orthonormal basis vectors as columns, (d, m) -> (d, d)."""
    raise NotImplementedError


def averaging_query(K, a, b):
    """Orthonormal keys (n, h) and two positions -> query (h,)."""
    raise NotImplementedError


# Question 3.1.3


def select_best(results):
    """List of runs, each {"lr": …, "epochs": …, "dev": …, "test": …} -> list of positions."""
    raise NotImplementedError


# Question 3.2


def head_params(d, C):
    """Hidden size, number of classes -> number of tuned parameters."""
    raise NotImplementedError


def prefix_params(l, d, C):
    """Length of the prefix, hidden size, number of classes -> number of tuned parameters."""
    raise NotImplementedError


# Questions 3.1.1 and 3.2.3: only if you do not submit base_classification.py and classification.py


def accuracy(logits, labels):
    """Scores (n, C) and labels (n,) -> the share of rows that are right."""
    raise NotImplementedError


def prepend_soft_prompt(embeddings, attention_mask, prompt):
    """Embeddings (batch, n, d), mask (batch, n) and prompt (l, d) -> embeddings and mask, both longer by l."""
    raise NotImplementedError
