"""Packs members that lie about their sizes, come twice, overlap, are encrypted, cut short or of no known kind."""

# makes a folder
# turns: 5
import struct

from tests.support.hostile_files import ZERO, raw, zipped


def hand_in(targets):
    honest = zipped({"solution.py": ZERO.encode(), "Solution.py": b"x = 1", "work.zip": b"again"})
    changed = [
        honest.replace(struct.pack("<L", len(ZERO)), struct.pack("<L", 0xFFFFFFFF)),
        honest[: len(honest) // 2],
        honest.replace(b"PK\x03\x04\x14\x00\x00\x00", b"PK\x03\x04\x14\x00\x01\x00").replace(
            b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00"
        ),
        honest.replace(b"Solution.py", b"solution.py"),
        b"\x1f\x8b\x08" + honest[3:] + b"PK\x05\x06" + b"\xff" * 18,
    ][targets["turn"]]
    return {"work.zip": raw(changed), "work.tar.xz": raw(b"\xfd7zXZ\x00" + honest), "x.gz": raw(b"\x1f\x8b")}
