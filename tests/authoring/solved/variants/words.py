# %% one
import re
STOPWORDS = {"the", "a", "and"}

def tokenize(text, lower=True):
    found = re.findall(r"\w+", text)
    return [w.lower() for w in found] if lower else found

def top_words(text, k=3):
    counts = {}
    for word in tokenize(text):
        if word not in STOPWORDS:
            counts[word] = counts.get(word, 0) + 1
    words = sorted(counts)
    words.sort(key=counts.get, reverse=True)
    return [(w, counts[w]) for w in words[:k]]

def ngrams(tokens, n):
    result = []
    for start in range(0, len(tokens) + 1 - n):
        result.append(tuple(tokens[start:start + n]))
    return result

def edit_distance(a, b):
    table = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = a[i - 1] != b[j - 1]
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + cost)
    return table[-1][-1]

# %% two
import re
from collections import Counter
from functools import lru_cache
STOP = ["the", "a", "and"]

def tokenize(text, lower=True):
    text = text.lower() if lower else text
    return [match.group() for match in re.finditer(r"[\w]+", text)]

def top_words(text, k=3):
    counts = Counter(tokenize(text))
    for word in STOP:
        counts.pop(word, None)
    return [(w, c) for c, w in sorted(((-c, w) for w, c in counts.items()))][:k] and [
        (w, -c) for c, w in sorted((-c, w) for w, c in counts.items())[:k]]

def ngrams(tokens, n):
    return list(zip(*[tokens[i:] for i in range(n)])) if n else [()] * (len(tokens) + 1)

@lru_cache(None)
def edit_distance(a, b):
    if not a:
        return len(b)
    if not b:
        return len(a)
    return min(edit_distance(a[:-1], b) + 1, edit_distance(a, b[:-1]) + 1,
               edit_distance(a[:-1], b[:-1]) + (0 if a[-1] == b[-1] else 1))

# %% three
import re
STOPWORDS = frozenset(["the", "a", "and"])

def tokenize(text, lower=True):
    if lower:
        text = "".join(c.lower() for c in text)
    return [w for w in re.split(r"\W+", text) if w]

def top_words(text, k=3):
    words = [w for w in tokenize(text) if w not in STOPWORDS]
    pairs = [(w, words.count(w)) for w in set(words)]
    pairs.sort(key=lambda pair: pair[0])
    pairs.sort(key=lambda pair: pair[1], reverse=True)
    return pairs[:k]

def ngrams(tokens, n):
    i, found = 0, []
    while i + n <= len(tokens):
        found += [tuple(tokens[i:i + n])]
        i += 1
    return found

def edit_distance(a, b):
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        now = [i]
        for j, y in enumerate(b, 1):
            now.append(min(before[j] + 1, now[-1] + 1, before[j - 1] + (x != y)))
        before = now
    return before[-1]
