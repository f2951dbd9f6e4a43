"""Calls its files and folders by the longest names there are, as deep as they go, until no path can hold them."""

# makes a folder
# turns: 3
from tests.support.hostile_files import ZERO


def hand_in(targets):
    deep = "/".join(["d" * 200] * 18)
    return [
        {"solution.py": ZERO, "n" * 252 + ".py": "x = 1\n", "ä" * 126 + ".py": "x = 1\n", f"{deep}/x.py": "x = 1\n"},
        {"solution.py": ZERO, "/".join(["d"] * 60) + "/x.py": "x = 1\n"},
        {"solution.py": ZERO, **{f"file{n}.py": "x = 1\n" for n in range(300)}},
    ][targets["turn"]]
