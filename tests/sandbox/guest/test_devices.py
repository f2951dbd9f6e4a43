"""`device: cpu`: wherever the student's code names an accelerator, the CPU of the box is meant."""

from typing import Any

import pytest

from tests.support.bare_worker import Worker

MOVED = [
    "x.cuda()",
    "x.cuda(0, non_blocking=True)",
    "x.to('cuda')",
    "x.to('cuda:1', torch.float64)",
    "x.to(device='mps')",
    "x.to(torch.device('cuda', 0))",
    "x.to(0)",
    "x.type('torch.cuda.LongTensor')",
    "x.type(torch.cuda.LongTensor)",
    "x.pin_memory().cuda()",
    "torch.zeros(2, device='cuda')",
    "torch.tensor([1.0], device=torch.device('cuda:0'))",
    "torch.rand(2, generator=torch.Generator(device='cuda').manual_seed(1), device='cuda')",
    "torch.empty_like(x, device='cuda')",
    "x.new_zeros(2, device='cuda')",
    "torch.cuda.FloatTensor([1.0])",
    "nn.Linear(2, 2).to('cuda').weight",
    "nn.Linear(2, 2).to(device='cuda:0').weight",
    "nn.Linear(2, 2).cuda().weight",
    "nn.Linear(2, 2, device='cuda').weight",
    "nn.DataParallel(nn.Linear(2, 2).cuda())(x.cuda())",
    "torch.amp.GradScaler('cuda', enabled=False).scale(x.cuda())",
    "torch.nested.nested_tensor([x], device='cuda')",
    "torch.signal.windows.hann(4, device='cuda')",
    "torch.fft.fftfreq(4, device='cuda')",
    "pack_padded_sequence(torch.ones(2, 2, 1), [2, 1]).to('cuda').data",
    "in_thread(lambda: x.cuda())",
    "next(iter(DataLoader([x], collate_fn=lambda batch: batch[0].cuda(), num_workers=1)))",
]
"""Expressions for tensors that would be on an accelerator."""

LATER = """
import pickle
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader

x = torch.ones(2)


def in_thread(function):
    with ThreadPoolExecutor() as pool:
        return pool.submit(function).result()
"""


def value_on_cpu(worker: Worker, source: str) -> Any:
    """What `value()` of a program returns with `device: cpu`."""
    assert worker.load(LATER + source, device="cpu")["errors"] == []
    return worker.call("value")


@pytest.mark.parametrize("expression", MOVED)
def test_tensor_is_on_the_cpu(torch_worker: Worker, expression: str) -> None:
    assert value_on_cpu(torch_worker, f"def value(): return str(({expression}).device)") == "cpu"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("str(torch.device('cuda:1'))", "cpu"),
        ("str(torch.device(type='cuda', index=1))", "cpu"),
        ("str(torch.device('meta'))", "meta"),
        ("str(torch.zeros(2, device='meta').device)", "meta"),
        ("str(x.to(torch.float64).dtype)", "torch.float64"),
        ("str(x.to(torch.ones(1).double()).dtype)", "torch.float64"),
        ("str(x.type('torch.cuda.DoubleTensor').dtype)", "torch.float64"),
        ("x.type()", "torch.FloatTensor"),
        ("isinstance(torch.device('cuda'), torch.device)", True),
        ("type(x.device) == torch.device and x.cuda().device == torch.device('cuda')", True),
        ("pickle.loads(pickle.dumps([torch.zeros, torch.Tensor.to])) == [torch.zeros, torch.Tensor.to]", True),
        ("torch.overrides.resolve_name(torch.zeros_like)", "torch.zeros_like"),
        ("torch._C._len_torch_function_stack()", 0),  # each call would pass through it, and take longer
        ("isinstance(torch.default_generator, torch.Generator)", True),
        ("torch.cuda.is_available() and not torch.backends.cuda.is_built()", False),
        ("(torch.cuda.synchronize(), torch.cuda.set_device(0), torch.cuda.get_device_name(0))", (None, None, "cpu")),
        ("float(torch.autograd.grad(nn.Linear(2, 1).cuda()(x.cuda().requires_grad_()).sum() * 0, [x])[0].sum())", 0.0),
    ],
)
def test_rest_of_torch_is_unchanged(torch_worker: Worker, expression: str, value: object) -> None:
    assert value_on_cpu(torch_worker, f"x.requires_grad_()\ndef value(): return {expression}") == value


