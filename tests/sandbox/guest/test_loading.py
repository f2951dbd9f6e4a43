"""Loading a student's files: what a statement that raises costs, where names belong, how files import one another."""

import os
import sys
import time
from typing import Any

import pytest

from tests.support.bare_worker import Worker

RAISING: dict[str, tuple[str, list[tuple[str, int]], list[str]]] = {
    "errors of each kind": (
        "a = 1\nb = undefined\n@undefined\ndef c(): pass\nfor i in '12':\n    x = 1 / 0\ne = (1,\n  2 / 0)\nf = 6",
        [("NameError", 2), ("NameError", 3), ("ZeroDivisionError", 6), ("ZeroDivisionError", 8)],
        ["a", "f", "i"],
    ),
    "sys.exit": ("import sys; sys.exit()\nafter = 1", [("SystemExit", 1)], ["after"]),
    "exit": ("exit()\nafter = 1", [("SystemExit", 1)], ["after"]),
    "an interrupt": ("raise KeyboardInterrupt\nafter = 1", [("KeyboardInterrupt", 1)], ["after"]),
    "recursion": ("def r(): r()\nr()\nafter = 1", [("RecursionError", 1)], ["after", "r"]),
    "memory": ("bytearray(1 << 60)\nafter = 1", [("MemoryError", 1)], ["after"]),
    "an assertion": ("assert 0\nafter = 1", [("AssertionError", 1)], ["after"]),
    "input": ("x = input('your name? ')\nafter = 1", [("RuntimeError", 1)], ["after"]),
    "missing modules": (
        "import no_such_module\nfrom numpy import no_such_name\nimport solution2\nx = 1",
        [("ModuleNotFoundError", 1), ("ImportError", 2), ("ModuleNotFoundError", 3)],
        ["x"],
    ),
    "one import of several": (
        "import re, no_such_module, math as m, json\nx = m.sqrt(4) + len(json.dumps(1)) + len(re.__name__)",
        [("ModuleNotFoundError", 1)],
        ["x"],
    ),
    "no Python at the end": ("def f(): pass\ndef g():\n    x = (1,\n", [("SyntaxError", 3)], ["f"]),
    "no Python in between": (
        "def f(): pass\ndef g()\n    pass\ndef h(): pass\n", [("SyntaxError", 2)], ["f", "h"],
    ),
    "a body that is missing": ("def g():\n# to do\n\nx = 1\n", [("IndentationError", 4)], ["x"]),
    "lines of IPython": ("!pip install it\nimport re\nx = 1\n%time x\n", [("SyntaxError", 1)], ["x"]),
    "marks of a conflict": (
        "<<<<<<< HEAD\nx = 1\n=======\ny = 2\n>>>>>>> main\n", [("SyntaxError", 1)], ["x", "y"],
    ),
    "Python 2": (
        "print 'old'\nif x := 1:\n    y = 1\nelse:\n    y = 2\n", [("SyntaxError", 1)], ["x", "y"],
    ),
    "Python 2 below a text": ('t = """\nnot = = code\n"""\nprint "old"\n', [("SyntaxError", 4)], ["t"]),
    "Python 2 between statements": (
        "d = [\n1,\n]\nprint 'old'\n@staticmethod\ndef f(): pass\n", [("SyntaxError", 4)], ["d", "f"],
    ),
    "a return at the top": ("x = 1\nreturn x\ny = 2\n", [("SyntaxError", 2)], ["x", "y"]),
    "lines of Windows": ("x = 1\r\nprint 'old'\r\ny = 2\r\n", [("SyntaxError", 2)], ["x", "y"]),
    "lines below a broken part": (
        "print 'old'\n\n\ndef f():\n    return 1 / 0\n\n1 / 0\n",
        [("SyntaxError", 1), ("ZeroDivisionError", 7)],
        ["f"],
    ),
    "many errors": ("1 / 0\n" * 200, [("ZeroDivisionError", line) for line in range(1, 51)], []),
}  # fmt: skip
"""Source, its errors with their lines, and the names that are defined all the same."""


