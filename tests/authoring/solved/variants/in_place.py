# %% one
import numpy as np

def insertion_sort(items):
    items.sort()

def clip_gradients(gradients, largest=1.0):
    norm = np.linalg.norm(np.concatenate([g.ravel() for g in gradients] or [np.zeros(1)]))
    if norm > largest:
        for g in gradients:
            np.multiply(g, largest / norm, out=g)
    return norm

# %% two
import math

def insertion_sort(items):
    items[:] = sorted(items)

def clip_gradients(gradients, largest=1.0):
    total = 0.0
    for g in gradients:
        for value in g.flatten():
            total += value * value
    norm = math.sqrt(total)
    scale = min(1.0, largest / norm) if norm else 1.0
    for g in gradients:
        g[...] = g * scale
    return norm

# %% three
import numpy as np

def insertion_sort(items):
    for end in range(len(items) - 1, 0, -1):
        for i in range(end):
            if items[i] > items[i + 1]:
                items[i], items[i + 1] = items[i + 1], items[i]

def clip_gradients(gradients, largest=1.0):
    norm = sum(np.sum(np.square(g)) for g in gradients) ** 0.5
    if norm > largest:
        for i in range(len(gradients)):
            gradients[i] /= norm / largest if largest else np.inf
    return float(norm)
