"""Calls its files like the engine's own parts and its libraries, so that the next import in its box finds them."""

# makes a folder
from tests.support.hostile_files import NAMES

TAKING_OVER = """
import sys
def __getattr__(name):
    return lambda *arguments, **named: True
for name in ("worker", "viva_box.worker", "viva_box.wire", "viva_box.encoding", "msgpack"):
    if name in sys.modules:
        sys.modules[name].__dict__.update(packb=lambda *a, **k: b"\\xc3", encode=lambda *a: True)
"""
SOLUTION = """
import importlib, sys
for name in ("msgpack", "wire", "worker", "viva_box.encoding", "viva_box.plain", "viva_box", "numpy.core", "fractions", "decimal"):
    sys.modules.pop(name, None)
    try:
        importlib.import_module(name)
    except Exception:
        continue
"""


def hand_in(targets):
    ours = [
        "worker",
        "wire",
        "zygote",
        "start",
        "control",
        "msgpack",
        "viva",
        "viva_box",
        "plain",
        "encoding",
        "fractions",
        "decimal",
    ]
    files = {f"{name}.py": TAKING_OVER for name in ours}
    files |= {f"viva_box/{name}.py": TAKING_OVER for name in ("__init__", "worker", "encoding", "wire")}
    functions = "".join(f"def {name}(*arguments):\n    return 1\n" for name in NAMES)
    return {"solution.py": SOLUTION + functions, **files}