@pytest.mark.parametrize("what", RAISING)
def test_rest_after_errors(worker: Worker, what: str) -> None:
    source, errors, names = RAISING[what]
    report = worker.load(source)
    reported = [(error["type"], error["line"]) for error in report["errors"]]
    assert [kind for kind, _ in reported] == [kind for kind, _ in errors]
    assert what == "recursion" or reported == errors  # which call was the last is not known
    assert worker.ask("names") == names


def test_frames_of_errors(worker: Worker) -> None:
    report = worker.load("a = 1\nx = 1 / 0\nimport no_such_module\nx = input()\nx = 1 +\n")
    zero, module, prompt, syntax = sorted(report["errors"], key=lambda error: error["line"])
    assert zero["frames"] == [["solution.py", 2, "<module>", "x = 1 / 0"]] and zero["missing_module"] is None
    assert module["missing_module"] == "no_such_module" and "no one is there" in prompt["message"]
    assert f"graded with Python {sys.version_info[0]}.{sys.version_info[1]}" in syntax["message"]


def test_statements_on_one_line(worker: Worker) -> None:
    """Before Python 3.11 what follows on the same line is lost."""
    if worker.ready_message["python"] < (3, 11):
        pytest.skip("this Python does not say in which column a statement raised")
    report = worker.load("a = 1; b = 1 / 0; c = 3; e = 1 / 0\nd = 4")
    assert worker.ask("names") == ["a", "c", "d"] and len(report["errors"]) == 2


OWN = {f"an own {name}.py": ({f"{name}.py": "own = 5"}, f"from {name} import own as x", 5)
       for name in ("random", "string", "statistics")}  # fmt: skip
LOADED: dict[str, tuple[dict[str, str], str | bytes, Any]] = {
    **OWN,
    "the standard library beside an own os.py": (
        {"os.py": "own = 1"}, "import os, random\nx = os.sep, random.randint(1, 1)", (os.sep, 1),
    ),
    "an __init__.py at the top": ({"__init__.py": ""}, "import __main__\nx = __name__", "solution"),
    "data in another folder's file": ({"hw/a.py": "y = 2", "t.txt": "t"}, "import hw.a\nx = open('t.txt').read()", "t"),
    "a package": (
        {"model/__init__.py": "from .layers import LAYERS", "model/layers.py": "LAYERS = 3"},
        "import model\nfrom model.layers import LAYERS\nx = model.LAYERS + LAYERS",
        6,
    ),
    "names that are no identifiers": ({}, "globals()['0-bleu'] = 1\nx = globals()['0-bleu']", 1),
    "the future in every statement": (
        {}, "from __future__ import annotations\ndef f(a: Nothing): pass\nx = f.__annotations__", {"a": "Nothing"},
    ),
    "no future of ours": ({}, "def f(a: int): pass\nx = type(f.__annotations__['a']).__name__", "type"),
    "a forgotten debugger": ({}, "import pdb\nbreakpoint()\ndef f():\n    pdb.set_trace()\n    return 1\nx = f()", 1),
    "UTF-8": ({}, "x = 'ü'".encode(), "ü"),
    "UTF-8 with a mark": ({}, "\ufeffx = 'ü'".encode(), "ü"),
    "a declared encoding": ({}, "# -*- coding: latin-1 -*-\nx = 'ü'".encode("latin-1"), "ü"),
    "UTF-16": ({}, "x = 'ü'".encode("utf-16"), "ü"),
    "two encodings": ({}, b"# M\xfcller\n" + "x = 'ü'".encode(), "ü"),
    "Latin-1": ({}, "x = 'ü'".encode("latin-1"), "ü"),
    "line ends of Windows": ({}, b"x = 1\r\ny = 2\r\n", 1),
    "line ends of old Macs": ({}, b"x = 1\ry = 2\r", 1),
}  # fmt: skip
"""Further files, the source of solution.py, and the value of `x` in it."""


