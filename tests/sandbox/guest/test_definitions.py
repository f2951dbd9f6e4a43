"""`load: definitions`: what is run, what is skipped and said to be."""

import math
import time

import pytest

from tests.support.bare_worker import Worker, text_of

SOURCE = '''"""The docstring."""
import math
from collections import Counter
try:
    import numpy as np
except ImportError:
    np = None
if True:
    SIZE = 3
LIMIT = 5
names: list = ["a"]
table = {k: len(k) for k in names}
data = open("none").read()
slow = __import__("time").sleep(30)
def f(): return LIMIT
async def g(): pass
class Model:
    x = 1
f()
print("working")
for i in range(10**9):
    pass
while True: pass
with open("out.txt", "w") as out: out.write("x")
model = Model()
LIMIT += 1
assert False
del names
if __name__ == "__main__":
    f()
if SIZE > 2:
    f()
square = math.sqrt(4)
raise SystemExit
'''


@pytest.mark.long
def test_definitions_run_and_work_is_skipped(worker: Worker) -> None:
    began = time.monotonic()
    report = worker.load(SOURCE, mode="definitions")
    assert time.monotonic() - began < 60
    assert report["errors"] == [] and report["printed"] == ""
    public = ["Counter", "LIMIT", "Model", "SIZE", "f", "g", "model", "names", "square", "table"]
    assert worker.ask("names") == public
    assert worker.call("f") == 6
    skipped = {text.split(":")[0]: text.split(": ", 1)[1] for text in report["skipped"]}
    assert skipped == {
        "line 13": "data = open(\"none\").read() (FileNotFoundError: [Errno 2] No such file or directory: 'none')",
        "line 14": 'slow = __import__("time").sleep(30) (took longer than 1 s)',
        "line 19": "f()",
        "line 20": 'print("working")',
        "line 21": "for i in range(10**9):",
        "line 23": "while True: pass",
        "line 24": 'with open("out.txt", "w") as out: out.write("x")',
        "line 27": "assert False",
        "line 28": "del names",
        "line 29": 'if __name__ == "__main__":',
        "line 31": "if SIZE > 2:",
        "line 34": "raise SystemExit",
    }
    assert not (worker.work / "out.txt").exists()


def test_definition_that_raises(worker: Worker) -> None:
    report = worker.load("import no_such_module\nclass A(Missing): pass\ndef f(): return 1", mode="definitions")
    assert [(e["type"], e["line"]) for e in report["errors"]] == [("ModuleNotFoundError", 1), ("NameError", 2)]
    assert worker.call("f") == 1


def test_definitions_of_imported_files(worker: Worker) -> None:
    worker.put("train.py", "def step(): return 'step'\nwhile True: pass")
    assert worker.load("from train import step", mode="definitions", soft_s=5.0)["errors"] == []
    report = worker.ask("load_module", path="train.py", mode="definitions", forbid=[])
    assert report["skipped"] == ["line 2: while True: pass"] and worker.call("step") == "step"


def test_import_of_several(worker: Worker) -> None:
    report = worker.load("import no_such_module, math\ndef f(): return math.pi", mode="definitions")
    assert [error["type"] for error in report["errors"]] == ["ModuleNotFoundError"]
    assert worker.call("f") == math.pi


CELLS = [
    "!pip install torch\nimport math",
    "%matplotlib inline\ndef area(r):\n    return math.pi * r ** 2",
    "%%bash\nrm -rf everything",
    "%%time\nx = area(1)",
    "for epoch in range(10**9):\n    pass",
    "area(2)\n\nclass Model: pass",
    "def broken(:",
    "1/0",
    "y = 1/0\nz = 3",
    "area?",
]


@pytest.mark.parametrize("fixture", ["worker", "shell_worker"])
def test_definitions_of_notebook(request: pytest.FixtureRequest, fixture: str) -> None:
    worker = request.getfixturevalue(fixture)
    cells = worker.notebook(*CELLS, mode="definitions")
    statuses = [c["status"] for c in cells]
    assert statuses == ["ok", "ok", "skipped", "ok", "skipped", "ok", "raised", "skipped", "ok", "skipped"]
    assert [c["skipped"] for c in cells[:5]] == [
        "!pip install torch",
        "%matplotlib inline",
        "the cell %%bash",
        "%%time",
        "line 1: for epoch in range(10**9):",
    ]
    assert cells[6]["raised"]["type"] == "SyntaxError" and text_of(cells[0]) == ""
    assert worker.ask("names") == ["Model", "area", "x", "z"] and worker.call("area", 0) == 0
