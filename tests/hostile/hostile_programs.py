"""The hostile programs: one file each, which says in its docstring what it tries and in comments where it succeeds."""

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from viva.model import Tier

PROGRAMS: Final = Path(__file__).parent / "programs"
_NOTE: Final = re.compile(r"^# (least tier|control|turns|ends the examiner in T0)(?:: (.*))?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Program:
    """One hostile submission. Comments at its top say:

    `# control: one process`  in an autograder of the usual kind it gets marks or secrets, so the attack is real
    `# control: T0`           in a box without walls it gets secrets, so the attack is real
    `# least tier: T1`        in T0 it is not run, because nothing there would protect this machine
    `# turns: 2`              it is graded so often, because it changes what comes after it
    `# ends the examiner in T0`
    """

    path: Path
    source: str
    notes: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> "Program":
        """Read one program and what its comments say."""
        source = path.read_text("utf-8")
        return cls(path, source, {name: value or "" for name, value in _NOTE.findall(source)})

    @property
    def name(self) -> str:
        """Family and name."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def sentence(self) -> str:
        """What it tries."""
        return ast.get_docstring(ast.parse(self.source)) or ""

    @property
    def least_tier(self) -> Tier:
        """The weakest tier in which it is run."""
        return Tier[self.notes.get("least tier", "T0")]

    @property
    def turns(self) -> int:
        """How often it is graded."""
        return int(self.notes.get("turns", "1"))

    @property
    def control(self) -> str:
        """Where it is known to succeed; empty when nowhere."""
        return self.notes.get("control", "")

    def files(self, targets: Mapping[str, Any]) -> dict[str, str]:
        """The submission."""
        toolkit = (PROGRAMS / "toolkit.py").read_text("utf-8")
        return {"solution.py": self.source, "toolkit.py": toolkit, "targets.json": json.dumps(targets)}


ALL: Final = [Program.read(path) for path in sorted(PROGRAMS.glob("*/*.py"))]
