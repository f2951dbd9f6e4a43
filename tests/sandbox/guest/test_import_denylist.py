"""What an assignment forbids is refused to the student's code, and to no other code."""

import pytest

from tests.support.bare_worker import Worker

FORBIDDEN = ["statistics", "xml.dom", "collections.Counter", "math.factorial", "bisect"]


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("import statistics", "statistics"),
        ("import statistics as s", "statistics"),
        ("from statistics import mean", "statistics"),
        ("import xml.dom.minidom", "xml.dom"),
        ("from xml import dom", "xml.dom"),
        ("from xml.dom import minidom", "xml.dom"),
        ("import importlib; importlib.import_module('statistics')", "statistics"),
        ("__import__('statistics')", "statistics"),
        ("exec('import statistics')", "statistics"),
        ("from collections import Counter; Counter('a')", "collections.Counter"),
        ("import collections as c; c.Counter('a')", "collections.Counter"),
        ("import collections\nclass Mine(collections.Counter): pass\nMine('a')", "collections.Counter"),
        ("from math import factorial; factorial(3)", "math.factorial"),
        ("import math; math.factorial(3)", "math.factorial"),
        ("import bisect", "bisect"),
    ],
)
def test_forbidden_import(worker: Worker, statement: str, name: str) -> None:
    report = worker.load(f"{statement}\nafter = 1", forbid=FORBIDDEN)
    [error] = report["errors"]
    assert error["type"] == "ImportError" and error["missing_module"] is None
    assert f"it forbids `{name}`" in error["message"] and report["forbidden"] == [name]
    assert "after" in worker.ask("names")


@pytest.mark.parametrize(
    "statement",
    [
        "import xml.etree.ElementTree",
        "import math; math.sqrt(4)",
        "from collections import deque, Counter",
        "import random",
    ],
)
def test_allowed_import(worker: Worker, statement: str) -> None:
    """`random` imports `statistics` and `bisect` itself, which is its own affair."""
    report = worker.load(f"import sys; sys.modules.pop('random', None)\n{statement}", forbid=FORBIDDEN)
    assert report["errors"] == [] and report["forbidden"] == []


def test_caught_attempt_is_reported(worker: Worker) -> None:
    report = worker.load("try:\n    import statistics\nexcept ImportError:\n    statistics = None", forbid=FORBIDDEN)
    assert report["errors"] == [] and report["forbidden"] == ["statistics"]


def test_forbidden_at_call(worker: Worker) -> None:
    worker.load("import math\ndef f(n): return math.factorial(n)\ndef g():\n    import statistics", forbid=FORBIDDEN)
    assert "math.factorial" in worker.call_raises("f", 3)["message"]
    assert "statistics" in worker.call_raises("g")["message"]


def test_helpers_may_use_forbidden(worker: Worker) -> None:
    worker.define("x = 1")
    worker.load("y = 1", "other.py", forbid=FORBIDDEN)
    source = "import math, statistics, collections\ndef f(): return math.factorial(3), collections.Counter('aa')"
    worker.ask("load_inside", sources={"inside.py": source})
    assert worker.ask("call", space="inside", name="f", args=[], kwargs={}) == (6, {"a": 2})


def test_forbidden_class_in_isinstance(worker: Worker) -> None:
    source = "import collections\ndef make(): return collections.Counter('a')"
    worker.ask("load_inside", sources={"inside.py": source})
    made = worker.ask("call", space="inside", name="make", args=[], kwargs={}, keep=True)
    source = "from collections import Counter\ndef check(it): return isinstance(it, Counter), isinstance({}, Counter)"
    worker.load(source, forbid=FORBIDDEN)
    assert worker.call("check", made) == (True, False)


def test_forbidden_in_notebook(worker: Worker) -> None:
    cells = worker.notebook("import statistics", "x = 1", forbid=FORBIDDEN)
    assert [c["status"] for c in cells] == ["raised", "ok"] and "forbids" in cells[0]["raised"]["message"]


@pytest.mark.long
def test_forbidden_layer_of_torch(torch_worker: Worker) -> None:
    report = torch_worker.load(
        """
        import torch
        from torch import nn
        def layer(): return nn.MultiheadAttention(4, 1)
        def function(): return torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 1, 2)] * 3)
        def library(): return nn.TransformerEncoderLayer(4, 1, 4)(torch.ones(1, 1, 4)).shape
        def linear(): return nn.Linear(2, 1)(torch.ones(1, 2)).shape
        """,
        forbid=["torch.nn.MultiheadAttention", "torch.nn.functional.scaled_dot_product_attention"],
    )
    assert report["errors"] == []
    assert "torch.nn.MultiheadAttention" in torch_worker.call_raises("layer")["message"]
    assert "scaled_dot_product_attention" in torch_worker.call_raises("function")["message"]
    assert torch_worker.call("linear") == (1, 1) and torch_worker.call("library") == (1, 1, 4)
