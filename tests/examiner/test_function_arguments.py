"""Functions and objects that a test passes to the submission are made in its box, and are the same for the key."""

from tests.support.course_of_texts import Examined, examiner_fixture, statuses

TESTS = """
import math
from collections import deque

import numpy as np
from hypothesis.strategies import integers, none, recursive
from viva.grading import agree, agree_on, observed
from viva.grading.strategies import built, functions, matching, numbers, sequences

STEP = 0.5

def stepped(x):
    steps = x / STEP
    return math.floor(steps)

def test_root(student, key):
    agree_on(
        student.newton, key.newton, functions(lambda x: x**2 - 2, np.sin),
        functions(lambda x: 2 * x, np.cos), matching(1.0, 3.0),
    )

def test_mapped(student, key):
    agree_on(student.mapped, key.mapped, functions(stepped, abs), sequences(numbers(), (0, 4)))

def test_changed(student, key):
    agree_on(
        observed(student.change, "arguments"), observed(key.change, "arguments"), functions(abs, stepped),
        sequences(numbers(), (1, 4)),
    )

def test_drawn(student, key):
    agree_on(student.drawn, key.drawn, built(np.random.default_rng, integers(0, 9)), integers(1, 3))

def test_turned(student, key):
    agree_on(
        observed(student.turn, "value", "arguments"), observed(key.turn, "value", "arguments"),
        built(deque, sequences(integers(0, 9), (0, 5))), built(np.random.default_rng, integers(0, 9)),
    )

def test_depth(student, key):
    agree_on(
        student.depth, key.depth,
        recursive(none(), lambda inner: built(key.Node, integers(0, 9), inner, inner), max_leaves=6),
    )

def test_mirrored(student, key):
    agree_on(
        student.mirrored.attributes("value", "left", "right"), key.mirrored.attributes("value", "left", "right"),
        recursive(none(), lambda inner: built(key.Node, integers(0, 9), inner, inner), max_leaves=6),
    )
"""
KEY = """
def newton(f, derivative, x):
    for _ in range(20):
        x = x - f(x) / derivative(x)
    return x

def mapped(f, values):
    return [f(value) for value in values]

def change(f, values):
    values[:] = map(f, values)

def drawn(rng, n):
    return [float(rng.random()) for _ in range(n)]

def turn(queue, rng):
    queue.rotate(int(rng.integers(1, 3)))
    return len(queue)

class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

def depth(node):
    return 0 if node is None else 1 + max(depth(node.left), depth(node.right))

def mirrored(node):
    return None if node is None else Node(node.value, mirrored(node.right), mirrored(node.left))
"""
ALL = ("test_root", "test_mapped", "test_changed", "test_drawn", "test_turned", "test_depth", "test_mirrored")
WRONG = {
    "test_root": [
        ("x - f(x) / derivative(x)", "x - f(x) / (4 * derivative(x))"),
        ("range(20)", "range(1)"),
    ],
    "test_mapped": [
        ("[f(value) for value in values]", "[abs(value) for value in values]"),
        ("return [f(value)", "values.append(1); return [f(value)"),
    ],
    "test_changed": [("values[:] = map(f, values)", "values[0] = f(values[0])")],
    "test_drawn": [("rng.random()", "0.5"), ("range(n)", "range(n + 1)")],
    "test_turned": [("integers(1, 3)", "integers(2, 4)"), ("queue.rotate", "type(queue)(queue).rotate")],
    "test_depth": [
        ("depth(node.right)", "depth(node.left)"),
        ("depth(node.left), depth(node.right)", "depth(node.left), 0"),
    ],
    "test_mirrored": [
        ("mirrored(node.right), mirrored(node.left))", "mirrored(node.left), mirrored(node.right))"),
        ("Node(node.value, m", "Node(0, m"),
        ("return None if node is None else Node", "if node: node.left = node\n    return node\n    Node"),
    ],
}


examined = examiner_fixture(tests=TESTS, key=KEY)


def test_right_use_of_functions(examined: Examined) -> None:
    keeps = KEY.replace("def mapped(f, values):", "kept = []\ndef mapped(f, values):\n    kept.append(f); f = kept[-1]")
    for program in (KEY, KEY.replace("f(value)", "f.__call__(value)"), keeps):
        assert statuses(examined.score(program)) == dict.fromkeys(ALL, "passed")


def test_wrong_use_of_functions(examined: Examined) -> None:
    for name, changes in WRONG.items():
        for old, new in changes:
            assert old in KEY
            score = examined.score(KEY.replace(old, new))
            assert statuses(score) == {**dict.fromkeys(ALL, "passed"), name: "failed"}, new
    said = examined.entry(KEY.replace("range(20)", "range(1)"), "test_root").message
    assert "newton(lambda x: x ** 2 - 2, lambda x: 2 * x, 1) gave 1.5, expected 1.41421" in said


def test_objects_of_own_class(examined: Examined) -> None:
    own = KEY.replace("return 0 if", "assert node is None or type(node) is Node\n    return 0 if")
    for program in (
        own,
        own.replace("self.value, self.left", "self.number = self.value = value; self.value, self.left"),
    ):
        assert statuses(examined.score(program)) == dict.fromkeys(ALL, "passed")
    without = examined.entry(KEY.replace("class Node:", "class Other:"), "test_depth")
    assert without.status == "failed" or "Node" in without.message, without.message
    wrong = examined.entry(KEY.replace("depth(node.right)", "depth(node.left)"), "test_depth")
    assert "depth(Node(0, None, Node(0, None, None))) gave 1, expected 2" in wrong.message


def test_returned_function_is_no_answer(examined: Examined) -> None:
    program = KEY.replace("[f(value) for value in values]", "f")
    assert statuses(examined.score(program))["test_mapped"] == "failed"
