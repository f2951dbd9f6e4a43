# %% one
def smooth(values, window):
    result = []
    for i in range(len(values)):
        part = values[max(0, i + 1 - window):i + 1]
        result.append(sum(part) / len(part))
    return result

# %% two
import numpy as np

def smooth(values, window):
    total = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - window, 0)
    return (total[ends] - total[starts]) / (ends - starts)

# %% three
from collections import deque

def smooth(values, window):
    last, result = deque(maxlen=window), []
    for value in values:
        last.append(value)
        result.append(sum(last) / len(last))
    return result
