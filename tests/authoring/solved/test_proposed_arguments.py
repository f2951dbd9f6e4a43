"""Arguments are drawn so that the solution gives real answers: ascending, of sizes that fit, or those it was given."""

import ast

import pytest

from tests.support.table_rows import Rows
from viva.plugins.authoring.solved.class_proposal import of_class
from viva.plugins.authoring.solved.proposal import WIDTH, written_call
from viva.plugins.authoring.solved.proposals import of_value, propose_function
from viva.plugins.authoring.solved.recorded_run import Recorded, run
from viva.plugins.authoring.solved.solution_code import typed_texts
from viva.plugins.authoring.source.source_cells import Cell

INTERPOLATOR = """\
import numpy as np

class Interpolator:
    def __init__(self, x, y):
        self.x, self.y = np.asarray(x), np.asarray(y)

    def __call__(self, at):
        total = 0.0
        for k in range(len(self.x)):
            others = np.delete(self.x, k)
            total += self.y[k] * np.prod((at - others) / (self.x[k] - others))
        return total

made = Interpolator(np.linspace(-2, 2, 9), np.linspace(-2, 2, 9) ** 2)
made(0.3), made(-1.5)
"""
FIT = """\
import numpy as np

def slope(x, y):
    if len(x) != len(y):
        raise ValueError("sizes")
    return np.polyfit(x, y, 1)[0]

for x, y in [([1, 2, 3], [1, 2]), ([1, 2], [3, 1, 2, 4]), ([1.5, 2.0, 4.0], [3.0, 1.0, 2.0])]:
    try:
        slope(np.array(x), np.array(y))
    except ValueError:
        pass
"""
DISTANCE = """\
import numpy as np

def distance(a, b):
    return np.sqrt(np.sum((a - b) ** 2))

for a, b in [([1, 2, 3], [1, 2]), ([1, 2, 5], [3, 1, 2]), ([1.5, 2.0], [3.0, 1.0])]:
    try:
        distance(np.array(a), np.array(b))
    except ValueError:
        pass
"""
SEEN = """\
import numpy as np

def share(name, names):
    if name not in names:
        raise KeyError(name)
    return float((names == name).mean())

share("ann", np.array(["ann", "bob", "ann"]))

def apply(rule, values):
    return {"double": 2 * values, "half": values / 2}[rule["kind"]]

apply({"kind": "double"}, np.array([1.0, 2.0]))
apply({"kind": "half"}, np.array([1.0, 3.0]))
"""


def recorded(source: str, *names: str) -> Recorded:
    found = run([Cell("code", source, 1)], frozenset(names))
    assert found.failed == []
    return found


def test_ascending_points() -> None:
    proposal = of_class("Interpolator", recorded(INTERPOLATOR, "Interpolator"))
    body = "\n".join(proposal.body)
    assert 'arrays("n", ordered=True, distinct=True)' in body and 'arrays("n", elements=' in body


def test_sizes_of_failing_calls() -> None:
    for source, name in [(FIT, "slope"), (DISTANCE, "distance")]:
        body = "\n".join(propose_function(name, recorded(source, name)).body)
        assert 'arrays("n"' in body and body.count('"n"') >= 2 and '"m"' not in body, name


def test_calls_of_the_notebook() -> None:
    found = recorded(SEEN, "share", "apply")
    proposal = propose_function("apply", found)
    asked = ["{'kind': 'double'}, np.array([1.0, 2.0])", "{'kind': 'half'}, np.array([1.0, 3.0])"]
    assert proposal.body == [f"    agree(student.apply({call}), key.apply({call}))" for call in asked]
    assert proposal.definitions == ["import numpy as np"]
    assert "np.array(['ann', 'bob', 'ann'])" in "".join(propose_function("share", found).body)


