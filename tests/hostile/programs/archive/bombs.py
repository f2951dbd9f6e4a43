"""Packs what grows: gigabytes of nothing, archives in archives, twenty thousand files, folders a thousand deep."""

# makes a folder
# turns: 4
import bz2
from functools import cache

from tests.support.hostile_files import ZERO, raw, zipped


def hand_in(targets):
    return packed(targets["turn"])


@cache
def packed(turn):
    """The same in every tier, and a second of work each time."""
    zeros = bytes(1 << 20)
    if turn == 0:
        return {"work.zip": raw(zipped({f"zeros{n}": zeros for n in range(100)} | {"solution.py": ZERO.encode()}))}
    if turn == 1:
        inner = zipped({"solution.py": ZERO.encode()})
        for _ in range(40):
            inner = zipped({"work.zip": inner, "again.zip": inner})[: 1 << 22]
        return {"work.zip": raw(inner)}
    if turn == 2:
        return {"work.zip": raw(zipped({f"{n}.py": b"x = 1" for n in range(20_000)}))}
    deep = "/".join("d" * 3 for _ in range(1000))
    return {
        "work.zip": raw(zipped({f"{deep}/solution.py": ZERO.encode()})),
        "more.py.bz2": raw(bz2.compress(zeros * 100)),
    }
