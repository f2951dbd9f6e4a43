"""Loading a student's files: what a statement that raises costs, where names belong, how files import one another."""

import os
import sys
import time
from typing import Any

import pytest

from tests.support.bare_worker import Worker


def test_a_statement_that_raises_does_not_stop_the_rest(worker: Worker) -> None:
    report = worker.load("""
        a = 1
        b = undefined
        @undefined
        def c(): pass
        def d(): return a
        for i in range(3):
            x = 1 / 0
        e = (1,
             2 / 0)
        f = 6
    """)
    assert [(e["type"], e["line"]) for e in report["errors"]] == [
        ("NameError", 3),
        ("NameError", 4),
        ("ZeroDivisionError", 8),
        ("ZeroDivisionError", 10),
    ]
    assert worker.ask("names") == ["a", "d", "f", "i"] and worker.call("d") == 1
    assert report["errors"][2]["frames"] == [["solution.py", 8, "<module>", "x = 1 / 0"]]


@pytest.mark.parametrize(
    "statement",
    [
        "import sys; sys.exit()",
        "raise KeyboardInterrupt",
        "exit()",
        "def r(): r()\nr()",
        "bytearray(1 << 60)",
        "assert 0",
    ],
)
def test_whatever_a_statement_raises_the_rest_is_run(worker: Worker, statement: str) -> None:
    report = worker.load(f"{statement}\nafter = 1")
    assert len(report["errors"]) == 1 and "after" in worker.ask("names")


def test_several_statements_on_a_line(worker: Worker) -> None:
    """Before Python 3.11 what follows on the same line is lost."""
    if worker.ready_message["python"] < (3, 11):
        pytest.skip("this Python does not say in which column a statement raised")
    report = worker.load("a = 1; b = 1 / 0; c = 3; e = 1 / 0\nd = 4")
    assert worker.ask("names") == ["a", "c", "d"] and len(report["errors"]) == 2


def test_many_errors_are_cut(worker: Worker) -> None:
    assert len(worker.load("1 / 0\n" * 200)["errors"]) == 50


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
def test_a_file_that_is_no_python_is_said_to_be(worker: Worker, source: str, line: int | None) -> None:
    [error] = worker.load(source)["errors"]
    assert error["type"] in ("SyntaxError", "IndentationError", "ValueError", "MemoryError", "RecursionError")
    assert error["line"] == line or line is None
    assert worker.ask("names") == []


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("x = 'ü'".encode(), "ü"),
        ("\ufeffx = 'ü'".encode(), "ü"),
        ("# -*- coding: latin-1 -*-\nx = 'ü'".encode("latin-1"), "ü"),
        ("x = 'ü'".encode("utf-16"), "ü"),
        (b"# M\xfcller\n" + "x = 'ü'".encode(), "ü"),
        ("x = 'ü'".encode("latin-1"), "ü"),
        (b"x = 1\r\ny = 2\r\n", 1),
        (b"x = 1\ry = 2\r", 1),
    ],
)
def test_files_are_read_in_the_encoding_that_they_have(worker: Worker, data: bytes, value: Any) -> None:
    assert worker.load(data)["errors"] == []
    assert worker.ask("get", space="student", name="x") == value


def test_what_is_printed_while_loading_is_reported(worker: Worker) -> None:
    assert worker.load("print('hello')")["printed"] == "hello\n"


def test_the_soft_limit_ends_loading_and_keeps_what_there_is(worker: Worker) -> None:
    report = worker.load("a = 1\nwhile True: pass\nb = 2", soft_s=0.3)
    assert [(e["limit"], e["line"]) for e in report["errors"]] == [("time", 2)]
    assert worker.ask("names") == ["a"]


def test_the_future_holds_for_every_statement(worker: Worker) -> None:
    worker.load("from __future__ import annotations\n1 / 0\ndef f(x: NoSuchType) -> None: pass")
    assert "f" in worker.ask("names")


