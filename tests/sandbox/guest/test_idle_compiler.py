"""The stand-in for torch's compiler: what it answers itself, and that the compiler comes where it is needed."""

import subprocess
import sys

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.long  # each imports torch, some its compiler; no ordinary change touches what they test

BEFORE = """
import inspect, sys, torch
from viva.sandbox.guest.process import idle_compiler
idle_compiler.install()

def idle():
    return "torch._dynamo.eval_frame" not in sys.modules

def trained(optimizer):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    steps = optimizer(model.parameters(), lr=0.1)
    for _ in range(5):
        steps.zero_grad()
        model(torch.eye(3)).square().sum().backward()
        steps.step()
    steps.load_state_dict(steps.state_dict())
    steps.add_param_group({"params": [torch.nn.Parameter(torch.ones(2))]})
    return [value.tolist() for value in model.parameters()]

OPTIMIZERS = (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad)
"""
IN_USE = """
import torch._dynamo.config as config
assert not idle()
assert config is torch._dynamo.config is sys.modules["torch._dynamo.config"], "loaded twice"
assert sys.modules["torch._dynamo"] is torch._dynamo and type(torch._dynamo) is type(torch)
function = torch.compile(lambda x: 2 * x + 1, backend="eager")
assert function(torch.ones(2)).tolist() == [3, 3]
model = torch.compile(torch.nn.Linear(2, 1), backend="eager")
steps = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(1, 2)).sum().backward()
steps.step(), steps.zero_grad()
"""


def ran(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", BEFORE + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_optimizers_without_compiler() -> None:
    ran("""
found = [trained(optimizer) for optimizer in OPTIMIZERS]
assert idle()
import torch._dynamo.eval_frame
assert not idle()
assert found == [trained(optimizer) for optimizer in OPTIMIZERS]
""")


def test_looking_at_all_modules_loads_nothing() -> None:
    ran("""
inspect.getmodule(trained)
for module in list(sys.modules.values()):
    getattr(module, "__file__", None), getattr(module, "__path__", None), getattr(module, "__all__", None)
    getattr(module, "__warningregistry__", None)
import torch._dynamo
assert idle() and torch._dynamo.__file__.endswith("__init__.py")
""")


def test_disabled_function() -> None:
    ran("""
@torch._dynamo.disable
def f(): return 1
@torch._dynamo.disable(recursive=False)
def g(): return 2
assert idle() and (f(), g()) == (1, 2)
""")


NEEDS_IT = [
    "import torch._dynamo.config",
    "import torch._dynamo.trace_rules",
    "from torch._dynamo import optimize, OptimizedModule",
    "import torch._dynamo; torch._dynamo.reset()",
    "import torch._dynamo as compiler; compiler.list_backends()",
    "from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex",
    "torch.compile(torch.nn.Linear(2, 1), backend='eager')(torch.ones(1, 2))",
    "assert not hasattr(torch._dynamo, 'no_such_name')",
    "import importlib; importlib.import_module('torch._dynamo.utils')",
]


def test_compiler_comes_where_needed() -> None:
    ran(f"""
import os
trained(torch.optim.Adam)
assert idle()
for needs_it in {NEEDS_IT!r}:
    child = os.fork()  # torch is imported once for all of them
    if not child:
        exec(needs_it + {IN_USE!r}, globals())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, needs_it
""")


def test_missing_part_of_compiler() -> None:
    ran("""
try:
    import torch._dynamo.no_such_part
except ModuleNotFoundError as error:
    assert error.name == "torch._dynamo.no_such_part"
else:
    raise AssertionError("found")
assert not idle()
""")


def test_install_without_torch_or_with_compiler() -> None:
    ran("""
import torch._dynamo.config
real, finders = torch._dynamo, [*sys.meta_path]
idle_compiler.install()
assert torch._dynamo is real and sys.meta_path == finders
del sys.modules["torch"], sys.modules["torch._dynamo"]
idle_compiler.install()
assert "torch._dynamo" not in sys.modules
""")
