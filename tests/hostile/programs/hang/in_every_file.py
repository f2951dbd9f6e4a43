"""Submits forty files, each of which never finishes loading, and defines nothing that is asked for."""

# makes a folder
# least tier: T3
from tests.support.hostile_files import ZERO


def hand_in(targets):
    loop = "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True:\n    signal.pause()\n"
    return {"solution.py": ZERO, **{f"more{n}.py": loop for n in range(40)}}