def test_long_dictionary() -> None:
    weights = ", ".join(f'"größe{n}": arrays("n", {n})' for n in range(9))
    lines = written_call("agree_on", ["student.f", "key.f", f"fixed_dictionaries({{{weights}}})", "integers(1, 3)"])
    assert len(lines) == 8 and max(map(len, lines)) <= WIDTH
    once = f"agree_on(student.f, key.f, fixed_dictionaries({{{weights}}}), integers(1, 3))"
    assert ast.dump(ast.parse("if 1:\n" + "\n".join(lines))) == ast.dump(ast.parse(f"if 1:\n    {once}"))


@pytest.mark.parametrize("within", ["{}", "frames({{'größe': {}}})", "sequences(x, elements={})", "{}.map(tuple)"])
def test_long_argument(within: str) -> None:
    given = within.format(f"tuples({', '.join(f'integers({n}, {n + 1})' for n in range(20))})")
    lines = written_call("agree_on", ["student.f", "key.f", given])
    assert ast.dump(ast.parse("if 1:\n" + "\n".join(lines))) == ast.dump(
        ast.parse(f"if 1:\n    agree_on(student.f, key.f, {given})")
    )
    assert max(map(len, lines)) <= WIDTH or within.endswith("map(tuple)")


PASSING = """\
import math
import numpy as np

EPS, RATE = 1e-6, 3

def relu(x):
    return np.maximum(x, 0)

def newton(f, derivative, x0, tol=1e-8):
    x = x0
    for _ in range(50):
        step = f(x) / derivative(x)
        x -= step
        if abs(step) < tol:
            break
    return x

def bisect(f, a, b):
    if f(a) * f(b) > 0:
        raise ValueError("no change of sign")
    while b - a > 1e-6:
        middle = (a + b) / 2
        a, b = (a, middle) if f(a) * f(middle) <= 0 else (middle, b)
    return a

def gradient(f, x, h=1e-5):
    return np.array([(f(x + e) - f(x - e)) / (2 * h) for e in h * np.eye(len(x))])

def count_if(predicate, words):
    return sum(map(predicate, words))

def layer(x, activation):
    return activation(2 * x)

newton(lambda x: x**2 - 2, lambda x: 2*x, 1.0)
newton(np.sin, np.cos, 3.0)
newton(lambda x: RATE * x - 1, lambda x: RATE, 0.5)

def cubic(x):
    power = x**3
    return power - x - EPS

def line(x):
    "Crosses 0 once."
    return x - 3

bisect(cubic, 0.5, 2.0)
bisect(line, 0, 10)
bisect(np.cos, 0, 3)
gradient(lambda x: (x**2).sum(), np.array([1.0, 2.0]))
count_if(str.isupper, ["A", "b"])
count_if(lambda w: len(w) > 3, ["long", "no", "words"])
layer(2.0, relu)
layer(1.0, math.tanh)

def apply_all(steps, x):
    for step in steps:
        x = step(x)
    return x

apply_all([math.sin, abs, lambda x: x - 1], 2.0)
apply_all([abs], -1.0)

def by_name(table, name, words):
    return [table[name](word) for word in words]

by_name({"up": str.upper, "low": str.lower}, "up", ["a", "B"])
by_name({"up": str.upper, "low": str.lower}, "low", ["Xy", "B", "zz"])
"""
PASSED = {
    "newton": [
        "functions(lambda x: x ** 2 - 2, np.sin, lambda x: 3 * x - 1)",
        "functions(lambda x: 2 * x, np.cos, lambda x: 3)",
    ],
    "bisect": [
        "functions(cubic, lambda x: x - 3, np.cos), matching(0.5, 0, 0),",
        "matching(2.0, 10, 3),",
        'errors="expect"',
    ],
    "gradient": ["functions(lambda x: (x ** 2).sum(), lambda x: np.sum(x**3 - 2 * x)", 'arrays("n"'],
    "count_if": ["functions(str.isupper, lambda w: len(w) > 3)"],
    "layer": ["functions(math.tanh, lambda x: x**2 - 2"],
    "by_name": [
        'fixed_dictionaries({"up": functions(str.upper), "low": functions(str.lower)})',
        'sampled_from(["low", "up"])',
    ],
    "apply_all": ["sequences(functions(math.sin) | functions(abs) | functions(lambda x: x - 1), (0, 8))"],
}


