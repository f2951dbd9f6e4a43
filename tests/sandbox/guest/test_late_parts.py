"""Modules that are imported late: each is executed once, and transformers works as usual without them."""

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from viva.sandbox.guest.process.late_parts import version_of

LATE = """
import importlib.util, sys
sys.path.insert(0, sys.argv[1])
import counted  # a list of the modules that were executed
import whole
from viva.sandbox.guest.process.late_parts import LateFunctions, LateModule
"""
MODULE = "late = LateModule(importlib.util.find_spec('whole.more'), alone=['whole.more.alone'])\n"
FIRST = [
    "import whole.base",
    "from whole import base",
    "import whole.more.first",
    "from whole.more.second import of_second",
    "import importlib; importlib.import_module('whole.more.first')",
    "import whole.more.alone; assert whole.more is late and len(counted.names) == 1; import whole.more.first",
    "from whole.more import second",
]
SEEN = """
assert late._parts not in sys.meta_path and whole.more is sys.modules["whole.more"] is not late
import whole.base, whole.more.first, whole.more.second, whole.more.alone
assert sorted(counted.names) == sorted(set(counted.names)), counted.names
assert whole.more.alone is sys.modules["whole.more.alone"]
assert whole.more.second.of_first is whole.more.first.of_first
assert whole.base is sys.modules["whole.base"] and whole.more.second is sys.modules["whole.more.second"]
for name in [*counted.names]:
    spec = sys.modules[name].__spec__
    assert spec.name == name and spec.origin == sys.modules[name].__file__
    importlib.reload(sys.modules[name])
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose parts import each other."""
    counting = "import counted; counted.names.append(__name__)\n"
    files = {
        "counted.py": "names = []\n",
        "whole/__init__.py": "",
        "whole/other.py": "",
        "whole/base.py": counting + "import whole.more.first\n",
        "whole/more/__init__.py": counting + "import whole.base\n",
        "whole/more/alone.py": counting,
        "whole/more/first.py": counting + "import whole.base\nof_first = object()\n",
        "whole/more/second.py": counting + "from whole.more.first import of_first\nof_second = object()\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def ran(package: Path, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LATE + code, str(package)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("first", FIRST)
def test_each_is_executed_once(first: str, package: Path) -> None:
    ran(package, MODULE + first + SEEN)


def test_other_modules_bring_nothing(package: Path) -> None:
    ran(package, MODULE + "import whole.other, whole.more\nassert counted.names == [] and whole.more is late")


def test_missing_module_is_not_found(package: Path) -> None:
    ran(
        package,
        MODULE + "assert importlib.util.find_spec('whole.more.third') is None and 'whole.base' in counted.names",
    )


PLACE = """
import whole.more
late = LateFunctions(importlib.util.find_spec("whole.more.second"), ["made"])
from whole.more.second import made
assert whole.more.second is late and made is late.made and "whole.more.second" not in counted.names
"""
LATE_FUNCTIONS = {
    "a function is called": "assert made(2) == 4",
    "another name is asked for": "from whole.more.second import of_second\nassert of_second is late.load().of_second",
    "it was left, and a function is called": "assert late.leave() and not late.leave()\nassert made(2) == 4",
    "it was left, and the module is imported": "late.leave()\nimport whole.more.second\nassert made(2) == 4",
    "a part of it is looked for": "assert importlib.util.find_spec('whole.more.second') is not None\n"
    "try: import whole.more.second.part\nexcept ModuleNotFoundError: pass\nelse: raise AssertionError",
}
LOADED = """
import whole.more.second
assert whole.more.second is sys.modules["whole.more.second"] is not late and made(3) == 6
assert whole.more.second.made is not made and counted.names.count("whole.more.second") == 1
"""


@pytest.mark.parametrize("what", LATE_FUNCTIONS)
def test_functions_load_their_module(what: str, package: Path) -> None:
    second = package / "whole" / "more" / "second.py"
    second.write_text(second.read_text("utf-8") + "def made(x): return 2 * x\n", "utf-8")
    ran(package, PLACE + LATE_FUNCTIONS[what] + LOADED)


def test_looking_at_all_modules_loads_nothing(package: Path) -> None:
    ran(
        package,
        PLACE
        + "for module in [*sys.modules.values()]: getattr(module, '__all__', None), getattr(module, '__file__', None)\n"
        "assert whole.more.second is late",
    )


def test_library_version_without_import() -> None:
    assert (version_of("no_such_library"), version_of("typing")) == ("", "")
    for library in ("torch", "transformers"):
        try:
            version = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
        assert version_of(library).startswith(version)


ROOT = Path(__file__).parents[3]
OLDER = ROOT / ".venv" / "transformers4" / "bin" / "python"
PROGRAM = ROOT / "tests" / "sandbox" / "guest" / "transformers_program.py"


def printed_by(python: str, how: str) -> dict[str, Any]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}  # the older libraries are installed without viva
    command = [python, "-W", "ignore", str(PROGRAM), how]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.long
@pytest.mark.parametrize("python", [sys.executable, str(OLDER)], ids=["transformers 5", "transformers 4"])
def test_what_programs_get_is_the_same(python: str) -> None:
    pytest.importorskip("transformers")
    late, usual = printed_by(python, "late"), printed_by(python, "usual")
    assert late.pop("parts") == [] and len(usual.pop("parts")) == 3
    assert late == usual
    assert late["lora"] == 2 and late["compiled"] == [2, 4, 30]
