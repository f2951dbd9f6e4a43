# %% [markdown]
# # Recursion

# %% [markdown]
# ## Question 1 (3 points): Towers

# %%
def hanoi(n, start="A", spare="B", end="C"):
    """The moves that bring n discs from start to end."""
    if n == 0:
        return []
    return hanoi(n - 1, start, end, spare) + [(start, end)] + hanoi(n - 1, spare, start, end)

hanoi(3)

# %% [markdown]
# ## Question 2 (4 points): Parsing

# %%
def depth(tree):
    """The depth of a tree of nested tuples; a word has depth 0."""
    if isinstance(tree, str):
        return 0
    return 1 + max((depth(child) for child in tree[1:]), default=0)

depth(("S", ("NP", "the", "cat"), ("VP", "sat")))
depth(("NP", "cats"))

# %% [markdown]
# ## Question 3 (3 points): Search

# %%
def binary_search(items, wanted, low=0, high=None):
    """The place of a value in a sorted list, or None."""
    if high is None:
        high = len(items)
    if low >= high:
        return None
    middle = (low + high) // 2
    if items[middle] == wanted:
        return middle
    if items[middle] < wanted:
        return binary_search(items, wanted, middle + 1, high)
    return binary_search(items, wanted, low, middle)

binary_search([1, 3, 4, 6, 8], 6)
binary_search([2, 3, 5, 7], 4)
