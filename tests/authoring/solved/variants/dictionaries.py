# %% one
from collections import Counter, defaultdict

def bigram_counts(tokens):
    counts = defaultdict(Counter)
    for i in range(1, len(tokens)):
        counts[tokens[i - 1]][tokens[i]] += 1
    return counts

def normalise(counts):
    total = float(sum(counts[w] for w in counts))
    return dict((w, counts[w] / total) for w in counts)

def merge(first, second):
    merged = Counter(first)
    merged.update(second)
    return merged

# %% two
def bigram_counts(tokens):
    counts = {}
    previous = None
    for place, token in enumerate(tokens):
        if place:
            inner = counts.setdefault(previous, {})
            inner[token] = inner.get(token, 0) + 1
        previous = token
    return counts

def normalise(counts):
    import numpy as np
    if not counts:
        return {}
    values = np.array(list(counts.values()), dtype=float)
    return dict(zip(counts, values / values.sum()))

def merge(first, second):
    return {key: first.get(key, 0) + second.get(key, 0) for key in set(first) | set(second)}

# %% three
def bigram_counts(tokens):
    pairs = list(zip(tokens[:-1], tokens[1:]))
    return {a: {b: pairs.count((a, b)) for x, b in pairs if x == a} for a, _ in pairs}

def normalise(counts):
    factor = 1 / sum(counts.values()) if counts else 0
    result = {}
    for word in sorted(counts):
        result[word] = counts[word] * factor
    return result

def merge(first, second):
    merged = {**second}
    for key in first:
        if key in merged:
            merged[key] += first[key]
        else:
            merged[key] = first[key]
    return merged
