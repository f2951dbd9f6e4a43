# %% one
def smooth(values, window):
    result = []
    for i in range(len(values)):
        part = values[max(0, i + 1 - window):i + 1]
        result.append(sum(part) / len(part))
    return result

import matplotlib.pyplot as plt

def plot_losses(losses, title="Loss"):
    epochs = [number + 1 for number, _ in enumerate(losses)]
    fig = plt.figure(figsize=(8, 3))
    ax = fig.add_subplot()
    ax.plot(epochs, losses, "o--", color="red", label="training")
    ax.set(title=title, xlabel="epoch", ylabel="loss")
    ax.grid(True)
    ax.legend()
    return fig

# %% two
import numpy as np

def smooth(values, window):
    total = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - window, 0)
    return (total[ends] - total[starts]) / (ends - starts)

import matplotlib.pyplot as plt

def plot_losses(losses, title="Loss"):
    plt.figure()
    plt.scatter(np.arange(len(losses)) + 1, np.array(losses))
    plt.title(title)
    return plt.gcf()

# %% three
from collections import deque

def smooth(values, window):
    last, result = deque(maxlen=window), []
    for value in values:
        last.append(value)
        result.append(sum(last) / len(last))
    return result

import matplotlib.pyplot as plt

def plot_losses(losses, title="Loss"):
    _, axes = plt.subplots()
    axes.axhline(0, color="lightgrey")
    axes.plot(list(range(1, 1 + len(losses))), losses)
    plt.title(title)
    return axes