@pytest.mark.parametrize("what", LOADED)
def test_load_without_errors(worker: Worker, what: str) -> None:
    files, source, value = LOADED[what]
    for path, text in files.items():
        worker.put(path, text)
    assert worker.load(source)["errors"] == []
    assert worker.ask("get", space="student", name="x") == value


def test_module_in_folder(worker: Worker) -> None:
    """It finds its neighbours, by name and relatively, and the data at the top; later files are found as well."""
    worker.put("hw/helper.py", "y = 2")
    worker.put("data.txt", "text")
    source = "import helper\nfrom . import helper as same\nx = open('data.txt').read() + str(helper.y + same.y)"
    assert worker.load(f"{source}\nimport os\nos.chdir('/')", "hw/solution.py")["errors"] == []
    assert worker.ask("get", space="student", name="x") == "text4"
    worker.put("later.py", "y = 2")
    assert (
        worker.load("import later\nx = open('0-bleu (1).py').read()\ndef f(): return 1", "0-bleu (1).py")["errors"]
        == []
    )
    assert worker.ask("call", space="module:0-bleu (1)", name="f", args=[], kwargs={}) == 1


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def f(:\n  pass", 1),
        ("x = 1\n  y = 2", 2),
        ("x = '", 1),
        ("print 'hello'", 1),
        ("x = 1\0", None),
        ("(" * 500, 1),
    ],
)
def test_file_that_is_no_python(worker: Worker, source: str, line: int | None) -> None:
    [error] = worker.load(source)["errors"]
    assert error["type"] in ("SyntaxError", "IndentationError", "ValueError", "MemoryError", "RecursionError")
    assert error["line"] == line or line is None
    assert worker.ask("names") == []


def test_load_limit_keeps_names(worker: Worker) -> None:
    report = worker.load("a = 1\nwhile True: pass\nb = 2", soft_s=0.3)
    assert [(e["limit"], e["line"]) for e in report["errors"]] == [("time", 2)]
    assert worker.ask("names") == ["a"]


def test_file_is_real_module(worker: Worker) -> None:
    worker.define("""
        import inspect, pickle, sys
        class Model: pass
        def look():
            return __name__, __file__, sys.argv, sys.path[0], sys.modules[__name__].__dict__ is globals()
        def source(): return inspect.getsource(look)
        def pickled(): return type(pickle.loads(pickle.dumps(Model()))) is Model
        ran_as_script = __name__ == "__main__"
    """)
    work = str(worker.work)
    assert worker.call("look") == ("solution", work + "/solution.py", ["solution.py"], work, True)
    assert worker.call("source").startswith("def look") and worker.call("pickled") is True
    assert worker.ask("get", space="student", name="ran_as_script") is False


def test_files_import_each_other_once(worker: Worker) -> None:
    worker.put("helper.py", "print('once')\nclass Shared: pass\nbroken = 1 / 0\ndef late(): return 'late'")
    first = worker.load("from helper import Shared, late\ndef make(): return Shared()")
    assert first["errors"] == [] and first["printed"] == "once\n"
    report = worker.ask("load_module", path="helper.py", mode="run", forbid=[])
    assert report["printed"] == "" and [e["line"] for e in report["errors"]] == [3]
    worker.load("import helper\ndef check(x): return isinstance(x, helper.Shared)", "third.py")
    assert worker.call("check", worker.keep("make")) is True
    assert worker.call("late") == "late"


def test_name_belongs_to_defining_file(worker: Worker) -> None:
    worker.put("b.py", "def f(): return 'b.f'\ndef g(): return 'b.g'\nx = 'b.x'")
    worker.load("from b import f, x\ndef g(): return 'a.g'", "a.py")
    worker.ask("load_module", path="b.py", mode="run", forbid=[])
    assert worker.call("f") == "b.f" and worker.call("g") == "a.g"
    assert worker.ask("call", space="module:b.py", name="g", args=[], kwargs={}) == "b.g"
    assert worker.ask("get", space="student", name="x") == "b.x"


