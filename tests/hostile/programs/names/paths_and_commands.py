"""Calls its files like options, devices, patterns, commands and ways out of the folder."""

# makes a folder
from tests.support.hostile_files import ZERO

CALLED = "../../results; touch executed #"


def hand_in(targets):
    names = ["-rf", "--help", "-c", "~root", "$(touch executed).py", "`id`.py", "*.py", "[a-z]?.py", "..\\..\\evil.py", "C:\\evil.py", "con", "nul.py",
             "%2e%2e%2fevil.py", "file:%2f%2fx.py", "{0.__class__}.py", "%s%n.py", ".py", "...", "&&.py", "x;y.py", "'\".py"]  # fmt: skip
    return {"solution.py": ZERO, **dict.fromkeys(names, "x = 1\n")}
