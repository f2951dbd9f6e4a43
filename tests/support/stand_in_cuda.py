"""A GPU to play with: an interpreter whose torch believes that the CPU is one, and faults that can be switched on."""

import sys
import sysconfig
import venv
from pathlib import Path
from typing import Final

LEFT: Final = 4_081_516_234
"""What the earlier box leaves in the memory of a card that leaks."""
_TORCH: Final = '''\
"""Change torch when it is imported: `cuda` is the CPU."""
import importlib.util, os, sys

FILE, LEFT, THERE = VALUES

def fault():
    with open(FILE) as file:
        return file.read()

class Finder:
    busy = False
    def find_spec(self, name, path=None, target=None):
        if name != "torch" or self.busy:
            return None
        self.busy = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.busy = False
        execute = spec.loader.exec_module
        def exec_module(module):
            execute(module)
            pretend(module)
        spec.loader.exec_module = exec_module
        return spec

def pretend(torch):
    global WHILE_IMPORTED
    WHILE_IMPORTED = os.environ.get("PYTORCH_NVML_BASED_CUDA_CHECK")
    def on_cpu(device):
        return "cpu" if device == "cuda" else device

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            on_gpu = kwargs.get("device") == "cuda"
            kwargs = {name: on_cpu(value) for name, value in kwargs.items()}
            args = tuple(on_cpu(value) if type(value) is str else value for value in args)
            if on_gpu and function is torch.empty:
                if fault() == "leaks" and args[0] < 1 << 28:
                    return torch.full(args, LEFT, **kwargs)
                if args[0] >= 1 << 28:
                    if fault() == "unlimited":
                        return None
                    raise RuntimeError("CUDA out of memory.")
            found = function(*args, **kwargs)
            if fault() == "wrong" and "matmul" in function.__name__ and args[0].dtype == torch.float32:
                found = found + 0.5
            if fault() == "random" and function is torch.Tensor.index_add_:
                found = found + torch.rand(())
            return found

    def init():
        if fault() == "no start":
            raise RuntimeError("CUDA error: unknown error\\nCompile with TORCH_USE_CUDA_DSA to enable assertions.")
        if fault() == "ends":
            os._exit(3)
        if fault() == "raises":
            raise LookupError("no such card")

    class Version:
        __version__ = torch.__version__
        cuda = property(lambda self: None if fault() == "not built" else "12.4")
        hip = xpu = None

    torch.version = Version()
    torch.cuda.init = init
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 2 if fault() == "two" else 1
    torch.cuda.mem_get_info = lambda: (300 << 20, 320 << 20)
    torch.cuda.synchronize = lambda: None
    Mode().__enter__()

sys.meta_path.insert(0, Finder())
if not THERE:
    find_spec = importlib.util.find_spec
    importlib.util.find_spec = lambda name, package=None: None if name == "torch" else find_spec(name, package)
'''


class StandIn:
    """An environment in a folder that every user may read."""

    def __init__(self, folder: Path, *, torch: bool = True) -> None:
        """Make it; without torch, the libraries of this environment are there and torch cannot be found."""
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin" / "python"
        packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
        self.fault = packages / "fault.txt"
        (packages / "stand_in_torch.py").write_text(
            _TORCH.replace("VALUES", repr((str(self.fault), LEFT, torch))), "utf-8"
        )
        (packages / "behind.pth").write_text(f"{sysconfig.get_path('purelib')}\nimport stand_in_torch\n", "utf-8")
        self.fail("")

    def fail(self, fault: str) -> None:
        """Let the card have this fault from now on; none for an empty one."""
        self.fault.write_text(fault, "utf-8")
