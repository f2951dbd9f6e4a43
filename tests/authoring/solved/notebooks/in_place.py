# %% [markdown]
# # Algorithms that change their arguments

# %%
import numpy as np

# %% [markdown]
# ## 1. Sorting (4 points)

# %%
def insertion_sort(items):
    """Sort a list in place."""
    for i in range(1, len(items)):
        item, j = items[i], i
        while j > 0 and items[j - 1] > item:
            items[j] = items[j - 1]
            j -= 1
        items[j] = item

numbers = [3, 1, 2, 5, 4]
insertion_sort(numbers)
numbers

# %% [markdown]
# ## 2. Clipping (3 points)

# %%
def clip_gradients(gradients, largest=1.0):
    """Scale all gradients in place so that their joint norm is at most `largest`; return the norm before."""
    norm = float(np.sqrt(sum((g ** 2).sum() for g in gradients)))
    if norm > largest:
        for g in gradients:
            g *= largest / norm
    return norm

clip_gradients([np.array([3.0, 4.0]), np.array([0.5, 0.1])], 1.0)
clip_gradients([np.array([0.3, 0.4])])
