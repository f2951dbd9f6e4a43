"""The environment of the tools that viva is compared with: `.venv/others`, made by `python -m bench.environment`.

Their versions are pinned in others.txt. torch is not installed twice: this environment's files are linked.
"""

import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

FOLDER: Final = Path(sys.prefix) / "others"
PINNED: Final = Path(__file__).with_name("others.txt")
PACKAGES: Final = ("otter-grader", "nbgrader", "nbconvert", "ipykernel", "pytest", "numpy", "py-spy")
_LINKED: Final = ("torch", "torchgen", "functorch")
_STAMP: Final = FOLDER / ".installed"


def missing() -> str:
    """Return why the tools cannot be run; empty if they can."""
    return "" if _STAMP.exists() else "not measured: .venv/others could not be made (python -m bench.environment)"


def program(name: str) -> str:
    """Return the path of a program in the environment."""
    return str(FOLDER / "bin" / name)


def variables() -> dict[str, str]:
    """Return the environment variables that the tools need: they start each other by name."""
    return {"PATH": f"{FOLDER / 'bin'}:{os.environ.get('PATH', '')}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def make() -> None:
    """Make the environment if it does not exist.

    Raises:
        subprocess.CalledProcessError: pip could not install the contents of others.txt.
    """
    if _STAMP.exists() and _STAMP.stat().st_mtime >= PINNED.stat().st_mtime:
        return
    _STAMP.unlink(missing_ok=True)
    if not (FOLDER / "bin" / "python").exists():
        venv.create(FOLDER, with_pip=True)
    pip = [program("python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-c", str(PINNED), *PACKAGES], check=True)
    _link_torch()
    _STAMP.touch()


def _link_torch() -> None:
    libraries = next((FOLDER / "lib").glob("python3.*")) / "site-packages"
    for name in _LINKED:
        spec = importlib.util.find_spec(name)
        link = libraries / name
        if spec is not None and spec.origin is not None and not link.exists():
            link.symlink_to(Path(spec.origin).parent)


if __name__ == "__main__":
    try:
        make()
    except (subprocess.CalledProcessError, OSError) as error:
        sys.exit(f"the environment of the other tools could not be made: {error}")
