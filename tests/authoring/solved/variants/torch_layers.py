# %% one
import torch
import torch.nn.functional as F

def positional_encoding(length, d):
    rows = []
    for t in range(length):
        row = []
        for i in range(d):
            angle = torch.tensor(t / 10000 ** (2 * (i // 2) / d))
            row.append(torch.sin(angle) if i % 2 == 0 else torch.cos(angle))
        rows.append(torch.stack(row) if row else torch.zeros(0))
    return torch.stack(rows) if rows else torch.zeros(0, d)

def label_smoothing_loss(logits, targets, epsilon=0.1):
    return F.cross_entropy(logits, targets, label_smoothing=epsilon)

# %% two
import numpy as np
import torch

def positional_encoding(length, d):
    t = np.arange(length)[:, None]
    i = np.arange(d)[None, :]
    angle = t / np.power(10000, 2 * (i // 2) / d)
    return torch.tensor(np.where(i % 2 == 0, np.sin(angle), np.cos(angle)), dtype=torch.float32)

def label_smoothing_loss(logits, targets, epsilon=0.1):
    n = logits.shape[1]
    soft = torch.full_like(logits, epsilon / n)
    soft[range(len(targets)), targets] += 1 - epsilon
    return -(soft * torch.log_softmax(logits, 1)).sum(1).mean()

# %% three
import torch
from torch import nn

def positional_encoding(length, d):
    position = torch.arange(length).float()
    table = torch.zeros((length, d))
    for i in range(0, d, 2):
        table[:, i] = torch.sin(position / 10000 ** (i / d))
        if i + 1 < d:
            table[:, i + 1] = torch.cos(position / 10000 ** (i / d))
    return table

def label_smoothing_loss(logits, targets, epsilon=0.1):
    return nn.CrossEntropyLoss(label_smoothing=epsilon)(logits, targets)
