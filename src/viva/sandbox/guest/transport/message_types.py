"""The fields of messages and of what they carry, for type checkers alone: nothing imports this module when it runs.

A request holds the fields of its operation and no others, so every field of one is optional here.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict

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


class Request(TypedDict, total=False):
    """What the examiner sends to a worker, except for suites and for notebooks with their own tests."""

    op: str
    release: List[int]
    """The objects that the examiner has no further use for."""
    soft_s: Optional[float]
    seed: Optional[int]

    # Files and commands
    path: str
    data: bytes
    more: bool
    """A further part of a file; for a name, whether to list the functions too."""
    replace: bool
    start: int
    limit: int
    argv: List[str]
    stdin: str
    limit_s: float

    # Loading
    sources: Dict[str, str]
    mode: str
    forbid: List[str]
    starter: List[str]
    device: str
    file_s: Optional[float]
    cells: List[Cell]
    cell: Cell
    only_definitions: bool
    index: int
    cell_s: float

    # Names and objects
    space: str
    name: str
    ref: int
    keep: bool
    args: List[object]
    kwargs: Dict[str, object]
    full: bool
    each: bool
    """Whether `args` are lists of arguments, for one call each."""
    twice: bool
    """Whether to call a second time with the same objects."""
    key: object
    names: Dict[str, object]


class SuiteRequest(TypedDict, total=False):
    """A request about the author's unittest suite."""

    folder: str
    path: str
    paths: List[str]
    modules: List[str]
    students: List[str]
    module: str
    test: str


class OtterTest(TypedDict, total=False):
    """A test of an otter notebook: doctests, or the source of a module of cases."""

    name: str
    doctests: List[str]
    source: str


class OtterCase(TypedDict):
    """The result of one case of an otter test."""

    passed: bool
    words: str
    raised: Optional[Raised]


class CellsRequest(TypedDict, total=False):
    """A request about a notebook that is run cell by cell."""

    path: str
    cells: List[str]
    checks: Optional[Dict[str, OtterTest]]
    number: int
    source: str
    before: str
    cell_s: float
    test: str
    again: bool
    whole: OtterTest
    snapshot: str
    snapshots: List[str]


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
