# %% [markdown]
# # Learning curves

# %%
import matplotlib.pyplot as plt
import numpy as np
%matplotlib inline

# %% [markdown]
# ## 1. Smoothing (4 points)

# %%
def smooth(values, window):
    """The mean of each value and the window - 1 values before it."""
    return [float(np.mean(values[max(0, i - window + 1) : i + 1])) for i in range(len(values))]

losses = [2.0, 1.5, 1.7, 1.1, 0.9]
plt.plot(smooth(losses, 3))
plt.show()

# %% [markdown]
# ## 2. A plot (3 points)

# %%
def plot_losses(losses, title="Loss"):
    """Draw the losses and return the figure."""
    figure, axes = plt.subplots()
    axes.plot(range(1, len(losses) + 1), losses)
    axes.set_title(title)
    return figure

plot_losses(losses)

# %% [markdown]
# ## 3. What do you see? (2 points)

# %% [markdown]
# The loss falls, but not in every step.
