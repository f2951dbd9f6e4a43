"""Calls its files by names that move the cursor, break lines, turn the direction of writing and are not Unicode."""

# makes a folder
from tests.support.hostile_files import ZERO

CALLED = "class/\x1b]8;;http://x\x07ada\u202egpj.py\nscore: 14"


def hand_in(targets):
    names = ["a\nb.py", "\x1b[2J\x1b[31mred.py", "\x1b]0;title\x07.py", "\u202eyp.tset", "x\u200b\u2066.py", "\x7f\x08\x08.py", "\udcff\udcfe.py",
             "\u2028.py", "e\u0301.py", "\u00e9.py", "\t.py", " .py"]  # fmt: skip
    return {
        "solution.py": ZERO + "\nraise ValueError(__file__)\n",
        **dict.fromkeys(names, "raise ValueError(__file__)\n"),
    }
