# %% one
import numpy as np

def softmax(x):
    x = np.array(x, dtype=float)
    x -= np.max(x, -1)[..., None]
    return np.exp(x) / np.sum(np.exp(x), -1)[..., None]

def attention(q, k, v, causal=False):
    s = np.einsum("id,jd->ij", q, k) / q.shape[1] ** 0.5
    if causal:
        s[np.triu_indices(s.shape[0], 1, s.shape[1])] = -1e9
    w = softmax(s)
    return np.einsum("ij,jd->id", w, v), w

def one_hot(labels, n_classes):
    return np.eye(n_classes)[labels]

# %% two
import numpy

def softmax(x):
    shifted = x - numpy.max(x, axis=1).reshape(-1, 1)
    return numpy.exp(shifted - numpy.log(numpy.exp(shifted).sum(axis=1)).reshape(-1, 1))

def attention(q, k, v, causal=False):
    weights = []
    for i, row in enumerate(q):
        scores = numpy.array([row.dot(other) for other in k]) / numpy.sqrt(len(row))
        if causal:
            scores[i + 1:] = -1e9
        weights.append(softmax(scores.reshape(1, -1))[0])
    weights = numpy.array(weights)
    return weights.dot(v), weights

def one_hot(labels, n_classes):
    return [[float(label == c) for c in range(n_classes)] for label in labels]

# %% three
import math
import numpy as np

def softmax(x):
    rows = []
    for row in x:
        largest = max(row)
        powers = [math.exp(value - largest) for value in row]
        rows.append([p / sum(powers) for p in powers])
    return rows

def attention(q, k, v, causal=False):
    scores = (q / math.sqrt(q.shape[-1])) @ np.transpose(k)
    n, m = scores.shape
    allowed = np.arange(m)[None, :] <= np.arange(n)[:, None]
    scores = scores if not causal else np.where(allowed, scores, -1e9)
    w = np.array(softmax(scores))
    return w @ v, w

def one_hot(labels, n_classes):
    table = np.zeros((len(labels), n_classes), dtype=int)
    for row, label in zip(table, labels):
        row[label] = 1
    return table
