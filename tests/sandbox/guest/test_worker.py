"""The operations on a box, one after the other, and that a student's program cannot break the loop that serves them."""

import time
from pathlib import Path

import numpy as np
import pytest

from tests.support.bare_worker import Forker, Worker
from tests.support.same_values import same
from viva.sandbox.guest.transport import wire


def test_put_list_and_read(worker: Worker) -> None:
    worker.put("a/b.txt", b"hello")
    worker.put("solution.py", b"x = 1")
    worker.put("__pycache__/old.pyc", b"x")
    (worker.work / "link").symlink_to("/etc/passwd")
    assert worker.ask("files") == [["a/b.txt", 5], ["solution.py", 5]]
    assert worker.ask("read", path="a/b.txt", limit=3) == b"hel"
    assert worker.raises("read", path="none", limit=3)["type"] == "FileNotFoundError"


@pytest.mark.parametrize("path", ["/tmp/x", "../x", "a/../../x"])
def test_put_outside_is_refused(worker: Worker, path: str) -> None:
    assert "leads out" in worker.raises("put", path=path, data=b"x")["message"]


SOLUTION = """
import numpy as np
import sys
from os.path import join as _borrowed
LIMIT = 5
_private = 1
def add(a, b=1): return a + b
def change(values, extra=None):
    values.append(1)
    print("changing")
    return len(values)
def fail(): raise ValueError("no")
class Model:
    kind = "small"
    def __init__(self, size): self.size = size
    @classmethod
    def of(cls, size): return cls(size)
    def double(self): return 2 * self.size
    def __getitem__(self, key): return (self.size, key)
    def __enter__(self): self.inside = True; return self
    def __exit__(self, *error): self.inside = False
def count(n):
    yield from range(n)
def echo(*args, **kwargs): return list(args), kwargs
"""


@pytest.fixture
def solution(worker: Worker) -> Worker:
    """A worker with the module above."""
    worker.define(SOLUTION)
    return worker


def test_public_names(solution: Worker) -> None:
    expected = ["LIMIT", "Model", "add", "change", "count", "echo", "fail"]
    assert solution.ask("names") == solution.ask("names", space="module:solution") == expected
    assert solution.ask("names", space="module:other") == []


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("add", (True, True, "function")),
        ("Model", (True, True, "class")),
        ("Model.of", (True, True, "function")),
        ("Model.kind", (True, False, "value")),
        ("LIMIT", (True, False, "value")),
        ("np", (True, False, "module")),
        ("nothing", (False, False, "")),
    ],
)
def test_names_are_found(solution: Worker, name: str, found: tuple[bool, bool, str]) -> None:
    reply = solution.ask("find", space="student", name=name)
    assert (reply["found"], reply["callable"], reply["kind"]) == found


def test_find_lists_functions(solution: Worker) -> None:
    told = solution.ask("find", space="student", name="LIMIT", more=True)["more"]
    assert told == ["add", "change", "fail", "count", "echo"]
    assert solution.ask("find", space="student", name="LIMIT")["more"] == []


def test_find_in_file_with_odd_name(worker: Worker) -> None:
    worker.define("class Odd:\n    def __eq__(self, other): raise ValueError\n__name__ = Odd()\ndef f(): return 1\n")
    assert worker.ask("find", space="student", name="f", more=True)["found"] is True
    assert worker.call("f") == 1


@pytest.mark.parametrize(
    ("name", "close"),
    [("ad", ["add"]), ("model", ["Model"]), ("Model.doubel", ["Model.double"]), ("lim_it", ["LIMIT"]), ("zzzz", [])],
)
def test_missing_name_with_closest(solution: Worker, name: str, close: list[str]) -> None:
    assert solution.ask("find", space="student", name=name)["close"] == close
    assert solution.raw("call", **solution.call_fields(name, [], {})) == {"missing": name, "close": close}


def test_functions_are_called(solution: Worker) -> None:
    assert solution.call("add", 1) == 2
    assert solution.call("add", 1, b=2) == 3
    assert solution.call("add", np.arange(2), 1).tolist() == [1, 2]
    assert solution.ask("get", space="student", name="LIMIT") == 5
    assert solution.call_raises("fail")["message"] == "no"


def test_arguments_arrive_as_they_were_sent(solution: Worker) -> None:
    sent = [1, "a", (1, 2), {"k": {3}}, np.eye(2), np.float32(1.5), b"x", None, [np.zeros(3000)]]
    args, kwargs = solution.call("echo", *sent, key=sent)
    assert same(args, sent) and same(kwargs, {"key": sent})