def test_our_own_future_is_not_the_students(worker: Worker) -> None:
    worker.define("def f(x: int): pass\nkind = type(f.__annotations__['x']).__name__")
    assert worker.ask("get", space="student", name="kind") == "type"


def test_a_file_is_a_real_module(worker: Worker) -> None:
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


def test_a_file_name_that_is_no_identifier(worker: Worker) -> None:
    worker.load("def f(): return 1", "0-bleu (1).py")
    assert worker.call("f") == 1
    assert worker.ask("call", space="module:0-bleu (1)", name="f", args=[], kwargs={}) == 1


def test_names_that_are_no_identifiers(worker: Worker) -> None:
    worker.define("globals()['0-bleu'] = lambda: 5")
    assert worker.call("0-bleu") == 5


def test_files_import_one_another_once(worker: Worker) -> None:
    worker.put("helper.py", "print('once')\nclass Shared: pass\nbroken = 1 / 0\ndef late(): return 'late'")
    first = worker.load("from helper import Shared, late\ndef make(): return Shared()")
    assert first["errors"] == [] and first["printed"] == "once\n"
    report = worker.ask("load_module", path="helper.py", mode="run", forbid=[])
    assert report["printed"] == "" and [e["line"] for e in report["errors"]] == [3]
    worker.load("import helper\ndef check(x): return isinstance(x, helper.Shared)", "third.py")
    assert worker.call("check", worker.keep("make")) is True
    assert worker.call("late") == "late"


def test_a_name_belongs_to_the_file_that_defines_it(worker: Worker) -> None:
    worker.put("b.py", "def f(): return 'b.f'\ndef g(): return 'b.g'\nx = 'b.x'")
    worker.load("from b import f, x\ndef g(): return 'a.g'", "a.py")
    worker.ask("load_module", path="b.py", mode="run", forbid=[])
    assert worker.call("f") == "b.f" and worker.call("g") == "a.g"
    assert worker.ask("call", space="module:b.py", name="g", args=[], kwargs={}) == "b.g"
    assert worker.ask("get", space="student", name="x") == "b.x"


def test_a_file_in_a_folder_finds_its_neighbours_and_the_data(worker: Worker) -> None:
    worker.put("hw/helper.py", "y = 2")
    worker.put("data.txt", "text")
    report = worker.load("import helper\nwith open('data.txt') as f: x = f.read() + str(helper.y)", "hw/solution.py")
    assert report["errors"] == [] and worker.ask("get", space="student", name="x") == "text2"


def test_packages_and_relative_imports(worker: Worker) -> None:
    worker.put("model/__init__.py", "from .layers import LAYERS")
    worker.put("model/layers.py", "LAYERS = 3")
    report = worker.load(
        "from . import layers\nfrom .layers import LAYERS\ndef f(): return layers.LAYERS", "model/main.py"
    )
    assert report["errors"] == [] and worker.call("f") == 3
    assert worker.load("import model\nn = model.LAYERS")["errors"] == []


def test_a_folder_whose_files_import_each_other_is_a_package_without_saying_so(worker: Worker) -> None:
    """A file that another one imports was run a second time, by itself, and then knew nothing of its neighbours."""
    worker.put("hw/parts/numbers.py", "RUNS = []")
    worker.put("hw/parts/answers.py", "from .numbers import RUNS\nRUNS.append(__name__)\ndef f(): return RUNS")
    assert worker.load("from parts.answers import f", "hw/solution.py")["errors"] == []
    assert worker.ask("load_module", path="hw/parts/answers.py", mode="run", forbid=[])["errors"] == []
    assert worker.call("f") == ["parts.answers"]
    report = worker.load("from .parts import numbers\ndef g(): return numbers.RUNS", "hw/main.py")
    assert report["errors"] == [] and worker.call("g") == []


