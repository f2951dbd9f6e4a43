"""Looks for answers in its own process: modules, every object that gc knows, all frames, everything imported."""

# control: one process
import gc
import sys

from toolkit import marks, tell


def look():
    loot = []
    for module in list(sys.modules.values()):
        for value in list(getattr(module, "__dict__", {}).values()):
            if isinstance(value, (str, bytes)):
                loot += marks(value)
    for thing in gc.get_objects():
        if isinstance(thing, (dict, list, tuple, set)) and len(thing) < 10_000:
            for value in list(thing.values() if isinstance(thing, dict) else thing):
                if isinstance(value, (str, bytes)):
                    loot += marks(value)
    for frame in sys._current_frames().values():
        while frame is not None:
            loot += marks(" ".join(v for v in frame.f_locals.values() if isinstance(v, str)))
            loot += marks(" ".join(v for v in frame.f_globals.values() if isinstance(v, str)))
            frame = frame.f_back
    for name in ("key", "reference", "tests", "test_small", "viva.proxies.key", "graders.small.key"):
        try:
            loot += marks(repr(vars(__import__(name, fromlist=["x"]))))
        except (ImportError, SystemExit):
            continue
    return sorted(set(loot))


tell(globals(), look())
