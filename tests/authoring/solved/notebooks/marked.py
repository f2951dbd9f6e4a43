# %% [markdown]
# # With markers

# %%
import numpy as np

LEARNING_RATE = 0.5

# %% [markdown]
# ## 1.1 Accuracy (2 points)


# %%
def helper(x):
    return np.asarray(x)


def accuracy(predicted, labels):
    """The share of predictions that are right."""
    ### BEGIN SOLUTION
    predicted, labels = helper(predicted), helper(labels)
    if len(predicted) != len(labels):
        raise ValueError("expected as many predictions as labels")
    return float((predicted == labels).mean())
    ### END SOLUTION


accuracy([1, 0, 1], [1, 1, 1])

# %% [markdown]
# ## 1.2 Number of parameters (1 point)

# %%
n_parameters = 4 * 3 + 3  # SOLUTION

# %% [markdown]
# ## 1.3 One step (2 points)


# %%
def step(weights, gradient):
    ### BEGIN SOLUTION
    return weights - LEARNING_RATE * gradient
    ### END SOLUTION


step(np.array([1.0, 2.0]), np.array([0.5, -0.5]))
