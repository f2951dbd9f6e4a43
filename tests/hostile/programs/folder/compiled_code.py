"""Brings compiled modules, shared libraries, frozen paths and caches in place of what its sources say."""

# makes a folder
import marshal

from tests.support.hostile_files import ZERO, evil, raw


def hand_in(targets):
    code = b"\xa7\r\r\n" + bytes(12) + marshal.dumps(compile(evil(targets), "solution.py", "exec"))
    names = ["solution.pyc", "__pycache__/solution.cpython-311.pyc", "numpy.pyc", "encodings.pyc", "conftest.pyc"]
    libraries = [
        "solution.cpython-311-x86_64-linux-gnu.so",
        "numpy.so",
        "libc.so.6",
        "ld.so.preload",
        "_msgpack.abi3.so",
    ]
    files = {name: raw(code) for name in names} | {name: raw(b"\x7fELF" + bytes(5000)) for name in libraries}
    return {
        "solution.py": ZERO,
        "pyvenv.cfg.txt": "home = .\n",
        "damaged.pyc": raw(b"\xa7\r\r\n" + b"\xff" * 999),
        **files,
    }