def test_functions_as_arguments() -> None:
    found = recorded(PASSING, *PASSED, "relu")
    found.written = frozenset({*PASSED, "relu"})
    for name, parts in PASSED.items():
        proposal = propose_function(name, found)
        body = "\n".join(proposal.body)
        assert all(part in body for part in parts), body
    defined = "\n".join(propose_function("bisect", found).definitions)
    assert defined == "EPS = 1e-06\ndef cubic(x):\n    power = x ** 3\n    return power - x - EPS\nimport numpy as np"
    assert propose_function("newton", found).definitions == ["import numpy as np"]


OBJECTS = """\
import datetime, io, random
from collections import Counter, deque
import numpy as np
import scipy.sparse

def sample(p, rng):
    return int(rng.choice(len(p), p=p))

def pick(items, generator):
    return generator.choice(items)

def most(counter):
    return counter.most_common(1)[0][1] if counter else 0

def rotate(queue, steps):
    queue.rotate(steps)
    return list(queue)

def total(numbers):
    return sum(n for n in numbers if n > 1)

def days_until(first, last):
    return (last - first).days

def read(stream):
    return [line.strip() for line in stream]

def row_sums(matrix):
    return np.asarray(matrix.sum(axis=1)).ravel()

sample([0.5, 0.5], np.random.default_rng(0))
pick([1, 2], random.Random(4))
most(Counter("hello"))
most(Counter(["a", "b", "a"]))
rotate(deque([1, 2, 3]), 1)
rotate(deque([4, 2, 3, 5]), 2)
total(range(5))
total(range(2, 9, 3))
days_until(datetime.date(2024, 1, 1), datetime.date(2024, 3, 1))
read(io.StringIO("a\\n b\\n"))
row_sums(scipy.sparse.csr_matrix(np.array([[1.0, 0, 2], [0, 0, -3]])))
"""
OF_OBJECTS = {
    "sample": "distributions(), built(np.random.default_rng, integers(0, 99))",
    "pick": "built(random.Random, integers(0, 99))",
    "most": "built(Counter, sequences(",
    "rotate": 'observed(student.rotate, "value", "arguments")',
    "total": "built(range, integers(0, ",
    "days_until": 'days("2024-01-01", "2024-12-31").map(datetime.datetime.date)',
    "read": 'built(io.StringIO, lines("a", " b"))',
    "row_sums": 'built(scipy.sparse.csr_matrix, arrays("n", "m"))',
}


def test_solution_is_no_argument() -> None:
    source = """
def half(x):
    return x / 2

def secret(x):
    answer = half(x)
    return answer

RATE = 0.25

def apply(f, x):
    return f(x)

apply(half, 2.0), apply(lambda x: half(x) + 1, 2.0), apply(secret, 1.0), apply(lambda x: RATE * x, 3.0)
"""
    found = recorded(source, "half", "apply")
    found.written = frozenset({"half", "apply", "RATE"})
    proposal = propose_function("apply", found)
    assert proposal.body == [] and "it is one that students write" in proposal.why_not
    assert "half" not in "".join(proposal.definitions) and "0.25" not in "".join(proposal.definitions)


def test_callable_object() -> None:
    source = """
class Network:
    def __call__(self, x):
        return x

    def __repr__(self):
        return "Network(\\n  (0): Linear\\n)"

def run(network, x):
    return network(x)

run(Network(), 1.0), run(Network(), 2.0)
"""
    assert "`network` (of type Network)" in propose_function("run", recorded(source, "run")).why_not


