# %% one
import numpy as np

def mask_tokens(tokens, rate=0.15):
    chosen = np.random.rand(len(tokens)) < rate
    return ["[MASK]" if c else t for c, t in zip(chosen, tokens)]

def sample(probabilities, seed=None):
    return np.random.default_rng(seed).multinomial(1, probabilities).argmax()

# %% two
import random

def mask_tokens(tokens, rate=0.15):
    result = list(tokens)
    for i in range(len(tokens)):
        if random.uniform(0, 1) < rate:
            result[i] = "[MASK]"
    return result

def sample(probabilities, seed=None):
    return random.Random(seed).choices(range(len(probabilities)), weights=probabilities)[0]

# %% three
import numpy as np

def mask_tokens(tokens, rate=0.15):
    return [t if np.random.binomial(1, rate) == 0 else "[MASK]" for t in tokens]

def sample(probabilities, seed=None):
    u = np.random.default_rng(seed).random()
    return min(int(np.searchsorted(np.cumsum(probabilities), u, side="right")), len(probabilities) - 1)