def test_folder_without_init_is_package(worker: Worker) -> None:
    """A file that another one imports was run a second time, by itself, and then knew nothing of its neighbours."""
    worker.put("hw/parts/numbers.py", "RUNS = []")
    worker.put("hw/parts/answers.py", "from .numbers import RUNS\nRUNS.append(__name__)\ndef f(): return RUNS")
    assert worker.load("from parts.answers import f", "hw/solution.py")["errors"] == []
    assert worker.ask("load_module", path="hw/parts/answers.py", mode="run", forbid=[])["errors"] == []
    assert worker.call("f") == ["parts.answers"]
    report = worker.load("from .parts import numbers\ndef g(): return numbers.RUNS", "hw/main.py")
    assert report["errors"] == [] and worker.call("g") == []


@pytest.mark.parametrize("name", ["numpy", "random", "json", "typing", "torch"])
def test_file_named_like_library(worker: Worker, name: str) -> None:
    report = worker.load("def f(): return 'mine'", f"{name}.py")
    assert report["errors"] == [] and worker.call("f") == "mine"
    assert worker.load("import numpy, random, json, typing\nx = numpy.zeros(1)", "solution.py")["errors"] == []
    assert worker.ask("call", seed=2, **worker.call_fields("f", [], {})) == "mine"


def test_syntax_error_in_neighbour(worker: Worker) -> None:
    worker.put("helper.py", "def f(:")
    report = worker.load("import helper\nx = 1")
    [error] = report["errors"]
    assert (error["type"], error["line"]) == ("SyntaxError", 1) and error["frames"][-1][0] == "helper.py"
    assert worker.ask("names") == ["x"]


def test_long_text_that_is_no_python(worker: Worker) -> None:
    began = time.monotonic()
    assert worker.load("x = 1\n" + "these are words (\n" * 20_000, soft_s=10.0)["errors"]
    assert time.monotonic() - began < 60


def test_neighbour_that_hangs(worker: Worker) -> None:
    """It leaves time for the rest."""
    worker.put("helper.py", "def g(): return 7\nwhile True: pass\ndef h(): return 8")
    report = worker.load("from helper import g, h\nx = g() + h()", soft_s=9.0, file_s=0.4)
    assert report["errors"] == [] and worker.ask("get", space="student", name="x") == 15


def test_definitions_after_time_of_file(worker: Worker) -> None:
    report = worker.load(
        "a = 1\nwhile True: pass\ndef f(): return a\nb = f()\nprint('no')\nimport re as c", soft_s=9.0, file_s=0.3
    )
    assert [(e["limit"], e["line"]) for e in report["errors"]] == [("time", 2)] and report["printed"] == ""
    assert worker.ask("names") == ["a", "b", "f"] and worker.call("f") == 1


def test_hints_that_name_nothing(worker: Worker) -> None:
    report = worker.load(
        "def f(x: Float[Tensor, 'n']) -> no.Such: return x\nclass C:\n    y: Nothing = 3\ndef g(x=nothing): return x"
    )
    assert [(e["type"], e["line"]) for e in report["errors"]] == [("NameError", 4)]
    assert worker.call("f", 3) == 3 and worker.ask("get", space="student", name="C.y") == 3


def test_put_in_parts(worker: Worker) -> None:
    worker.ask("put", path="big.bin", data=b"ab")
    worker.ask("put", path="big.bin", data=b"cd", more=True)
    assert worker.ask("read", path="big.bin", limit=10) == b"abcd"
    assert worker.ask("read", path="big.bin", limit=2, start=1) == b"bc"
    worker.ask("put", path="big.bin", data=b"new")
    assert worker.ask("read", path="big.bin", limit=10) == b"new"
