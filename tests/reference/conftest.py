"""`reference/` belongs to the course, not to the installed package: it is importable from the repository's root."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
