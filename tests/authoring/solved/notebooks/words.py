# %% [markdown]
# # Text processing

# %%
import re
from collections import Counter

STOPWORDS = {"the", "a", "and"}

# %% [markdown]
# **Question 1** (3 points): tokens

# %%
def tokenize(text, lower=True):
    """Split a text into words.

    >>> tokenize("The cat.")
    ['the', 'cat']
    """
    if lower:
        text = text.lower()
    return re.findall(r"\w+", text)

tokenize("The cat and the dog, and the mouse!")

# %% [markdown]
# **Question 2** (3 points): counts

# %%
def top_words(text, k=3):
    """The k most frequent words without stopwords, ties alphabetically."""
    counts = Counter(w for w in tokenize(text) if w not in STOPWORDS)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:k]

top_words("the cat sat and the cat ran and a dog ran", 2)

# %% [markdown]
# **Question 3** (4 points): n-grams

# %%
def ngrams(tokens, n):
    return [tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1)]

ngrams(["a", "b", "c"], 2)

def edit_distance(a, b):
    """Levenshtein distance."""
    if not a or not b:
        return len(a) + len(b)
    if a[0] == b[0]:
        return edit_distance(a[1:], b[1:])
    return 1 + min(edit_distance(a[1:], b), edit_distance(a, b[1:]), edit_distance(a[1:], b[1:]))

edit_distance("kitten", "sittin")
