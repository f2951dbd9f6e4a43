"""Grades a checkout for Classroom 50: writes its result.json and release-body.md, and says the status.

It belongs in the config repository as `<classroom>/autograders/<assignment>/autograder.py`. The assignment's runtime
must have viva installed, and VIVA_COURSE must name the course, by default `course/` in this file's bundle.
Whoever knows the address of the bundle can read it: put no answer key and no hidden test there, but a release that
holds the public tests alone. Exit status 0: graded, whatever the marks; anything else: nothing could be graded.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def viva(*arguments: str) -> int:
    """Run a command of viva; `-I` keeps files of the checkout from being imported in its place."""
    return subprocess.run([sys.executable, "-I", "-m", "viva", *arguments], check=False).returncode


def main() -> int:
    """Grade the working folder."""
    bundle = Path(os.environ.get("CLASSROOM50_BUNDLE_DIR") or Path(__file__).parent)
    course = os.environ.get("VIVA_COURSE") or str(bundle / "course")
    with tempfile.TemporaryDirectory() as folder:
        result = str(Path(folder, "results.json"))
        how = ["--visible-only", "--no-training", "--tier", "best", "--course", course]
        if status := viva("grade", *how, "-o", result, "--", "."):
            return status
        return viva("export", result, "--to", "classroom50", "-o", "result.json") or viva(
            "export", result, "--to", "summary", "-o", "release-body.md"
        )


if __name__ == "__main__":
    sys.exit(main())
