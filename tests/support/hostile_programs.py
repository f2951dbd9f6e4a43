"""The hostile programs: one file each, which says in its docstring what it tries and in comments where it succeeds."""

import ast
import importlib.util
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from viva.model import Tier

PROGRAMS: Final = Path(__file__).parents[1] / "hostile" / "programs"
_NOTE: Final = re.compile(r"^# (least tier|control|turns|ends the examiner in T0|makes a folder)(?:: (.*))?$", re.M)
_MAKING: Final = threading.Lock()
"""Tiers ask side by side; what one has packed serves the others."""

Content = str | dict[str, str]
"""The text of a file, or how to make what is not text: {"link": "/etc"}; see `hostile_grading_host.py`."""


@dataclass(frozen=True, slots=True)
class Program:
    """One hostile submission. Comments at its top say:

    `# control: one process`  in an autograder of the usual kind it gets marks or secrets, so the attack is real
    `# control: T0`           in a box without isolation layers it gets secrets, so the attack is real
    `# control: network`      in a box without isolation layers it sends something, so the attack is real
    `# control: files`        in a box without isolation layers it leaves files, so the attack is real
    `# least tier: T1`        in T0 it is not run, because nothing there would protect this machine or the answer key
    `# turns: 2`              it is graded so often, because it changes what comes after it
    `# ends the examiner in T0`
    `# makes a folder`        it is not a solution itself: its function `hand_in(targets)` returns the files of one, and
                              its CALLED and ONLY may say how the submission is called and which file alone is graded
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

    @property
    def called(self) -> str:
        """What whoever grades it calls it: the name of its folder."""
        return str(getattr(self._maker, "CALLED", self.name)) if self._maker else self.name

    @property
    def only(self) -> str:
        """The file that is graded alone; empty for the whole folder."""
        return str(getattr(self._maker, "ONLY", "")) if self._maker else ""

    @property
    def _maker(self) -> ModuleType | None:
        return _imported(self.path) if "makes a folder" in self.notes else None

    def files(self, targets: Mapping[str, Any]) -> dict[str, Content]:
        """The submission."""
        if self._maker:
            with _MAKING:
                return dict(self._maker.hand_in(targets))
        toolkit = (PROGRAMS / "toolkit.py").read_text("utf-8")
        return {"solution.py": self.source, "toolkit.py": toolkit, "targets.json": json.dumps(targets)}


@cache
def _imported(path: Path) -> ModuleType:
    """A program that only describes files, and can therefore be run here."""
    spec = importlib.util.spec_from_file_location(f"hostile_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ALL: Final = [Program.read(path) for path in sorted(PROGRAMS.glob("*/*.py"))]