OWN_CLASSES = """\
import dataclasses, enum
from collections import namedtuple
import numpy as np

Point = namedtuple("Point", "x y")

@dataclasses.dataclass
class Node:
    value: int
    left: "Node" = None
    right: "Node" = None

class Link:
    def __init__(self, value, following=None, name="link"):
        self.value, self.following = value, following

class Tree:
    def __init__(self, label, children=()):
        self.label, self.children = label, list(children)

class Colour(enum.Enum):
    RED = 1
    BLUE = 2

class Layer:
    def __init__(self, weights):
        self.weights = weights

class Sealed:
    def __init__(self, words):
        self._index = set(words)

def east(p):
    return p.x + 1

def depth(node):
    return 0 if node is None else 1 + max(depth(node.left), depth(node.right))

def last(link):
    while link.following is not None:
        link = link.following
    return link.value

def leaves(tree):
    return [tree.label] if not tree.children else [leaf for child in tree.children for leaf in leaves(child)]

def named(colour):
    return colour.name.lower()

def widths(layers):
    return [layer.weights.shape[1] for layer in layers]

def known(sealed, word):
    return word in sealed._index

def size(sealed):
    return len(sealed._index)

def reverse(link):
    before = None
    while link is not None:
        before, link = Link(link.value, before), link.following
    return before

reverse(Link(1, Link(2)))
east(Point(1, 2))
east(Point(0, 7))
depth(Node(1, Node(2), Node(3, Node(4))))
last(Link(1, Link(2, Link(3))))
leaves(Tree("S", [Tree("NP", [Tree("dogs")]), Tree("VP")]))
named(Colour.RED)
widths([Layer(np.ones((2, 2))), Layer(np.ones((2, 3)))])
known(Sealed(["a"]), "a")
changed = Sealed(["a"])
changed._index.add("b")
size(changed)
"""
OF_OWN_CLASSES = {
    "east": "built(key.Point, integers(0, 3), integers(0, 14))",
    "depth": "recursive(none(), lambda inner: built(key.Node, integers(0, 8), inner, inner), max_leaves=6)",
    "last": "recursive(none(), lambda inner: built(key.Link, integers(0, 6), inner), max_leaves=6).filter(bool)",
    "leaves": "sequences(inner, (0, 3))",
    "named": "built(key.Colour, sampled_from([1, 2]))",
    "reverse": 'student.reverse.attributes("value", "following"), key.reverse.attributes(',
    "widths": "sequences(built(key.Layer, arrays(",
    "known": 'built(key.Sealed, sequences(words("a"), ',
}


NETWORKS = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Given(nn.Module):
    def __init__(self, d_in, width=8):
        super().__init__()
        self.first, self.second = nn.Linear(d_in, width), nn.Linear(width, 2)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))

def parameters(model):
    return sum(p.numel() for p in model.parameters())

def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()

def predict(model, x):
    return model(x).argmax(1)

def mean_loss(model, loader, loss_of):
    return sum(loss_of(model(x), y).item() for x, y in loader)

def epoch(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total

def noisy(layer, x):
    return layer(x).detach()

x, y = torch.randn(12, 2), torch.arange(12) % 2
network = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
parameters(network), parameters(nn.LSTM(3, 4, batch_first=True)), parameters(Given(2))
accuracy(network, x, y), predict(Given(2), x), predict(Given(2, width=4), x)
mean_loss(network, DataLoader(TensorDataset(x, y), batch_size=4), nn.CrossEntropyLoss())
epoch(network, DataLoader(TensorDataset(x, y), batch_size=4), torch.optim.Adam(network.parameters(), lr=0.1))
noisy(nn.Dropout(0.5), x)
"""
OF_NETWORKS = {
    "parameters": "networks(lambda: nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))) | "
    "networks(lambda: nn.LSTM(3, 4, batch_first=True)) | networks(built(key.Given, integers(",
    "accuracy": 'nn.Linear(4, 2)), dropout=True), tensors("n", 2), tensors("n", elements=integers(',
    "predict": "networks(built(key.Given, integers(2, 2), width=integers(1, 16))), tensors(",
    "mean_loss": 'built(DataLoader, built(TensorDataset, tensors("n", 2), tensors("n", elements=integers(0, 1))), '
    "integers(1, 8)), networks(lambda: nn.CrossEntropyLoss())",
    "epoch": "integers(1, 8)), optimizers(torch.optim.SGD, lr=sampled_from([0.1, 0.05, 0.2])), rtol=1e-4",
    "noisy": "agree_in_distribution(student.noisy, key.noisy, networks(lambda: nn.Dropout()), ",
}


IMAGES = """
import numpy as np
from PIL import Image

def grey(image):
    return np.asarray(image).mean(axis=2)

def flip(image):
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)