def test_full_call(solution: Worker) -> None:
    told = solution.ask("call", full=True, **solution.call_fields("change", [[0]], {"extra": {"a": [1]}}))
    assert told["value"] == 2
    assert told["args_after"] == [[[0, 1]], {"extra": {"a": [1]}}]
    assert told["printed"] == "changing\n"
    assert told["raised"] is None
    told = solution.ask("call", full=True, **solution.call_fields("fail", [], {}))
    assert told["raised"]["type"] == "ValueError" and told["value"] is None


def test_printed_is_capped(worker: Worker) -> None:
    worker.define("import sys\ndef speak(n):\n    print('x' * n)\n    sys.stdout.buffer.write(b'end')")
    told = worker.ask("call", full=True, **worker.call_fields("speak", [10], {}))
    assert told["printed"] == "x" * 10 + "\nend"
    told = worker.ask("call", full=True, **worker.call_fields("speak", [10**6], {}))
    assert told["printed"].endswith("[cut after 256 KiB]") and len(told["printed"]) < 300_000


def test_keep_and_release(solution: Worker) -> None:
    model = solution.keep("Model", 3)
    assert (type(model), model.type_name, model.text) == (wire.Ref, "Model", "<solution.Model object>")
    assert solution.ask("attribute", ref=model.id, name="size") == 3
    assert solution.ask("item", ref=model.id, key="k") == (3, "k")
    assert solution.call("Model.double", model) == 6
    assert solution.call("echo", [model.id, {"m": 1}])[0] == [[model.id, {"m": 1}]]
    double = solution.ask("attribute", ref=model.id, name="double", keep=True)
    assert solution.ask("call", ref=double.id, args=[], kwargs={}) == 6
    assert solution.raises("attribute", ref=model.id, name="none")["type"] == "AttributeError"
    solution.ask("names", release=[model.id])
    assert "no object number" in solution.raises("attribute", ref=model.id, name="size")["message"]
    assert "no object number" in solution.raises("call", **solution.call_fields("echo", [[model]], {}))["message"]


def test_nested_objects_are_references(solution: Worker) -> None:
    args, _ = solution.call("echo", {"deep": [solution.keep("Model", 4)]})
    assert solution.call("Model.double", args[0]["deep"][0]) == 8


def test_anything_can_be_kept(solution: Worker) -> None:
    kept = solution.keep("add", 1)
    assert (kept.type_name, kept.text) == ("int", "2")
    assert solution.ask("get", ref=kept.id) == 2
    assert solution.ask("get", space="student", name="LIMIT", keep=True).type_name == "int"


def test_iterators_are_stepped(solution: Worker) -> None:
    steps = solution.keep("count", 2)
    assert [solution.raw("next", ref=steps.id) for _ in range(3)] == [{"ok": 0}, {"ok": 1}, {"stop": True}]


def test_contexts_are_entered_and_left(solution: Worker) -> None:
    model = solution.keep("Model", 1)
    entered = solution.ask("enter", ref=model.id, keep=True)
    assert solution.ask("attribute", ref=entered.id, name="inside") is True
    assert solution.ask("exit", ref=model.id) is None
    assert solution.ask("attribute", ref=model.id, name="inside") is False


def test_names_are_set(worker: Worker) -> None:
    worker.define("def use(): return forgotten, model.x")
    worker.ask("set", space="student", names={"forgotten": 3})
    worker.load("class M:\n    x = 5", "other.py")
    worker.ask("set", space="student", names={"model": worker.keep("M")})
    assert worker.call("use") == (3, 5)


def test_names_set_by_a_test_are_restored(worker: Worker) -> None:
    worker.define("known = 1\ndef use(): return known\ndef new(): return forgotten")
    worker.ask("set", space="student", names={"known": 2, "forgotten": 3}, seed=1)
    worker.ask("set", space="student", names={"known": 4})
    assert (worker.call("use"), worker.call("new")) == (4, 3)
    assert worker.ask("call", **worker.call_fields("use", [], {}), seed=2) == 1
    assert worker.call_raises("new")["type"] == "NameError"
    assert worker.ask("find", space="student", name="forgotten")["found"] is False


def test_object_numbers_depend_on_test_alone(solution: Worker) -> None:
    def kept(seed: int) -> list[int]:
        first = solution.ask("call", keep=True, seed=seed, **solution.call_fields("Model", [seed], {})).id
        return [first, solution.keep("Model", seed).id]

    alone = kept(5)
    assert kept(6) != alone
    again = kept(5)  # a second look at a test, in the same box
    assert [number - alone[0] for number in alone + again] == [0, 1, 2, 3]
    assert [solution.ask("attribute", ref=number, name="size") for number in alone + again] == [5] * 4
    assert solution.ask("attribute", ref=kept(2**32 - 1)[0], name="size") == 2**32 - 1


