"""The example of the sandbox's own page runs, without a course and without the rest of viva."""

import re
import subprocess
import sys
from pathlib import Path

import viva.sandbox

README = Path(viva.sandbox.__file__).with_name("README.md")
REST = "assert not [m for m in sys.modules if m.startswith('viva.') and not m.startswith('viva.sandbox')], sys.modules"


def test_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    program = f"{example}\nimport sys\n{REST}\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout, done.stderr) == ("42\nno answer within 1 s; the box was killed\n", "")


def test_importing_the_package_is_cheap() -> None:
    names = ("numpy", "msgpack", "viva.sandbox.host", "viva.sandbox.guest")
    program = f"import sys, viva.sandbox; print([m for m in {names} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