def darker(pixels):
    return pixels // 2

picture = Image.fromarray(np.arange(60, dtype=np.uint8).reshape(4, 5, 3))
grey(picture)
flip(picture.convert("L"))
darker(np.asarray(picture))
"""
OF_IMAGES = {
    "grey": 'built(Image.fromarray, arrays("n", "m", 3, elements=integers(0, 255)).map(np.uint8))',
    "flip": 'built(Image.fromarray, arrays("n", "m", elements=integers(0, 255)).map(np.uint8))',
    "darker": 'arrays("n", "m", 3, elements=integers(0, 255)).map(np.uint8)',
}


def test_choices_of_the_notebook() -> None:
    found = recorded("mask = 'causal'\nfirst = 'the cat'.split()[0]\nname = 'A. Turing'")
    bodies = [of_value(name, found, typed=name in typed_texts("mask = 'causal'\nname = 'A. Turing'")).body for name in
              ("mask", "first", "name")]  # fmt: skip
    assert [body[0].split("(")[0].strip() for body in bodies] == ["agree_choice", "agree", "agree"]


COUNTER = """
class Counter:
    def __init__(self, least=1):
        self.counts, self.least = {}, least
    def add(self, word):
        self.counts[word] = self.counts.get(word, 0) + 1
    def words(self):
        return sorted(word for word, count in self.counts.items() if count >= self.least)

c = Counter(2); c.add("the"); c.add("cat"); c.words()
d = Counter(); d.add("cat"); d.words()
"""


def test_constructor_defaults() -> None:
    body = "\n".join(of_class("Counter", recorded(COUNTER, "Counter")).body)
    assert "tuples() | tuples(integers(1, " in body


PROPOSED = {
    "objects": (OBJECTS, OF_OBJECTS),
    "own classes": (OWN_CLASSES, OF_OWN_CLASSES),
    "images": (IMAGES, OF_IMAGES),
}


def check_proposals(source: str, parts: dict[str, str]) -> None:
    run_of_source = recorded(source, *parts)
    with Rows() as row:
        for name, part in parts.items():
            with row(name):
                proposal = propose_function(name, run_of_source)
                text = " ".join("\n".join(proposal.body).split()).replace("( ", "(")
                assert part in text, [proposal.body, proposal.why_not]


@pytest.mark.parametrize("group", PROPOSED)
def test_objects_as_arguments(group: str) -> None:
    check_proposals(*PROPOSED[group])


@pytest.mark.long
def test_networks_as_arguments() -> None:
    check_proposals(NETWORKS, OF_NETWORKS)


def test_order_of_random_numbers() -> None:
    run_of_source = recorded(OBJECTS, *OF_OBJECTS)
    for name in ("sample", "pick", "most"):
        warnings = " ".join(propose_function(name, run_of_source).warnings)
        assert ("draws in another order" in warnings) == (name in ("sample", "pick")), name


def test_object_that_was_changed() -> None:
    """Its class did not get all that it holds."""
    assert "`sealed` (of type Sealed)" in propose_function("size", recorded(OWN_CLASSES, "size")).why_not
