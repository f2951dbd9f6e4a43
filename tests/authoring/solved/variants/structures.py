# %% one
class Stack:
    def __init__(self, limit=None):
        self._data, self._limit = (), limit

    def push(self, item):
        if self._limit is not None and len(self._data) == self._limit:
            raise OverflowError
        self._data = (*self._data, item)

    def pop(self):
        *rest, last = self._data if self._data else [][0]
        self._data = tuple(rest)
        return last

    def peek(self):
        return None if not self._data else self._data[-1]

def flatten(nested):
    if not isinstance(nested, list):
        return [nested]
    return [x for part in nested for x in flatten(part)]

def fibonacci(n):
    if n < 0:
        raise ValueError
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a

def reverse(numbers):
    numbers.reverse()

def greet(name, times):
    print(f"Hello, {name}!\n" * times, end="")

# %% two
from collections import deque

class Stack:
    def __init__(self, limit=None):
        self.limit = float("inf") if limit is None else limit
        self.q = deque()

    def push(self, item):
        if len(self.q) >= self.limit:
            raise OverflowError("too many")
        self.q.appendleft(item)

    def pop(self):
        return self.q.popleft()

    def peek(self):
        if len(self.q):
            return self.q[0]

def flatten(nested):
    pending, flat = list(nested), []
    while pending:
        first = pending.pop(0)
        if type(first) is list:
            pending = first + pending
        else:
            flat.append(first)
    return flat

def fibonacci(n, known={0: 0, 1: 1}):
    assert n >= 0
    if n not in known:
        known[n] = fibonacci(n - 1) + fibonacci(n - 2)
    return known[n]

def reverse(numbers):
    numbers[:] = numbers[::-1]

def greet(name, times):
    for i in range(times):
        print("Hello, " + name + "!")

# %% three
class Stack(list):
    def __init__(self, limit=None):
        super().__init__()
        self.limit = limit

    def push(self, item):
        if self.limit is None or len(self) < self.limit:
            self.append(item)
        else:
            raise OverflowError("no room")

    def peek(self):
        try:
            return self[-1]
        except IndexError:
            return None

def flatten(nested):
    def walk(part):
        for item in part:
            if isinstance(item, list):
                yield from walk(item)
            else:
                yield item
    return list(walk(nested))

def fibonacci(n):
    if n < 0:
        raise ArithmeticError("no")
    numbers = [0, 1]
    while len(numbers) <= n:
        numbers.append(sum(numbers[-2:]))
    return numbers[n]

def reverse(numbers):
    for i in range(len(numbers) // 2):
        j = -1 - i
        numbers[i], numbers[j] = numbers[j], numbers[i]

def greet(name, times):
    import sys
    sys.stdout.write("".join("Hello, %s!\n" % name for _ in range(times)))