def test_an_init_file_at_the_top_makes_no_package_of_the_work_folder(worker: Worker) -> None:
    """It did: the module was then looked for as `box.solution`, and a right submission lost everything."""
    worker.put("__init__.py", "")
    report = worker.load("import __main__\ndef f(): return __name__")
    assert report["errors"] == [] and worker.call("f") == "solution"


def test_files_put_after_the_first_load_are_found(worker: Worker) -> None:
    worker.define("x = 1")
    worker.put("later.py", "y = 2")
    assert worker.load("import later", "second.py")["errors"] == []


@pytest.mark.parametrize("name", ["numpy", "random", "json", "typing", "torch"])
def test_a_file_named_like_a_library_leaves_the_library_alone(worker: Worker, name: str) -> None:
    report = worker.load("def f(): return 'mine'", f"{name}.py")
    assert report["errors"] == [] and worker.call("f") == "mine"
    assert worker.load("import numpy, random, json, typing\nx = numpy.zeros(1)", "solution.py")["errors"] == []
    assert worker.ask("call", seed=2, **worker.call_fields("f", [], {})) == "mine"


def test_a_missing_module_is_named(worker: Worker) -> None:
    report = worker.load("import no_such_module\nfrom numpy import no_such_name\nimport solution2\nx = 1")
    assert [(e["type"], e["missing_module"]) for e in report["errors"]] == [
        ("ModuleNotFoundError", "no_such_module"),
        ("ImportError", None),
        ("ModuleNotFoundError", "solution2"),
    ]


def test_a_syntax_error_in_a_neighbour_is_that_files(worker: Worker) -> None:
    worker.put("helper.py", "def f(:")
    report = worker.load("import helper\nx = 1")
    [error] = report["errors"]
    assert (error["type"], error["line"]) == ("SyntaxError", 1) and error["frames"][-1][0] == "helper.py"
    assert worker.ask("names") == ["x"]


def test_input_has_no_one_to_answer(worker: Worker) -> None:
    [error] = worker.load("x = input('your name? ')")["errors"]
    assert (error["type"], "no one is there" in error["message"]) == ("RuntimeError", True)


@pytest.mark.parametrize("name", ["random", "string", "statistics"])
def test_own_modules_win_over_the_standard_library(worker: Worker, name: str) -> None:
    worker.put(f"{name}.py", "def own(): return 5")
    worker.load(f"from {name} import own\ndef f(): return own()")
    assert worker.call("f") == 5


def test_the_standard_library_is_found_without_own_modules(worker: Worker) -> None:
    worker.put("os.py", "own = 1")
    report = worker.load("import os, random\ndef f(): return os.sep, random.randint(1, 1)")
    assert report["errors"] == [] and worker.call("f") == (os.sep, 1)


def test_syntax_errors_name_the_version(worker: Worker) -> None:
    [error] = worker.load("x = 1\nx = 1 +\n")["errors"]
    assert f"graded with Python {sys.version_info[0]}.{sys.version_info[1]}" in error["message"]


def test_changing_the_directory_does_not_lose_the_next_file(worker: Worker) -> None:
    worker.load("import os\nos.chdir('/')", "a.py")
    assert worker.load("x = open('b.py').read()", "b.py")["errors"] == []


BROKEN_PARTS = [
    ("def f(): pass\ndef g():\n    x = (1,\n", ["f"], 3),
    ("def f(): pass\ndef g()\n    pass\ndef h(): pass\n", ["f", "h"], 2),
    ("def g():\n# to do\n\nx = 1\n", ["x"], 4),
    ("!pip install it\nimport re\nx = 1\n%time x\n", ["x"], 1),
    ("<<<<<<< HEAD\nx = 1\n=======\ny = 2\n>>>>>>> main\n", ["x", "y"], 1),
    ("print 'old'\nif x := 1:\n    y = 1\nelse:\n    y = 2\n", ["x", "y"], 1),
    ('t = """\nnot = = code\n"""\nprint "old"\n', ["t"], 4),
    ("d = [\n1,\n]\nprint 'old'\n@staticmethod\ndef f(): pass\n", ["d", "f"], 4),
    ("x = 1\nreturn x\ny = 2\n", ["x", "y"], 2),
    ("x = 1\r\nprint 'old'\r\ny = 2\r\n", ["x", "y"], 2),
]


