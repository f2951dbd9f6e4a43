# %% one
def hanoi(n, start="A", spare="B", end="C"):
    moves = []
    def move(n, a, b, c):
        if n > 0:
            move(n - 1, a, c, b)
            moves.append((a, c))
            move(n - 1, b, a, c)
    move(n, start, spare, end)
    return moves

def depth(tree):
    if type(tree) is str:
        return 0
    deepest = 0
    for child in tree[1:]:
        deepest = max(deepest, depth(child))
    return deepest + 1

def binary_search(items, wanted, low=0, high=None):
    high = len(items) if high is None else high
    while low < high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return None

# %% two
def hanoi(n, start="A", spare="B", end="C"):
    if n <= 0:
        return []
    moves = hanoi(n - 1, start, end, spare)
    moves.append((start, end))
    moves.extend(hanoi(n - 1, spare, start, end))
    return moves

def depth(tree):
    return 0 if isinstance(tree, str) else 1 + max([0] + [depth(child) for child in tree[1:]])

def binary_search(items, wanted, low=0, high=None):
    if high is None:
        return binary_search(items, wanted, low, len(items))
    if low >= high:
        return None
    middle = low + (high - low) // 2
    value = items[middle]
    if value > wanted:
        return binary_search(items, wanted, low, middle)
    if value < wanted:
        return binary_search(items, wanted, middle + 1, high)
    return middle

# %% three
def hanoi(n, start="A", spare="B", end="C"):
    stack, moves = [(n, start, spare, end)], []
    while stack:
        k, a, b, c = stack.pop()
        if k == 1:
            moves.append((a, c))
        elif k > 1:
            stack += [(k - 1, b, a, c), (1, a, b, c), (k - 1, a, c, b)]
    return moves

def depth(tree):
    level, height = [tree], 0
    if isinstance(tree, str):
        return 0
    while any(not isinstance(node, str) for node in level):
        height += 1
        level = [child for node in level if not isinstance(node, str) for child in node[1:]]
    return height

def binary_search(items, wanted, low=0, high=None):
    if high is None:
        high = len(items)
    if not low < high:
        return
    m = (low + high) >> 1
    return (m if items[m] == wanted else
            binary_search(items, wanted, m + 1, high) if wanted > items[m] else
            binary_search(items, wanted, low, m))
