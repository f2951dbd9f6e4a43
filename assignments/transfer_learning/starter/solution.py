"""Transfer learning: fill in the classes and functions; the handout says what each takes and returns.

The functions of T3 to T7 may leave out `model`, `optimizer`, `criterion` and `token2ind` and find them as globals.
"""

import torch
from torch import nn

# Question 1


def generate_square_subsequent_mask(sz):
    """-> mask (sz, sz): row i hides every position after i."""
    raise NotImplementedError


def positional_encoding(max_len, d):
    """-> table (max_len, d)."""
    raise NotImplementedError


class PositionalEncoding(nn.Module):
    def __init__(self, nhid, dropout=0.1, max_len=5000):
        super().__init__()
        raise NotImplementedError

    def forward(self, x):
        """(L, N, nhid) -> (L, N, nhid)."""
        raise NotImplementedError


# Question 2


class TransformerModel(nn.Module):
    def __init__(self, ntoken, nhead, nhid, nlayers, dropout=0.5):
        super().__init__()
        raise NotImplementedError

    def forward(self, src, src_mask):
        """Token ids (L, N), mask (L, L) -> (L, N, nhid)."""
        raise NotImplementedError


class ClassificationHead(nn.Module):
    def __init__(self, nhid, nclasses):
        super().__init__()
        raise NotImplementedError

    def forward(self, src):
        """(…, nhid) -> scores (…, nclasses)."""
        raise NotImplementedError


class Model(nn.Module):
    def __init__(self, ntoken, nhead, nhid, nlayers, nclasses, dropout=0.5):
        super().__init__()
        raise NotImplementedError                     # self.base = …, self.classifier = …

    def forward(self, src, src_mask):
        """Token ids (L, N), mask (L, L) -> scores (L, N, nclasses)."""
        raise NotImplementedError


# Question 3


def count_parameters(V, d, n_layers, n_heads, d_ff, n_out):
    """-> number of trainable parameters."""
    raise NotImplementedError


# T1 and T2


class Dataset(torch.utils.data.Dataset):
    def __init__(self, path_documents, path_labels=None, token2ind={}, max_len=512, task="language_modeling"):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def __getitem__(self, index):
        """-> {"source_sequence": ids, "target": ids, or a list of one label}."""
        raise NotImplementedError


def MyCollator(batch, token2ind):
    """List of items -> (source (L, N), target in one row)."""
    raise NotImplementedError


# T3


def train_step(model, optimizer, criterion, source, target, task):
    """One step on one batch; task is "language_modeling" or "classification"."""
    raise NotImplementedError


# T4 and T5


def infer_next_token(sentence, model, token2ind):
    """-> the most probable next token, or its id."""
    raise NotImplementedError


def infer_next_tokens(sentence, model, token2ind, ind2token, max_len=50):
    """-> the new tokens, up to <eos> or to max_len of them."""
    raise NotImplementedError


# T6


def evaluate_accuracy(data_loader, model):
    """-> share of right labels."""
    raise NotImplementedError


# T7


def load_pretrained(model, path):
    """Copies the base of the language model that was saved under `path` into model.base."""
    raise NotImplementedError
