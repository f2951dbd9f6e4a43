"""The requests to a worker, which both sides use, and the fields of the other messages and of what they carry.

A request crosses as a map of its operation's name, of the fields that differ from their defaults, and of three more,
which belong to every request: `release`, the objects of which the sender has no further use; `soft_s`, its limit in
counted seconds; and `seed`, with which a new test begins.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Dict, List, Mapping, Optional, Sequence, Type, TypedDict

if TYPE_CHECKING:
    from ..values.raised import Raised


class Cell(TypedDict, total=False):
    """A cell of a notebook to run."""

    number: int
    source: str


class Output(TypedDict, total=False):
    """An output of a cell, in the form of nbformat."""

    output_type: str
    name: str
    text: Any
    """A list of parts while the cell runs, then one text."""
    data: Dict[str, object]
    metadata: Dict[str, object]
    execution_count: int
    ename: str
    evalue: str
    traceback: List[str]


class CellResult(TypedDict, total=False):
    """A cell that was run; the status is "ok", "raised", "timeout" or "skipped"."""

    number: int
    status: str
    raised: Optional[Raised]
    outputs: List[Output]
    wall_s: float
    skipped: str
    earlier: List[List[Any]]


class OtterCase(TypedDict):
    """The result of one case of an otter test."""

    passed: bool
    words: str
    raised: Optional[Raised]


@dataclass(frozen=True)
class Request:
    """One operation of a worker and its arguments; worker.py says what each returns."""

    op: ClassVar[str]

    def fields(self) -> Dict[str, Any]:
        """Return the arguments that differ from their defaults, as they cross."""
        values = ((field, getattr(self, field.name)) for field in dataclasses.fields(self))
        return {field.name: v for field, v in values if field.default is dataclasses.MISSING or v != field.default}


@dataclass(frozen=True)
class Put(Request):
    """Write a file into the work directory; with `more`, append the next part of a large one."""

    op = "put"
    path: str
    data: bytes
    more: bool = False


@dataclass(frozen=True)
class Unpack(Request):
    """Unpack an archive next to itself; with `replace`, its contents take its place."""

    op = "unpack"
    path: str
    replace: bool = False


@dataclass(frozen=True)
class ListFiles(Request):
    """List the files of the work directory with their sizes."""

    op = "files"


@dataclass(frozen=True)
class ReadFile(Request):
    """Read at most `limit` bytes of a file."""

    op = "read"
    path: str
    limit: int
    start: int = 0


@dataclass(frozen=True)
class RunCommand(Request):
    """Run a command where the code runs, for at most `limit_s` seconds."""

    op = "run"
    argv: Sequence[str]
    stdin: str = ""
    limit_s: Optional[float] = None


@dataclass(frozen=True)
class LoadModule(Request):
    """Run a file as a module; after `file_s` counted seconds, only its definitions."""

    op = "load_module"
    path: str
    mode: str = "run"
    """"definitions" runs only what defines names."""
    forbid: Sequence[str] = ()
    """Modules, and names in modules, that the code must not use."""
    starter: Sequence[str] = ()
    """Names that the file defines as the starter does: other files' definitions of them come first."""
    device: str = "as_written"
    """"cpu" puts the CPU in the place of a GPU."""
    file_s: Optional[float] = None


@dataclass(frozen=True)
class BeginModule(LoadModule):
    """Prepare to run a file one statement at a time."""

    op = "begin_module"


@dataclass(frozen=True)
class NextStatement(Request):
    """Run one statement of the module that was begun."""

    op = "next_statement"
    index: int
    mode: str = "run"
    file_s: Optional[float] = None


@dataclass(frozen=True)
class BeginNotebook(LoadModule):
    """Prepare to run the cells of a notebook in one namespace."""

    op = "begin_notebook"


@dataclass(frozen=True)
class NextCell(Request):
    """Run one cell of the notebook that was begun, for at most `cell_s` counted seconds."""

    op = "next_cell"
    cell: Cell
    cell_s: Optional[float] = None
    only_definitions: bool = False


@dataclass(frozen=True)
class LoadInside(Request):
    """Run the author's helpers, given as texts by file name."""

    op = "load_inside"
    sources: Mapping[str, str]


@dataclass(frozen=True)
class ListNames(Request):
    """List the public names of a space: "student", "inside" or "module:<path, file name or stem>"."""

    op = "names"
    space: str = "student"


@dataclass(frozen=True)
class Find(Request):
    """Say whether a name exists and what it is; with `more`, also which functions there are."""

    op = "find"
    space: str
    name: str
    more: bool = False


@dataclass(frozen=True)
class Get(Request):
    """Return an object, given by its name in a space or by its number; with `keep`, a reference to it."""

    op = "get"
    space: str = ""
    name: str = ""
    ref: Optional[int] = None
    keep: bool = False


@dataclass(frozen=True)
class CallObject(Request):
    """Call an object, given as in `Get`."""

    op = "call"
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    space: str = ""
    name: str = ""
    ref: Optional[int] = None
    keep: bool = False
    full: bool = False
    """Whether to return all that the call does, instead of its value."""
    each: bool = False
    """Whether `args` are lists of arguments, for one call each."""
    twice: bool = False
    """Whether to call a second time with the same objects (second_call.py)."""