@pytest.mark.parametrize(("source", "names", "line"), BROKEN_PARTS)
def test_what_is_no_python_costs_only_its_statement(worker: Worker, source: str, names: list[str], line: int) -> None:
    [error] = worker.load(source)["errors"]
    assert (error["type"], error["line"]) == ("SyntaxError", line) or error["type"] == "IndentationError"
    assert worker.ask("names") == names


def test_lines_are_those_of_the_file_when_a_part_is_broken(worker: Worker) -> None:
    report = worker.load("print 'old'\n\n\ndef f():\n    return 1 / 0\n\n1 / 0\n")
    assert [(e["type"], e["line"]) for e in report["errors"]] == [("SyntaxError", 1), ("ZeroDivisionError", 7)]
    assert worker.raises("call", **worker.call_fields("f", [], {}))["frames"][-1][1] == 5


def test_a_long_text_that_is_no_python_is_read_in_time(worker: Worker) -> None:
    began = time.monotonic()
    assert worker.load("x = 1\n" + "these are words (\n" * 20_000, soft_s=10.0)["errors"]
    assert time.monotonic() - began < 60


def test_after_the_time_of_a_file_its_definitions_are_run(worker: Worker) -> None:
    report = worker.load(
        "a = 1\nwhile True: pass\ndef f(): return a\nb = f()\nprint('no')\nimport re as c", soft_s=9.0, file_s=0.3
    )
    assert [(e["limit"], e["line"]) for e in report["errors"]] == [("time", 2)] and report["printed"] == ""
    assert worker.ask("names") == ["a", "b", "f"] and worker.call("f") == 1


def test_a_neighbour_that_hangs_leaves_time_for_the_rest(worker: Worker) -> None:
    worker.put("helper.py", "def g(): return 7\nwhile True: pass\ndef h(): return 8")
    report = worker.load("from helper import g, h\nx = g() + h()", soft_s=9.0, file_s=0.4)
    assert report["errors"] == [] and worker.ask("get", space="student", name="x") == 15


def test_each_import_of_a_line_is_one_of_its_own(worker: Worker) -> None:
    report = worker.load(
        "import re, no_such_module, math as m, json\nx = m.sqrt(4) + len(json.dumps(1)) + len(re.__name__)"
    )
    assert [(e["missing_module"], e["line"]) for e in report["errors"]] == [("no_such_module", 1)]
    assert worker.ask("get", space="student", name="x") == 5


def test_hints_that_name_nothing_do_not_cost_the_function(worker: Worker) -> None:
    report = worker.load(
        "def f(x: Float[Tensor, 'n']) -> no.Such: return x\nclass C:\n    y: Nothing = 3\ndef g(x=nothing): return x"
    )
    assert [(e["type"], e["line"]) for e in report["errors"]] == [("NameError", 4)]
    assert worker.call("f", 3) == 3 and worker.ask("get", space="student", name="C.y") == 3


def test_a_debugger_that_was_left_in_goes_on(worker: Worker) -> None:
    report = worker.load(
        "import pdb\nbreakpoint()\npdb.set_trace()\nx = 1\ndef f():\n    pdb.set_trace()\n    return x"
    )
    assert report["errors"] == [] and worker.call("f") == 1


def test_large_files_come_in_parts(worker: Worker) -> None:
    worker.ask("put", path="big.bin", data=b"ab")
    worker.ask("put", path="big.bin", data=b"cd", more=True)
    assert worker.ask("read", path="big.bin", limit=10) == b"abcd"
    assert worker.ask("read", path="big.bin", limit=2, start=1) == b"bc"
    worker.ask("put", path="big.bin", data=b"new")
    assert worker.ask("read", path="big.bin", limit=10) == b"new"
