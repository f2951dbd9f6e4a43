# %% [markdown]
# ## Exercise 1: A stack (5 points)

# %%
class Stack:
    """Last in, first out."""

    def __init__(self, limit=None):
        self.items = []
        self.limit = limit

    def push(self, item):
        if self.limit is not None and len(self.items) >= self.limit:
            raise OverflowError("full")
        self.items.append(item)

    def pop(self):
        if not self.items:
            raise IndexError("empty")
        return self.items.pop()

    def __len__(self):
        return len(self.items)

    def peek(self):
        return self.items[-1] if self.items else None

s = Stack(2)
s.push(3)
s.push(4)
print(s.pop(), s.peek())
Stack().push(1)

# %% [markdown]
# ## Exercise 2: recursion (5 points)

# %%
def flatten(nested):
    """All numbers of nested lists, in order."""
    flat = []
    for item in nested:
        if isinstance(item, list):
            flat += flatten(item)
        else:
            flat.append(item)
    return flat

flatten([1, [2, [3, 4]], 5])

def fibonacci(n):
    if n < 0:
        raise ValueError("n must not be negative")
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

fibonacci(10)

# %% [markdown]
# ## Exercise 3: in place (2 points)

# %%
def reverse(numbers):
    """Reverse a list in place."""
    i, j = 0, len(numbers) - 1
    while i < j:
        numbers[i], numbers[j] = numbers[j], numbers[i]
        i, j = i + 1, j - 1

x = [1, 2, 3, 4]
reverse(x)
x

# %%
def greet(name, times):
    """Print a greeting."""
    for _ in range(times):
        print(f"Hello, {name}!")

greet("Ada", 2)
