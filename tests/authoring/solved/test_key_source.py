"""The key holds what students write and all that it needs, and nothing that shows, downloads or trains."""

from typing import Any

from tests.support.solved_course import cells_of
from viva.plugins.authoring.solved.solved_assignment import key_source
from viva.plugins.authoring.source.source_cells import Cell


def key(*sources: str, names: tuple[str, ...], classes: tuple[str, ...] = ()) -> tuple[str, dict[str, Any]]:
    cells = [Cell("code", source, number) for number, source in enumerate(sources, 1)]
    text = key_source(cells, frozenset(names), source="source.ipynb", classes=classes)
    namespace: dict[str, Any] = {}
    exec(text, namespace)  # what was made in this test
    return text, namespace


def test_needed_code() -> None:
    text, made = key(
        "import math\nimport this_is_not_installed\n%matplotlib inline",
        "SCALE = 2\nprint('never shown')\ndef helper(x):\n    return SCALE * x",
        "def f(x):\n    return helper(x) + math.pi\nf(3)",
        "table = {}\nfor i in range(3):\n    table[i] = i * i\nothers = f(2)",
        "def g(i):\n    return table[i]",
        names=("f", "g"),
    )
    assert made["f"](1) == 2 + made["math"].pi
    assert made["g"](2) == 4
    assert "this_is_not_installed" not in text and "print" not in text and "others" not in text
    assert text.index("import math") < text.index("SCALE") < text.index("def f") < text.index("table[i] = i * i")


def test_local_names() -> None:
    text, _ = key(
        "data = read_everything()\nx = train(data)", "def f(data):\n    x = len(data)\n    return x", names=("f",)
    )
    assert "read_everything" not in text and "train" not in text


def test_last_definition() -> None:
    text, made = key(
        "def f(x):\n    return 1",
        "@staticmethod\ndef f(x):\n    ### BEGIN SOLUTION\n    return x  # as asked\n    ### END SOLUTION",
        "y = 3 # SOLUTION",
        names=("f", "y"),
    )
    assert made["f"](5) == 5 and made["y"] == 3
    assert "SOLUTION" not in text and "# as asked" in text


def test_star_imports() -> None:
    star, own = "from math import *", "def f(x):\n    return floor(x)"
    assert key(star, own, names=("f",))[1]["f"](1.5) == 1
    assert star not in key(star, own, "def floor(x):\n    return 2", names=("f",))[0]


def test_future_imports() -> None:
    text, _ = key(
        "import math\nfrom __future__ import annotations", "def f(x: Nothing):\n    return math.e", names=("f",)
    )
    assert text.index("__future__") < text.index("import math")


def test_methods_of_a_class() -> None:
    cells = cells_of("structures")
    text = key_source(cells, frozenset({"Stack"}), source="source.ipynb", classes=["Stack"])
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    calls = [("push", 1), ("push", 2), ("pop",), ("peek",), ("pop",), ("pop",)]
    empty = ("raised", "IndexError")
    assert namespace["played_Stack"]([1], calls) == [None, ("raised", "OverflowError"), 1, None, empty, empty]


def test_names_of_builtins() -> None:
    text, made = key(
        "def f(x):\n    return round(x) + sum(x)",
        "def round(x):\n    return 10",
        "sum = 0\nsum += 5",
        "abs = 3\ndef g():\n    return abs",
        names=("f", "g"),
    )
    assert made["f"]([1, 2]) == 13 and made["g"]() == 3
    assert "sum = 0" not in text