def test_helpers_beside_student_code(worker: Worker) -> None:
    worker.ask("load_inside", sources={"inside.py": "import numpy\ndef apply(f, *a): return f(*a)\nX = 1"})
    worker.define("def double(x): return 2 * x\ndef fail(): return 1 / 0")
    double = worker.ask("get", space="student", name="double", keep=True)
    fail = worker.ask("get", space="student", name="fail", keep=True)
    assert worker.ask("call", space="inside", name="apply", args=[double, 4], kwargs={}) == 8
    assert worker.ask("names", space="inside") == ["X", "apply"]
    raised = worker.raises("call", space="inside", name="apply", args=[fail], kwargs={})
    assert [frame[:3] for frame in raised["frames"]] == [["solution.py", 2, "fail"]]
    assert worker.raises("load_inside", sources={"inside.py": "1/0"})["type"] == "ZeroDivisionError"


def test_helpers_of_several_files(worker: Worker) -> None:
    sources = {
        "inside/__init__.py": "from .models import Tiny, made\nfrom . import loaders as of\n",
        "inside/models.py": "from inside.loaders import size\nclass Tiny:\n    rows = size()\nmade = __name__",
        "inside/loaders.py": "def size(): return 3\ndef fail(): return 1 / 0",
    }
    worker.ask("load_inside", sources=sources)
    assert worker.ask("names", space="inside") == ["Tiny", "made"]
    assert worker.ask("get", space="inside", name="Tiny.rows") == 3
    assert worker.ask("get", space="inside", name="made") == "inside.models"
    assert worker.raises("call", space="inside", name="of.fail", args=[], kwargs={})["type"] == "ZeroDivisionError"
    missing = worker.raises("load_inside", sources={"inside/__init__.py": "from .models import Tiny"})
    assert missing["type"] == "ModuleNotFoundError"  # nothing is left of what was loaded before


def test_student_file_called_inside(worker: Worker) -> None:
    worker.ask("load_inside", sources={"inside.py": "X = 1"})
    worker.load("X = 2", "inside.py")
    assert worker.ask("get", space="inside", name="X") == 1
    assert worker.ask("get", space="student", name="X") == 2


def test_commands_are_run(worker: Worker) -> None:
    worker.put("script.py", "import sys; print(sys.argv, input()); sys.exit(3)")
    done = worker.ask("run", argv=["python", "script.py", "a"], stdin="typed\n", limit_s=20)
    assert done == {"returncode": 3, "stdout": "['script.py', 'a'] typed\n", "stderr": ""}
    began = time.monotonic()
    done = worker.ask("run", argv=["sh", "-c", "sleep 30 & echo started; sleep 30"], stdin="", limit_s=0.3)
    assert (done["returncode"], done["stdout"]) == (None, "started\n") and time.monotonic() - began < 25
    assert worker.raises("run", argv=["no-such-command"], stdin="", limit_s=1)["type"] == "FileNotFoundError"


RANDOM = """
import random, warnings, decimal, os, sys
import numpy as np
def draw(): return random.random(), np.random.rand()
def disturb():
    np.seterr(all="raise"); warnings.simplefilter("error"); decimal.getcontext().prec = 3
    np.set_printoptions(precision=1); os.chdir("/")
def state(): return np.geterr()["over"], decimal.getcontext().prec, repr(np.array([0.12345])), os.getcwd()
def warn(): warnings.warn("careful", UserWarning)
"""


def test_seed_makes_reproducible(worker: Worker, forker: Forker, tmp_path: Path) -> None:
    worker.define(RANDOM)
    first = [worker.ask("call", seed=seed, **worker.call_fields("draw", [], {})) for seed in (7, 8, 7)]
    assert first[0] == first[2] != first[1]
    assert worker.call("draw") != first[2]
    other = tmp_path / "other"
    other.mkdir()
    with forker.fork(other) as second:
        second.define(RANDOM)
        assert second.ask("call", seed=7, **second.call_fields("draw", [], {})) == first[0]


def test_state_is_restored_with_seed(worker: Worker) -> None:
    worker.define(RANDOM)
    before = worker.call("state")
    worker.call("disturb")
    assert worker.call("state") != before
    assert worker.ask("call", seed=1, **worker.call_fields("state", [], {})) == before
    worker.call("warn")


