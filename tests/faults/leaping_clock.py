"""Runs a program whose wall clock leaps by up to three months at each look, and that of all programs that it starts.

`python leaping_clock.py MODULE|FILE ARGUMENTS…`. The monotonic clock goes on, as it does when someone sets a clock.
"""

import random
import runpy
import subprocess
import sys
import time
from typing import Any

QUARTER_S = 90 * 24 * 3600.0
_time, _random = time.time, random.Random(0)


def leaping() -> float:
    """The time, a while ago or a while from now."""
    return _time() + _random.uniform(-QUARTER_S, QUARTER_S)


class _Popen(subprocess.Popen[Any]):
    def __init__(self, args: Any, *rest: Any, **options: Any) -> None:
        if isinstance(args, list) and args[0] == sys.executable:
            place = args.index("-m") if "-m" in args else 2  # `-m MODULE …`, or `-s FILE …`
            args = [*args[:place], __file__, *args[place + ("-m" in args) :]]
        super().__init__(args, *rest, **options)


if __name__ == "__main__":
    time.time, time.time_ns = leaping, lambda: int(leaping() * 1e9)
    subprocess.Popen = _Popen  # type: ignore[misc]  # for all that follows
    target, sys.argv = sys.argv[1], sys.argv[1:]
    if target.endswith(".py"):
        runpy.run_path(target, run_name="__main__")
    else:
        runpy.run_module(target, run_name="__main__", alter_sys=True)