COMPILED = {
    "eager": "torch.compile(moved, backend='eager')(x)",
    "aot_eager": "torch.compile(moved, backend='aot_eager')(x)",
    "one graph": "torch.compile(made, backend='eager', fullgraph=True)(x)",
    "a module": "torch.compile(nn.Linear(2, 2).to('cuda'), backend='eager')(x)",
    "TorchScript": "torch.jit.script(made)(x)",
    "a traced module": "torch.jit.trace(nn.Linear(2, 2).cuda(), x)(x)",
    "torch.fx": "torch.fx.symbolic_trace(moved)(x)",
    "torch.func": "torch.func.vmap(moved)(torch.ones(3, 2))[0]",
}


@pytest.mark.long
@pytest.mark.parametrize("expression", COMPILED.values(), ids=COMPILED)
def test_compilers_of_torch(torch_worker: Worker, expression: str) -> None:
    source = f"""
import torch.fx

def moved(a):
    return torch.zeros(2, device='cuda') + a.to('cuda') + a.cuda() + torch.ones_like(a, device=torch.device('cuda'))

def made(a):
    ones = torch.ones_like(a) + a.new_ones(2, device=a.device)
    return torch.arange(2, device=a.device) + torch.zeros(2, device=a.device) + a.to(a.device) + ones

def value():
    return tuple({expression}.shape)
"""
    assert value_on_cpu(torch_worker, source) == (2,)


def test_default_device(torch_worker: Worker) -> None:
    source = """
torch.set_default_device('cuda')
inside = [str(torch.zeros(1).device), str(x.cuda().device)]
torch.set_default_device(None)
with torch.device('cuda'):
    inside.append(str(torch.zeros(1).device))
torch.set_default_tensor_type('torch.cuda.FloatTensor')
inside.append(str(x.cuda().device))
def value(): return inside
"""
    assert value_on_cpu(torch_worker, source) == ["cpu"] * 4


def test_weights_saved_on_gpu(torch_worker: Worker) -> None:
    """A file that says `cuda:0`, as one from a student's own machine does."""
    source = """
import zipfile
torch.save({'w': x}, 'w.pt')
with zipfile.ZipFile('w.pt') as old, zipfile.ZipFile('gpu.pt', 'w') as new:
    for item in old.infolist():
        data = old.read(item)
        if item.filename.endswith('data.pkl'):
            assert data.count(bytes([3, 0, 0, 0]) + b'cpu') == 1
            data = data.replace(bytes([3, 0, 0, 0]) + b'cpu', bytes([6, 0, 0, 0]) + b'cuda:0')
        new.writestr(item.filename, data)
def value():
    places = [None, 'cuda', 'cpu', torch.device('cuda:0'), {'cuda:0': 'cuda:1'}]
    return [str(torch.load('gpu.pt', map_location=place)['w'].device) for place in places]
"""
    assert value_on_cpu(torch_worker, source) == ["cpu"] * 5


def test_torch_may_be_imported_later(worker: Worker) -> None:
    assert worker.load("import sys\nassert 'torch' not in sys.modules", "first.py", device="cpu")["errors"] == []
    assert value_on_cpu(worker, "def value(): return str(x.cuda().device)") == "cpu"


def test_own_file_called_torch(worker: Worker) -> None:
    worker.put("torch.py", "def ones(n): return [1] * n")
    worker.load("import torch\ndef ones(): return torch.ones(2)", device="cpu")
    assert worker.call("ones") == [1, 1]


@pytest.mark.parametrize("fields", [{}, {"device": "as_written"}])
def test_as_written(torch_worker: Worker, fields: dict[str, str]) -> None:
    torch_worker.load(f"{LATER}def which(): return str(torch.device('cuda', 1))", **fields)
    assert torch_worker.call("which") == "cuda:1"


def test_device_in_notebook(torch_worker: Worker) -> None:
    cells = torch_worker.notebook(LATER, "assert x.cuda().device.type == 'cpu'", device="cpu")
    assert [cell["status"] for cell in cells] == ["ok", "ok"]
