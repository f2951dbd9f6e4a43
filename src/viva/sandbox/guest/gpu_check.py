"""Check a GPU from the inside: the program of a box that holds no student code.

The examiner sends this file as the box's program, and calls its functions by name (sandbox/host/gpu/gpu_check.py). A
function returns a clause that says what is wrong, empty if nothing is; `leave` returns a number.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any, List

DEVICE = "cuda"
_ROWS = 512
_APART = 1e-3
"""How far a product of normally distributed matrices of 512 rows may be from that in double precision. In single
precision it is 1e-4 off at most, with the ten bits of TF32 more than 1e-2."""
_CHUNK = 256 << 20
"""Bytes of the card's memory that are taken at once."""
_MORE_MIB = 8192
"""MiB beyond the limit of a box: more than the libraries take, which do not count."""


def start() -> str:
    """Start CUDA, and compute something with it."""
    torch = _torch()
    if getattr(torch.version, "cuda", None) is None and DEVICE == "cuda":
        return f"torch {torch.__version__} was built without CUDA"
    try:
        torch.cuda.init()
        count = torch.cuda.device_count()
        if count != 1:
            return f"CUDA shows {count} GPUs, not the one of the sandbox"
        total = float(torch.ones(3, device=DEVICE).sum().item())
    except (RuntimeError, AssertionError, OSError, MemoryError) as error:
        return f"CUDA does not start: {_first_line(error)}"
    return "" if total == 3 else f"1 + 1 + 1 is {total:g} on the GPU"


def multiply() -> str:
    """Multiply two matrices, and compare with the CPU in double precision."""
    torch = _torch()
    left, right = torch.randn(_ROWS, _ROWS), torch.randn(_ROWS, _ROWS)
    expected = left.double() @ right.double()
    apart = float((_product(torch, left, right).double() - expected).abs().max().item())
    return "" if apart <= _APART else f"a product of two matrices differs from the CPU's by up to {apart:.3g}"


def repeat() -> str:
    """Check that torch is told to be deterministic, and that sums in any order give the same bits each time."""
    torch = _torch()
    if not os.environ.get("CUBLAS_WORKSPACE_CONFIG"):
        return "CUBLAS_WORKSPACE_CONFIG is not set"
    if not torch.are_deterministic_algorithms_enabled():
        return "torch does not use deterministic algorithms"
    left, right = torch.randn(_ROWS, _ROWS), torch.randn(_ROWS, _ROWS)
    rows, values = torch.randint(0, 7, (1 << 16,)), torch.randn(1 << 16)

    def results() -> List[Any]:
        sums = torch.zeros(7, device=DEVICE).index_add_(0, rows.to(DEVICE), values.to(DEVICE))
        return [_product(torch, left, right), sums.cpu()]

    first = results()
    same = all(torch.equal(one, other) for _ in range(3) for one, other in zip(first, results()))
    return "" if same else "the same sums give other bits each time"


def limits(memory_mib: int) -> str:
    """Check that too much memory is refused, the box's and the card's, and that the GPU works afterwards."""
    torch = _torch()
    try:
        bytearray((memory_mib + _MORE_MIB) << 20)  # the kernel provides its pages only when they are written to
        return f"{memory_mib + _MORE_MIB:,} MiB of memory could be reserved; the limit is {memory_mib:,} MiB"
    except MemoryError:
        pass
    total = int(torch.cuda.mem_get_info()[1])
    try:
        torch.empty(total + _CHUNK, dtype=torch.uint8, device=DEVICE)
        return f"more memory of the GPU could be taken than its {total >> 20:,} MiB"
    except RuntimeError:
        pass
    return start()


def leave(mark: int) -> int:
    """Fill the free memory of the card with a number, and leave it there; return how many MiB."""
    torch = _torch()
    chunks = [torch.full((_CHUNK // 8,), mark, dtype=torch.int64, device=DEVICE) for _ in range(_chunks(torch))]
    torch.cuda.synchronize()
    return len(chunks) * _CHUNK >> 20


def find(mark: int) -> str:
    """Look for the number in memory that this box has not written."""
    torch = _torch()
    if torch.are_deterministic_algorithms_enabled():
        return "torch fills the memory that it takes, so that nothing can be found in it"
    chunks: List[Any] = []  # all of them stay, so that each is other memory
    for _ in range(_chunks(torch)):
        chunks.append(torch.empty(_CHUNK // 8, dtype=torch.int64, device=DEVICE))
        if bool((chunks[-1] == mark).any().item()):
            return "a sandbox can read what the one before it left in the memory of the GPU"
    return ""


def has_torch() -> bool:
    """Return whether torch is installed for the interpreter of the box."""
    return importlib.util.find_spec("torch") is not None


def _chunks(torch: Any) -> int:
    """Return how many chunks fit into nine tenths of the free memory; at least one."""
    return max(1, int(torch.cuda.mem_get_info()[0]) * 9 // 10 // _CHUNK)


def _product(torch: Any, left: Any, right: Any) -> Any:
    return (left.to(DEVICE) @ right.to(DEVICE)).cpu()


def _torch() -> Any:
    return importlib.import_module("torch")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:300]
