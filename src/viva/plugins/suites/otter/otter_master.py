"""An otter master notebook: questions, prompts, solutions and tests between its marker cells."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import yaml

from viva.model.errors import UsageError
from viva.plugins.suites.importing.new_course import make_folder_name, make_question
from viva.plugins.suites.importing.student_notebook import (
    Cell,
    read_cell_source,
    read_cells,
    read_language,
    rewrite_notebook,
)
from viva.plugins.suites.otter.otter_cells import (
    read_case,
    remove_ignored,
    remove_solutions,
    replace_seed,
    write_test_file,
)
from viva.plugins.suites.otter.otter_files import OtterError, read_points
from viva.plugins.suites.otter.otter_first_format import convert_first_format, is_first_format

_CONFIG: Final = re.compile(r"#\s+assignment\s+config\s*", re.IGNORECASE)
_BOUNDARY: Final = re.compile(r"#\s+(begin|end)\s+(question|prompt|solution|tests)\s*", re.IGNORECASE)
_IGNORED: Final = re.compile(r"(##\s*ignore\s*##\s*|#\s*ignore\s*)", re.IGNORECASE)
_FENCE: Final = re.compile(r"\s*```otter\s*\n(.*)\n\s*```\s*", re.DOTALL)
ReadFile = Callable[[str], bytes | None]
"""Returns a file next to the notebook, by its path; None if there is none."""


@dataclass(slots=True)
class Master:
    """The contents of a master notebook."""

    tests: dict[str, bytes] = field(default_factory=dict)
    """Test files by their names: `q1.py`."""
    config: dict[str, Any] = field(default_factory=dict)
    """What otter_config.json would say."""
    files: list[str] = field(default_factory=list)
    """Paths of files next to the submission."""
    rubric: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    student: bytes = b""
    """The notebook that students are given."""
    solution: bytes = b""
    """The same with the solutions."""


def is_master(data: bytes) -> bool:
    """Return whether the bytes look like a master notebook."""
    current = re.search(rb"(?i)#\s+assignment\s+config", data) is not None or b"# BEGIN QUESTION" in data.upper()
    return current or is_first_format(data)


def read_master(data: bytes, shown: str, read_file: ReadFile = lambda path: None) -> Master:
    """Read a master notebook as text.

    Args:
        data: the bytes of the notebook.
        shown: its name in messages.
        read_file: reads a file of settings that the notebook names.

    Raises:
        UsageError: it is not one, or uses what cannot be imported.
    """
    cells = read_cells(data, shown)
    if not read_language(data).startswith("python"):
        raise UsageError(f"{shown} is written in {read_language(data)}; only notebooks in Python are taken over.")
    if is_first_format(data):
        cells = convert_first_format(cells)
    reader = _Reader(shown, read_file)
    for number, cell in enumerate(cells, 1):
        try:
            reader.read(cell)
        except OtterError as error:
            raise UsageError(f"{shown}: cell {number} of all cells {error}.") from None
    master = reader.finished()
    master.solution = rewrite_notebook(data, lambda _: [dict(c) for c, _s in reader.cells], shown)
    master.student = rewrite_notebook(data, partial(_given, reader), shown)
    return master


class _Reader:
    """Reads the cells once, in order."""

    def __init__(self, shown: str, read_file: ReadFile) -> None:
        self._read_file = read_file
        self.master = Master()
        self.cells: list[tuple[Cell, bool]] = []
        """The cells of the notebooks, and whether each is (part of) a solution."""
        self.settings: dict[str, Any] = {}
        self._shown = shown
        self._blocks: list[str] = []
        self._question: dict[str, Any] = {}
        self._tests: list[dict[str, Any]] = []
        self._answer: list[str] = []
        self._prompted = False

    def read(self, cell: Cell) -> None:
        """Read one cell."""
        kind, text = cell.get("cell_type"), read_cell_source(cell)
        if kind == "markdown" and "```otter" in text:
            fenced = _FENCE.fullmatch(text)
            if fenced is None:
                raise OtterError("holds an otter block and other text; give the block a cell of its own")
            kind, text = "raw", fenced[1]
        if _IGNORED.match(text):
            return
        if "# BEGIN PLUGIN" in text:
            raise OtterError("holds a plugin, which cannot be taken over")
        boundary = _BOUNDARY.match(text) if kind == "raw" else None
        if kind == "raw" and _CONFIG.match(text):
            self._configure(_yaml(text))
        elif boundary:
            self._boundary(boundary[2].lower(), text, begins=boundary[1].lower() == "begin")
        elif self._blocks and self._blocks[-1] == "tests":
            if kind != "code":
                raise OtterError("is among tests, but holds no code")
            self._tests.append(read_case(cell, ok_format=self._ok_format))
        else:
            self._keep(cell, text)

    def finished(self) -> Master:
        """Return what was read.

        Raises:
            UsageError: a block does not end, there is no test, or a setting cannot be imported.
        """
        if self._blocks:
            raise UsageError(f"{self._shown}: the last {self._blocks[-1]} block does not end.")
        if self.settings.get("plugins"):
            raise UsageError(
                f"{self._shown}: `plugins` cannot be taken over, because plugins of otter's are not run; take it out."
            )
        if not self.master.tests:
            raise UsageError(f"{self._shown} holds no tests (`# BEGIN TESTS`); nothing can be graded by itself.")
        settings, master = self.settings, self.master
        generate, seed = _table(settings.get("generate")), _seed(settings.get("seed"))
        master.config = {
            **generate,
            **({"seed": seed["autograder_value"]} if seed.get("autograder_value") is not None else {}),
            **({"seed_variable": seed["variable"]} if seed.get("variable") else {}),
        }
        master.files = [str(p) for key in ("files", "autograder_files") for p in _list(settings.get(key))]
        needed = settings.get("requirements") or settings.get("environment")
        if needed:
            master.notes.append(f"What {needed} lists is not installed: it must be there where you grade.")
        if settings.get("init_cell", True):
            self.cells.insert(0, (_code("import otter\ngrader = otter.Notebook()"), False))
        return master

    def _configure(self, settings: dict[str, object]) -> None:
        """Add settings; those of the file that they name count less than their own."""
        if name := settings.pop("config_file", None):
            data = self._read_file(str(name))
            if data is None:
                raise OtterError(f"names the settings file {str(name)!r:.80}, which is not next to the notebook")
            self.settings |= _yaml(data.decode("utf-8-sig", "replace"))
        self.settings |= settings

    @property
    def _ok_format(self) -> bool:
        return _table(self.settings.get("tests")).get("ok_format", True) is not False

    def _boundary(self, kind: str, text: str, *, begins: bool) -> None:
        if not begins:
            if not self._blocks or self._blocks.pop() != kind:
                raise OtterError(f"ends a {kind} block that is not the last one begun")
            if kind == "question":
                self._end_of_question()
            return
        if (kind == "question") is bool(self._blocks) or len(self._blocks) > 1:
            raise OtterError(f"begins a {kind} block where none is allowed")
        if kind == "question":
            self._question, self._tests, self._answer, self._prompted = _yaml(text), [], [], False
            if type(self._question.get("name")) not in (str, int, float):
                raise OtterError("begins a question without a name")
        self._prompted = self._prompted or kind == "prompt"
        self._blocks.append(kind)

    def _keep(self, cell: Cell, text: str) -> None:
        block = self._blocks[-1] if self._blocks else ""
        if block == "solution" and cell.get("cell_type") == "markdown":
            self._answer.append(text)
            if not self._prompted:
                self.cells.append(({**cell, "source": "_Type your answer here, replacing this text._"}, False))
                self._prompted = True
            return
        everywhere = bool(self.settings.get("strip_solutions_from_all_cells"))
        is_solution = block == "solution" or (everywhere and block != "prompt")
        if cell.get("cell_type") == "code":
            text = remove_ignored(text)
            if is_solution:
                remove_solutions(text)  # raises the error of its markers here, where the cell is known
        self.cells.append(({**cell, "source": text}, is_solution))

    def _end_of_question(self) -> None:
        name, told = str(self._question["name"]), self._question
        if make_folder_name(name) != name:
            raise OtterError(f"ends the question {name!r:.60}; its name is to hold letters, digits, `_`, `-` and `.`")
        if f"{name}.py" in self.master.tests or name in self.master.rubric:
            raise OtterError(f"ends a second question `{name}`")
        if told.get("manual"):
            points = read_points(told.get("points") or 0)
            self.master.rubric[name] = make_question(name, points, "", "\n\n".join(self._answer))
            self.master.notes.append(
                f"{name} is graded by hand with the rubric; until then, its points are not graded yet."
            )
        if not self._tests:
            return
        self.master.tests[f"{name}.py"] = write_test_file(told, self._tests, ok_format=self._ok_format)
        if told.get("check_cell", True) is not False:
            self.cells.append((_code(f'grader.check("{name}")'), False))
        elif self.cells:
            last = self.cells[-1][0]
            last["metadata"] = {**last.get("metadata", {}), "otter": {"tests": [name]}}


def _given(reader: _Reader, _cells: list[Cell]) -> list[Cell]:
    seed = _seed(reader.settings.get("seed"))
    given: list[Cell] = []
    for cell, is_solution in reader.cells:
        text = read_cell_source(cell)
        if cell.get("cell_type") == "code":
            text = remove_solutions(text) if is_solution else text
            if seed.get("variable"):
                text = replace_seed(text, str(seed["variable"]), seed.get("student_value"))
        given.append({**cell, "source": text})
    return given


def _code(source: str) -> Cell:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def _yaml(text: str) -> dict[str, object]:
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        raise OtterError("holds settings that are not valid YAML") from None
    if value is not None and not isinstance(value, dict):
        raise OtterError("holds settings that are not keys with values")
    return value or {}


def _seed(value: object) -> Mapping[str, object]:
    """Return the settings of the seed; the first format has a number instead."""
    return {"autograder_value": value} if type(value) is int else _table(value)


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
