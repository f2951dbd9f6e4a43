"""What students install: nothing that they have moves without need, and nothing contradicts what another one needs."""

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import pytest

from viva.config import load_course
from viva.release.release_files import requirements

TORCH = "torch>=2.2"


@pytest.mark.parametrize(
    ("preload", "expected"),
    [
        ("numpy", []),
        ("numpy, torch", [TORCH]),
        ('numpy, "torch?"', [TORCH]),
        ("numpy, torch, sympy", [TORCH]),  # by torch, in its version
        ("sympy", [f"sympy>={metadata.version('sympy')}"]),
        ('torch, transformers, "tqdm?"', [TORCH, "transformers>=4.57"]),  # tqdm by transformers
        ('"matplotlib.pyplot?", "no_such_library?"', ["matplotlib"]),
    ],
)
def test_requirements(tmp_path: Path, preload: str, expected: Sequence[str]) -> None:
    settings = tmp_path / "assignments" / "small" / "assignment.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"title: Small\npreload: [{preload}]\n", "utf-8")
    (tmp_path / "grader.yaml").write_text("course: tiny\nassignments: [small]\n", "utf-8")
    first = ["./viva.whl", f"hypothesis=={metadata.version('hypothesis')}"]
    assert requirements(load_course(tmp_path).assignment("small"), "./viva.whl").splitlines() == [*first, *expected]