def test_torch_state_is_restored_with_seed(torch_worker: Worker) -> None:
    torch_worker.define("""
        import torch
        def draw(): return torch.rand(3)
        def disturb():
            torch.set_default_dtype(torch.float64); torch.set_grad_enabled(False); torch.set_num_threads(2)
        def state(): return str(torch.get_default_dtype()), torch.is_grad_enabled(), torch.get_num_threads()
    """)
    before = torch_worker.call("state")
    fields = torch_worker.call_fields
    first = torch_worker.ask("call", seed=3, **fields("draw", [], {}))
    torch_worker.call("disturb")
    assert torch_worker.call("state") != before
    assert same(torch_worker.ask("call", seed=3, **fields("draw", [], {})), first)
    assert torch_worker.call("state") == before


def test_tensors_arrive_as_tensors(torch_worker: Worker) -> None:
    torch_worker.define("""
        def look(t, *more):
            t += 1
            return type(t).__name__, str(t.dtype), t.double()
        def train(layer, x):
            return layer(x).sum().backward() or layer.weight.grad
        def make():
            import torch
            return torch.nn.Linear(2, 1)
    """)
    for dtype in ("float32", "bfloat16", "int64"):
        name, kind, value = torch_worker.call("look", wire.Tensor(np.ones((2, 2)), dtype))
        assert (name, kind) == ("Tensor", f"torch.{dtype}") and same(value, np.full((2, 2), 2.0))
    layer = torch_worker.keep("make")
    assert layer.type_name == "Linear"
    gradient = torch_worker.call("train", layer, wire.Tensor(np.array([[1.0, 2.0]], "f4"), "float32"))
    assert same(gradient, np.array([[1, 2]], "f4"))


SABOTAGE: dict[str, str] = {
    "standard output": "import sys; sys.stdout = None; sys.stderr = None",
    "closed output": "import sys; sys.stdout.close()",
    "closed descriptors": "import os; os.close(1); os.close(2)",
    "json and struct": "import json, struct; json.dumps = json.loads = struct.pack = struct.unpack = None",
    "msgpack": "import msgpack; msgpack.packb = msgpack.unpackb = None",
    "numpy": "import numpy as np; np.asarray = np.frombuffer = np.dtype = np.ascontiguousarray = np.empty = None",
    "time and signal": "import time, signal; time.process_time = time.monotonic = signal.signal = signal.setitimer = 0",
    "os": "import os; os._exit = os.getcwd = os.chdir = os.makedirs = None",
    "modules": "import sys; [sys.modules.pop(n) for n in list(sys.modules) if 'viva' in n or n in ('json', 'random')]",
    "the recursion limit": "import sys; sys.setrecursionlimit(60)",
    "the trace": "import sys; sys.settrace(lambda *a: None); sys.setprofile(lambda *a: None)",
    "garbage collection": "import gc; gc.disable(); gc.set_threshold(1)",
    "the print function": "import builtins; builtins.print = builtins.open = builtins.input = None",
    "linecache": "import linecache; linecache.getline = None; linecache.cache = None",
    "the current directory": "import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')",
    "arguments": "import sys; sys.argv = None; sys.path = []",
    "warnings": "import warnings; warnings.simplefilter('error'); warnings.warn = None",
    "hooks": "import sys; sys.excepthook = sys.displayhook = sys.unraisablehook = None",
    "a thread": "import threading; threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()",
    "an exit handler": "import atexit; atexit.register(print, 'late')",
    "names of ours": "serve = Worker = wire = answer = None; __name__ = 'x'; __file__ = 3",
}


@pytest.mark.parametrize("statement", SABOTAGE.values(), ids=SABOTAGE)
def test_sabotage_does_not_break_the_loop(worker: Worker, statement: str) -> None:
    worker.load(f"{statement}\ndef f(x): return x\ndef g(): raise ValueError('mine')")
    assert same(worker.call("f", [np.arange(3), 1.5]), [np.arange(3), 1.5])
    assert worker.call_raises("g", soft_s=5.0)["message"] == "mine"
    assert worker.ask("call", seed=3, **worker.call_fields("f", [1], {})) == 1
    told = worker.ask("call", full=True, **worker.call_fields("f", [1], {}))
    assert told["value"] == 1


def test_invalid_requests(worker: Worker) -> None:
    assert worker.raises("no_such_operation")["type"] == "KeyError"
    assert worker.raises("call")["type"] == "TypeError"


def test_worker_ends_with_examiner(forker: Forker, tmp_path: Path) -> None:
    worker = forker.fork(tmp_path)
    pid = worker.ready_message["pid"]
    worker.socket.close()
    deadline = time.monotonic() + 5
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
