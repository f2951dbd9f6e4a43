"""Packs members whose names lead out of the folder: upwards, from the root, over drives, through backslashes."""

# makes a folder
from tests.support.hostile_files import ZERO, evil, raw, zipped


def hand_in(targets):
    code = evil(targets).encode()
    names = ["../../../../../../tmp/executed.py", targets["base"] + "/executed", "..\\..\\executed.py", "C:\\executed.py", "a/../../executed.py",
             "/proc/self/cwd/../executed", "~/executed.py", "./././../executed.py", "a//../../x.py", "\x00.py", "..", "x/..", targets["results"]]  # fmt: skip
    return {"work.zip": raw(zipped({"solution.py": ZERO.encode(), **dict.fromkeys(names, code)}))}