@dataclass(frozen=True)
class SetNames(Request):
    """Set names in all namespaces of a space until the next test."""

    op = "set"
    space: str
    names: Mapping[str, Any]


@dataclass(frozen=True)
class GetAttribute(Request):
    """Return an attribute of a kept object."""

    op = "attribute"
    ref: int
    name: str
    keep: bool = False


@dataclass(frozen=True)
class GetItem(Request):
    """Return an item of a kept object."""

    op = "item"
    ref: int
    key: Any
    keep: bool = False


@dataclass(frozen=True)
class NextItem(Request):
    """Return the next item of a kept iterator."""

    op = "next"
    ref: int
    keep: bool = False


@dataclass(frozen=True)
class EnterContext(Request):
    """Enter a kept context manager."""

    op = "enter"
    ref: int
    keep: bool = False


@dataclass(frozen=True)
class ExitContext(Request):
    """Leave a kept context manager."""

    op = "exit"
    ref: int


@dataclass(frozen=True)
class ClearSuite(Request):
    """Remove the student's files from the suite's folder, and from where the author's will be."""

    op = "suite_clear"
    folder: str
    paths: Sequence[str]


@dataclass(frozen=True)
class BeginSuite(Request):
    """Make the process look as if a test runner had been started in the folder of a file."""

    op = "suite_begin"
    folder: str
    path: str
    modules: Sequence[str] = ()


@dataclass(frozen=True)
class DescribeSuite(Request):
    """Describe the tests of the suite's modules, without a submission."""

    op = "suite_describe"
    modules: Sequence[str]
    students: Sequence[str]


@dataclass(frozen=True)
class LoadSuiteModule(Request):
    """Import a module of the suite and find its tests."""

    op = "suite_load"
    module: str


@dataclass(frozen=True)
class OneSuiteTest(Request):
    """An operation on one test of the suite."""

    test: str


@dataclass(frozen=True)
class EnterSuiteTest(OneSuiteTest):
    """Run setUpModule and setUpClass if the class or module changes."""

    op = "suite_enter"


@dataclass(frozen=True)
class LeaveSuiteTest(OneSuiteTest):
    """Run tearDownClass, and tearDownModule if the next test is in another module."""

    op = "suite_leave"


@dataclass(frozen=True)
class RunSuiteTest(OneSuiteTest):
    """Run one test."""

    op = "suite_run"


@dataclass(frozen=True)
class BeginCells(Request):
    """Make the process look as if a kernel had been started in the notebook's folder."""

    op = "cells_begin"
    path: str
    checks: Optional[Mapping[str, Any]] = None
    """The tests that the notebook may ask for, by name (otter_checks.py)."""
    snapshots: Sequence[str] = ()


@dataclass(frozen=True)
class RunCell(Request):
    """Run one cell; `before` runs first."""

    op = "cells_run"
    number: int
    source: str
    before: str = ""
    cell_s: Optional[float] = None


@dataclass(frozen=True)
class RunCheck(Request):
    """Return the results of a test's cases."""

    op = "cells_check"
    test: str
    again: bool = False
    whole: Optional[Mapping[str, Any]] = None
    """The test with its hidden cases."""


@dataclass(frozen=True)
class TakeSnapshot(Request):
    """Take a snapshot."""

    op = "cells_take"
    snapshot: str


@dataclass(frozen=True)
class ResumeSnapshot(Request):
    """Go on in a snapshot."""

    op = "cells_resume"
    snapshot: str


def _with_operation(kind: Type[Request]) -> List[Type[Request]]:
    below = [found for derived in kind.__subclasses__() for found in _with_operation(derived)]
    return [kind, *below] if "op" in vars(kind) else below


REQUESTS: Dict[str, Type[Request]] = {kind.op: kind for kind in _with_operation(Request)}
"""By the names of their operations."""


class BoxGpu(TypedDict):
    """The GPU of a box: its device files, its UUID for CUDA, and whether torch uses deterministic algorithms."""

    devices: List[str]
    visible: str
    deterministic: bool


class Policy(TypedDict, total=False):
    """Fields of Limits, and further facts for a box about itself."""

    submission_s: float
    memory_mib: int
    disk_mib: int
    processes: int
    fork: bool
    seed: int
    gpu: BoxGpu
    work: str
    scratch: str


class Canary(TypedDict):
    """What the examiner prepared for the escape attempts; escape_probes.py describes the fields."""

    file: str
    folder: str
    tcp: int
    unix: str
    examiner: int


class Settings(TypedDict, total=False):
    """What the examiner sends to a fork server at its start."""

    tier: str
    engine: str
    base: str
    readable: List[str]
    hidden: List[str]
    secret: List[str]
    devices: List[str]
    preload: List[str]
    fresh: bool
    trial_uid: int
    canary: Canary
    cgroups: List[str]


class BoxRequest(TypedDict):
    """What the examiner sends to a fork server for each box."""

    number: int
    uid: int
    policy: Policy
