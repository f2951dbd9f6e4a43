"""`python -m viva` and the program `viva`: Ctrl-C ends it without a traceback, also while its modules are imported."""

import gc
from typing import Final

from viva.cli.shared.stop_signals import end_at_once

_NEW_OBJECTS: Final = 50_000
"""The threshold of the garbage collector. Modules and the scores of a class are hundreds of thousands of objects that
stay: with Python's threshold of 700, the collector takes a tenth of an import and a third of reading a class."""


def main() -> None:
    """Run the command of the command line."""
    end_at_once()
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
    from viva.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
