"""A signal to stop that arrives where Python drops exceptions, or makes others of them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.table_rows import Rows

PROGRAM = """
import signal, time, weakref
from viva.cli import main

def arrive():
    signal.raise_signal(signal.{name})

class Destroyed:
    def __del__(self):
        arrive()

class Watched:
    pass

class Attribute:
    def __set_name__(self, owner, name):
        arrive()

def begun():
    try:
        yield
    finally:
        arrive()

def invoke(*_):
{code}
    until = time.monotonic() + 60
    while time.monotonic() < until:
        time.sleep(0.01)
    return 0

main._invoke = invoke
main.main(["--help"])
"""
MOMENTS = {
    "an ordinary statement": "arrive()",
    "a destructor": "Destroyed()",
    "the callback of a weak reference, as each import has one": (
        "watched = Watched(); reference = weakref.ref(watched, lambda _: arrive()); del watched"
    ),
    "a generator that is dropped": "generator = begun(); next(generator); del generator",
    "a class, whose errors Python wraps": "class Wrapped: attribute = Attribute()",
    "a library that catches everything": "try: arrive()\n    except: pass",
    "code that raises an error of its own": (
        "try: arrive()\n    except BaseException as error: raise ValueError('no') from error"
    ),
}


def test_signal_is_never_lost() -> None:
    """Dropped in the callback of an import, Ctrl-C printed a traceback, and the class was graded to its end."""
    with Rows() as row:
        for name, status in {"SIGINT": 130, "SIGTERM": 143}.items():
            for moment, code in MOMENTS.items():
                with row(f"{name} in {moment}"):
                    program = PROGRAM.format(name=name, code=f"    {code}")
                    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
                    assert (done.returncode, done.stderr) == (status, "\nviva: stopped.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="a process that a signal ends has no such status there")
def test_ctrl_c_while_viva_is_imported(tmp_path: Path) -> None:
    """It ends the process without a traceback."""
    (tmp_path / "click.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    done = subprocess.run(
        [sys.executable, "-m", "viva", "--help"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
