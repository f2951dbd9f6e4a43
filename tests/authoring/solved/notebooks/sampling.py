# %% [markdown]
# # Random procedures

# %%
import random

import numpy as np

# %% [markdown]
# ## 1. Masking (5 points)

# %%
def mask_tokens(tokens, rate=0.15):
    """Replace each token by [MASK] with a probability."""
    return ["[MASK]" if random.random() < rate else token for token in tokens]

mask_tokens(["the", "cat", "sat"], 0.5)

# %% [markdown]
# ## 2. Sampling (5 points)

# %%
def sample(probabilities, seed=None):
    """Draw an index from a distribution."""
    rng = np.random.default_rng(seed)
    return int(rng.choice(len(probabilities), p=probabilities))

sample([0.2, 0.3, 0.5])
sample([0.5, 0.5])
