"""The code of a box, which runs in the student's process tree: standard library, numpy, msgpack, Python 3.9.

It uses the course's own interpreter. It is loaded by path as the package `viva_box`, so that nothing else of viva is
ever imported, or visible, in a box.
"""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
"""The folder of this package."""


def load_from(folder: str) -> None:
    """Import further modules of this package from a copy of it, in `folder`."""
    for name, module in list(sys.modules.items()):
        if (name == __name__ or name.startswith(__name__ + ".")) and hasattr(module, "__path__"):
            module.__path__ = [os.path.join(folder, *name.split(".")[1:])]
