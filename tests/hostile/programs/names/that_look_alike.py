"""Calls several files solution.py, by other cases, alphabets and spellings, each with other answers."""

# makes a folder
from tests.support.hostile_files import ZERO

CALLED = "\u0430da/solution.py"


def hand_in(targets):
    names = [
        "Solution.py",
        "SOLUTION.PY",
        "ѕolution.py",
        "solution.рy",
        "solution.py ",
        "solution\u200b.py",
        "sοlution.py",
        "ſolution.py",
    ]
    files = {name: f"def number(x):\n    return {n}\n" for n, name in enumerate(names)}
    return {
        "solution.py": ZERO,
        **files,
        "a/solution.py": ZERO,
        "A/solution.py": ZERO,
        "key.py": ZERO,
        "test_small.py": ZERO,
    }
