"""Submits a file of a terabyte that takes no room on the disk."""

# makes a folder
from tests.support.hostile_files import ZERO


def hand_in(targets):
    return {"solution.py": ZERO, "data.npy": {"sparse": str(1 << 40)}}
