"""The program that the examiner executes: it loads this folder as the package `viva_box` and runs one role.

Run it as `python -s start.py ROLE ARGUMENT...` (descriptors, a port, a path), its environment cleared. `-I` would also
ignore PYTHONHASHSEED, but the hash seed must be fixed; so the other effect of `-I`, a clean sys.path, is done by hand.
"""

import sys

del sys.path[0]  # this folder: `import wire` must never find its `wire.py`

import importlib  # noqa: E402
import importlib.util  # noqa: E402
import os  # noqa: E402


def _load_package() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    location = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("viva_box", location, submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError(location)
    package = importlib.util.module_from_spec(spec)
    sys.modules["viva_box"] = package
    spec.loader.exec_module(package)


_ROLES = {
    "serve": ("process.supervisor", "supervise"),
    "student": ("process.student_process", "enter_fresh"),
    "alone": ("process.standalone", "run"),
    "dial": ("process.standalone", "dial"),
    "detect": ("lockdown.detect_layers", "detect"),
}

if __name__ == "__main__":
    _load_package()
    module, function = _ROLES[sys.argv[1]]
    arguments = [int(text) if text.isdigit() else text for text in sys.argv[2:]]
    sys.argv = [""]
    getattr(importlib.import_module(f"viva_box.{module}"), function)(*arguments)
