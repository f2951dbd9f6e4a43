# %% [markdown]
# # Language models with dictionaries

# %% [markdown]
# ## 1. Bigrams (4 pts)

# %%
def bigram_counts(tokens):
    """How often each word follows each other word."""
    counts = {}
    for first, second in zip(tokens, tokens[1:]):
        counts.setdefault(first, {})
        counts[first][second] = counts[first].get(second, 0) + 1
    return counts


corpus = ["the", "cat", "sat", "on", "the", "mat", "and", "the", "cat", "slept"]
counts = bigram_counts(corpus)

# %% [markdown]
# ## 2. Probabilities (4 pts)


# %%
def normalise(counts):
    """Divide each count by the sum of all of them."""
    total = sum(counts.values())
    return {word: count / total for word, count in counts.items()}


normalise({"cat": 2, "mat": 1})
normalise({"a": 1, "b": 1, "c": 2})

# %% [markdown]
# ## 3. Merging (2 pts)


# %%
def merge(first, second):
    """Add the values of two dictionaries."""
    merged = dict(first)
    for key, value in second.items():
        merged[key] = merged.get(key, 0) + value
    return merged


merge({"a": 1}, {"a": 2, "b": 3})
