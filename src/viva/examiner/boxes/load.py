"""Load a submission into a box: put its bytes, unpack archives inside, then run the module or the notebook."""

import errno
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Final

import viva.sandbox.guest.transport.message_types as requests
from viva.config import Assignment
from viva.config.rubric_file import load_rubric
from viva.examiner.boxes.choice import FileChoice, depth
from viva.model import Submission, system, untrusted
from viva.model.errors import BoxError, BoxTimeout, GraderError, LoadFailed, StudentRaised
from viva.model.submission import ARCHIVES
from viva.submissions.file_names import ANSWERS, CODE, is_answers_file
from viva.submissions.notebook_cells import Notebook, NotebookError, read_notebook
from viva.submissions.starter_code import MOST_BYTES as STARTER_CAP
from viva.submissions.starter_code import starter_of
from viva.submissions.starter_prose import StarterProse, starter_prose

READ_CAP: Final = 16 << 20
ARCHIVE_DEPTH: Final = 3
CHUNK_BYTES: Final = 4 << 20
"""Bytes of a file in one message; the connection rejects messages of more than 8 MiB."""
MOST_PROBLEMS: Final = 1000
MOST_NOTE: Final = 1500
"""Characters of a note that names files of an archive."""
LOAD_GRACE_S: Final = 2.0
"""How long after its own limit the examiner ends a load."""
_TOO_MUCH: Final = (errno.EFBIG, errno.ENAMETOOLONG, *(() if system.STORES_ANY_NAME else (errno.EINVAL,)))
"""Errors that the submission causes if a file cannot be stored; any other is due to the environment."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
"""The same, if the file is large: boxes without separate mounts share a disk with this machine."""
_BLOCK: Final = 4096
MOST_COMPARED: Final = 50
"""Files out of archives that are compared with the starter."""
_MOST_FILES: Final = 4096
"""The most files and folders together in one box."""
MODULE_LOADS: Final = 2
"""After the load time of a module, the rest of its definitions get as much again: training may come first."""
NOTEBOOK_LOADS: Final = 2
"""A cell may take the time of a whole module, and all cells twice that: one endless cell does not cost the rest."""
CELL_GRACE_S: Final = 6.0
"""Counted seconds for what follows the failure of a cell: its traceback, and the definitions after it."""
MAX_LOST_PARTS: Final = 3
"""The most statements and cells that are left out because they ended the process."""

Ask = Callable[..., Any]
TimeLeft = Callable[[], float]
Part = tuple[str, int]
"""A file, and the number of one of its cells, or the index of one of its statements."""


@dataclass(frozen=True, slots=True)
class LoadProblem:
    """One thing that went wrong during loading: a statement or cell that raised, or a file that could not be read."""

    where: str
    """`solution.py line 12`, `cell 7 of answers.ipynb`."""
    text: str
    missing_module: str | None = None
    raised: StudentRaised | None = None
    is_left_out: bool = False
    """Whether it is a part of a file that ended a box, and that later boxes do without."""


@dataclass(slots=True)
class LoadReport:
    """What loading did, for the student and the staff."""

    loaded: list[str] = field(default_factory=list)
    problems: list[LoadProblem] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Findings that cost nothing, such as a cell of an unknown kind."""
    choice: str = ""
    """Which file counts, and why, where the assignment does not say so: one sentence."""
    failure: LoadFailed | None = None
    """Set when every load has ended its box: no test can be asked."""
    incomplete: bool = False
    """Whether a time limit stopped a part, so that names may be missing, and loading has not been tried again."""
    notebooks: dict[str, Notebook] = field(default_factory=dict)
    cells: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Executed cells with their outputs, by notebook."""
    files: dict[str, int] = field(default_factory=dict)
    """Every file in the box's work directory after unpacking, with its size in bytes."""
    answers_file: bytes | None = None
    """The content of the file of answers; None if the submission has no such file."""

    def add(self, where: str, raised: StudentRaised) -> None:
        """Add what the student's code raised."""
        self.problems.append(LoadProblem(where, str(raised), raised.missing_module, raised))
        self.incomplete = self.incomplete or raised.limit == "time"


class Loader:
    """Loads one submission; called once per box."""

    def __init__(self, submission: Submission, assignment: Assignment, inside: dict[str, str]) -> None:
        self.submission = submission
        self.starter = assignment.starter
        """The folder of the starter; it may not exist."""
        self._assignment = assignment
        self._inside = inside
        self._code = {file.path: file.data for file in submission.files}
        """The bytes of code, as submitted and as it came out of archives, before any of it ran."""
        self.choice = FileChoice(
            assignment.submission, assignment.handed_out_names, assignment.starter, self._code, self.reading
        )
        self.read_s = 0.0
        """Processor seconds that reading its files outside of the box took: they count as the submission's."""
        self.begun = LoadReport()
        """The report of the latest load: what was read before any code ran counts even if the box has ended."""
        self.on_gpu = False
        """Whether the box has a GPU: code that names it then uses it, whatever the assignment says about devices."""
        self._running: Part | None = None
        """The cell or statement that is running, if it can be left out."""
        self._lost: Counter[Part] = Counter()
        """How often a cell or statement ended its box: it is left out; of a cell, at first, all but definitions."""
        self._how_lost: dict[Part, str] = {}
        self._has_failed = False
        """Whether a load has ended its box."""

    def can_load_again(self, error: BoxError, spent_s: float, left_s: float) -> bool:
        """Decide how to load after a load ended its box: once as before, then without the part that ended it.

        Args:
            error: how the box ended.
            spent_s: the seconds of that load.
            left_s: the seconds that loading has left.

        Returns:
            Whether there is another way to load, and time for it.
        """
        is_first, self._has_failed = not self._has_failed, True
        if is_first and left_s >= spent_s:
            return True
        part = self._running
        if part is None or left_s <= 0 or sum(self._lost.values()) >= MAX_LOST_PARTS:
            return False
        self._lost[part] += 1
        if isinstance(error, BoxTimeout):
            self._how_lost[part] = "could not be interrupted when its time had passed"
        else:
            self._how_lost[part] = f"ended the Python process ({error})"
        return True

    def load(self, ask: Ask, left_s: TimeLeft) -> LoadReport:
        """Put, unpack and run the submission in the box that `ask` reaches.

        Args:
            ask: sends a request to the box and returns the reply.
            left_s: returns how many counted seconds loading has left.

        Raises:
            BoxError: the box ended while loading.
            GraderError: the author's own helpers or data cannot be loaded.
        """
        report = self.begun = LoadReport()
        self._running = None
        self._prepare(ask)
        data = self._put(ask, report)
        self._unpack(ask, report, data)
        self._read_answers_file(ask, report, data)
        self._find_code(ask, report)
        chosen = self.choice.order(list(report.files))
        report.choice = self.choice.explain(chosen)
        files = [*chosen, *self.choice.completing(report.files, chosen)]
        report.notes += self.choice.describe_unrun(report.files, files)
        for path in files:
            if path.endswith(".ipynb"):
                self._read_notebook(ask, report, path, data)
        for path in files:
            self.load_file(ask, left_s, report, path)
        return report

    def list_others(self, report: LoadReport) -> list[str]:
        """Return the code next to the main files, which runs only when a test looks for a name in it."""
        return self.choice.others(report.files, report.loaded)

    def _find_code(self, ask: Ask, report: LoadReport) -> None:
        self.choice.has_several = sum(path.endswith(CODE) for path in report.files) > 1
        if self.choice.has_several:
            self._code.update(self._unpacked_code(ask, report))

    def questions(self, tested: frozenset[str], *written: str) -> StarterProse:
        """Return the questions of the assignment as the starter words them.

        Args:
            tested: the numbers of all tests.
            written: numbers of questions that a person grades, besides those of the rubric.
        """
        by_hand = _by_hand(self._assignment.folder / "rubric.yaml")
        return starter_prose(self.starter, tested, by_hand.union(written))

    @property
    def _device(self) -> str:
        return "as_written" if self.on_gpu else self._assignment.device

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Count what is done in this context as the submission's time."""
        began_s = sum(os.times()[:4])  # of the processes as well in which files are read
        try:
            yield
        finally:
            self.read_s += sum(os.times()[:4]) - began_s

    def _unpacked_code(self, ask: Ask, report: LoadReport) -> dict[str, bytes]:
        """Read the code that came out of archives; none of it has run yet."""
        found = {}
        for path, size in report.files.items():
            if path not in self._code and path.endswith(CODE) and size <= STARTER_CAP:
                try:
                    found[path] = read_file(ask, self._assignment.limits.call_s, path, STARTER_CAP)
                except StudentRaised:
                    continue  # loading it says why
                if len(found) >= MOST_COMPARED:
                    break
        return found

    def _prepare(self, ask: Ask) -> None:
        """Load the author's data and helpers before the student's files: what fails here is the grader's fault."""
        limits = self._assignment.limits
        try:
            for name, path in zip(self._assignment.data_names, self._assignment.data, strict=True):
                put_file(ask, limits.call_s, name, path.read_bytes())
            if self._inside:
                ask(requests.LoadInside(self._inside), timeout_s=limits.load_s)
        except StudentRaised as error:
            raise GraderError(f"The assignment's data or helpers cannot be loaded in the box: {error}") from error

    def _put(self, ask: Ask, report: LoadReport) -> dict[str, bytes]:
        """Put the student's files into the box; report one that is too large, and put the others.

        None of the student's code has run yet, so the box's replies can be trusted here.
        """
        for file in self.submission.files:
            try:
                put_file(ask, self._assignment.limits.call_s, file.path, file.data)
            except StudentRaised as error:
                theirs = _TOO_MUCH if self._fits() else (*_TOO_MUCH, *_FULL)
                if not any(f"[Errno {number}]" in error.message for number in theirs):
                    raise GraderError(f"{file.path} could not be stored in a fresh box: {error}") from error
                report.problems.append(LoadProblem(file.path, f"could not be stored in the box: {error.message}"))
        return {f.path: f.data for f in self.submission.files}

    def _fits(self) -> bool:
        """Return whether the limits leave room for twice the files: if a box has none then, this machine has none."""
        sizes = [len(file.data) for file in self.submission.files] + [p.stat().st_size for p in self._assignment.data]
        folders = {parent for file in self.submission.files for parent in PurePosixPath(file.path).parents}
        blocks = sum(size // _BLOCK + 1 for size in sizes)
        within = 2 * blocks * _BLOCK <= self._assignment.limits.disk_mib << 20
        return within and 2 * (len(sizes) + len(folders)) <= _MOST_FILES

    def _unpack(self, ask: Ask, report: LoadReport, data: dict[str, bytes]) -> None:
        """Unpack archives, and those in them if they hold nothing else: course systems pack what students packed."""
        archives = [p for p in data if p.lower().endswith(ARCHIVES)]
        files = {p: len(d) for p, d in data.items()}
        has_code = any(p.endswith(CODE) for p in files)
        for _ in range(ARCHIVE_DEPTH):
            if not archives:
                break
            known = set(files)
            for path in archives:
                self._unpack_one(ask, report, path, replace=not has_code)
            files = self._listed(ask, report)
            has_code = any(p.endswith(CODE) for p in files)
            archives = [p for p in files if p.lower().endswith(ARCHIVES) and p not in known and not has_code]
        report.files = {p: size for p, size in files.items() if not p.lower().endswith(ARCHIVES)}

    def _unpack_one(self, ask: Ask, report: LoadReport, path: str, *, replace: bool) -> None:
        """Unpack an archive; next to code, it may be data that the code opens, so that it stays as well."""
        try:
            reply = ask(requests.Unpack(path, replace), timeout_s=self._assignment.limits.load_s)
        except StudentRaised as error:
            report.problems.append(LoadProblem(path, f"could not be unpacked: {error}"))
            return
        notes = untrusted.rows(untrusted.table(reply).get("notes"))
        report.notes += [untrusted.text(note, MOST_NOTE) for note in notes[:MOST_PROBLEMS]]

    def _listed(self, ask: Ask, report: LoadReport) -> dict[str, int]:
        """Return every file in the box with its size in bytes; none of the student's code has run yet."""
        try:
            listed = ask(requests.ListFiles(), timeout_s=self._assignment.limits.call_s)
        except StudentRaised as error:
            report.problems.append(LoadProblem("the submission", f"could not be listed: {error}"))
            return {}
        pairs = [
            (untrusted.text(row[0]), row[1]) for row in map(untrusted.rows, untrusted.rows(listed)) if len(row) == 2
        ]
        return {p: untrusted.number(size) for p, size in pairs}

    def _read_answers_file(self, ask: Ask, report: LoadReport, data: dict[str, bytes]) -> None:
        """Read the file of answers, and note which ones are ignored; none of the student's code has run yet.

        Of several, one that is still the starter comes last, and one with the name that students get comes first.
        """
        read: dict[str, bytes] = {}
        for path in [path for path in report.files if is_answers_file(path)][:MOST_COMPARED]:
            with suppress(StudentRaised):  # it is taken as missing
                read[path] = data[path] if path in data else read_file(ask, self._assignment.limits.call_s, path)
        starter = starter_of(self._assignment.starter)
        blank = {path for path, content in read.items() if starter.compare(path, content).is_unchanged}
        ordered = sorted(read, key=lambda p: (p in blank, PurePosixPath(p).name not in ANSWERS, depth(p)))
        first, others = "".join(ordered[:1]), ordered[1:]
        report.answers_file = read.get(first)
        if not first:
            others = [path for path in report.files if _is_like_answers(path)]
        if others:
            report.notes.append(f"Ignored: {', '.join(others[:10])}; answers are read from {first or ANSWERS[0]}.")
        elif first and PurePosixPath(first).name not in ANSWERS:
            report.notes.append(f"{first} was read as {ANSWERS[0]}.")

    def _read_notebook(self, ask: Ask, report: LoadReport, path: str, data: dict[str, bytes]) -> None:
        """Read a notebook as data; none of the student's code has run yet."""
        try:
            given = data[path] if path in data else read_file(ask, self._assignment.limits.call_s, path)
            with self.reading():
                notebook = read_notebook(given)
        except (NotebookError, StudentRaised) as error:
            report.problems.append(LoadProblem(path, str(error)))
            return
        report.notebooks[path] = notebook
        report.notes += [f"{path}: {note}" for note in notebook.notes]

    def load_file(self, ask: Ask, left_s: TimeLeft, report: LoadReport, path: str) -> None:
        """Run one file in the time that is left.

        Raises:
            BoxError: the box ended.
        """
        self._running = None
        report.loaded.append(path)
        if path in report.notebooks:
            self._load_notebook(ask, left_s, report, path, report.notebooks[path])
        elif path.endswith(".ipynb"):
            return  # it could not be read
        elif self._has_failed:  # now it matters which statement ends the box
            self._load_statements(ask, left_s, report, path)
        else:
            self._load_module(ask, left_s, report, path)

    def _how(self, path: str) -> requests.LoadModule:
        """Return the request to run a file, which the others that begin to run one are like."""
        starter = sorted(self.choice.compare(path).starter_names)
        forbid = list(self._assignment.forbid)
        return requests.LoadModule(path, self._assignment.load, forbid, starter, self._device)

    def _load_module(self, ask: Ask, left_s: TimeLeft, report: LoadReport, path: str) -> None:
        load_s = min(self._assignment.limits.load_s, left_s())
        whole_s = load_s * MODULE_LOADS
        try:
            reply = ask(replace(self._how(path), file_s=load_s), timeout_s=whole_s + LOAD_GRACE_S, soft_s=whole_s)
        except StudentRaised as error:
            report.add(path, error)
            return
        _note_module(report, path, untrusted.table(reply))

    def _load_statements(self, ask: Ask, left_s: TimeLeft, report: LoadReport, path: str) -> None:
        """Run a module with one request for each statement, without those that ended a box before."""
        began_s = left_s()
        whole_s = min(self._assignment.limits.load_s * MODULE_LOADS, began_s)
        try:
            begin = requests.BeginModule(**self._how(path).fields())
            begun = untrusted.table(ask(begin, timeout_s=whole_s + LOAD_GRACE_S, soft_s=whole_s))
            _note_module(report, path, begun)
            for index, line in enumerate(map(untrusted.number, untrusted.rows(begun.get("lines")))):
                self._running = path, index
                if self._running in self._lost:
                    report.problems.append(self._describe_lost_part(self._running, f"{path} line {line}"))
                    continue
                spent_s = began_s - left_s()
                if spent_s >= whole_s:
                    report.incomplete = True
                    report.problems.append(LoadProblem(f"{path} line {line}", "not run: the time had passed"))
                    break
                is_late = spent_s >= whole_s / MODULE_LOADS
                soft_s = whole_s - spent_s
                mode = "definitions" if is_late else self._assignment.load
                statement = requests.NextStatement(index, mode, file_s=whole_s / MODULE_LOADS - spent_s)
                ran = ask(statement, timeout_s=soft_s + LOAD_GRACE_S, soft_s=soft_s)
                _note_module(report, path, untrusted.table(ran))
        except StudentRaised as error:
            report.add(path, error)

    def _describe_lost_part(self, part: Part, where: str) -> LoadProblem:
        text = f"was left out, because it {self._how_lost[part]}; the rest was run without it"
        return LoadProblem(where, text, is_left_out=True)

    def _load_notebook(self, ask: Ask, left_s: TimeLeft, report: LoadReport, path: str, notebook: Notebook) -> None:
        cells: list[dict[str, Any]] = []
        report.cells[path] = cells
        try:
            self._run_cells(ask, left_s, report, path, notebook)
        except StudentRaised as error:
            report.add(path, error)
        unrun: list[int] = []
        for cell in cells:
            number = untrusted.number(cell.get("number"))
            where = f"cell {number} of {path}"
            skipped = untrusted.text(cell.get("skipped"), 300)
            status = untrusted.text(cell.get("status"), 20)  # comparing an array would give an array
            if raised_fields := untrusted.table(cell.get("raised")):
                report.add(where, StudentRaised.from_wire(raised_fields))
            elif status == "timeout":
                report.incomplete = True
                report.problems.append(LoadProblem(where, "did not finish in time"))
            elif skipped and self._assignment.load == "definitions":
                report.skipped.append(f"{where}: {skipped}")
            elif status == "skipped":
                unrun.append(number)
            if (path, number) in self._lost:
                report.problems.append(self._describe_lost_part((path, number), where))
        if unrun:
            report.incomplete = True
            which = f"cell {unrun[0]}" if len(unrun) == 1 else f"cells {unrun[0]} to {unrun[-1]}"
            text = "not run, because what was run before had used up the time for loading"
            report.problems.append(LoadProblem(f"{which} of {path}", text))

    def _run_cells(self, ask: Ask, left_s: TimeLeft, report: LoadReport, path: str, notebook: Notebook) -> None:
        """Run the cells with one request for each; of a cell that ended a box before, at most the definitions."""
        whole_s = self._assignment.limits.load_s * NOTEBOOK_LOADS
        cells: list[requests.Cell] = [{"number": c.number, "source": c.source} for c in notebook.code]
        begin = requests.BeginNotebook(**self._how(path).fields())
        ask(begin, timeout_s=whole_s + LOAD_GRACE_S, soft_s=whole_s)
        for cell, source in zip(cells, notebook.code, strict=True):
            self._running = path, source.number
            times_lost = self._lost[self._running]
            if left_s() <= 0:
                report.cells[path].append({"number": source.number, "status": "skipped"})
                continue
            if times_lost > 1:
                report.cells[path].append({"number": source.number, "status": "died"})
                continue
            cell_s = min(self._assignment.limits.load_s, left_s())
            soft_s = cell_s + CELL_GRACE_S
            request = requests.NextCell(cell, cell_s, only_definitions=times_lost > 0)
            ran = untrusted.table(ask(request, timeout_s=soft_s + LOAD_GRACE_S, soft_s=soft_s))
            _note_forbidden(report, path, ran)
            for row in map(untrusted.rows, untrusted.rows(ran.get("earlier"))[: source.number]):
                index = untrusted.number(row[0]) - 1 if len(row) == 2 else -1
                if 0 <= index < len(report.cells[path]):  # cells are numbered from 1, without gaps
                    report.cells[path][index]["outputs"] = row[1]
            status = {"status": "died"} if times_lost else {}
            report.cells[path].append({**ran, "number": source.number, **status})


def put_file(ask: Ask, timeout_s: float, path: str, data: bytes) -> None:
    """Put a file into the box that `ask` reaches, in parts that fit into one message.

    Raises:
        StudentRaised: it cannot be written there.
        BoxError: the box ended.
    """
    ask(requests.Put(path, data[:CHUNK_BYTES]), timeout_s=timeout_s)
    for start in range(CHUNK_BYTES, len(data), CHUNK_BYTES):
        ask(requests.Put(path, data[start : start + CHUNK_BYTES], more=True), timeout_s=timeout_s)


def read_file(ask: Ask, timeout_s: float, path: str, cap: int = READ_CAP) -> bytes:
    """Read the beginning of a file in the box, at most `cap` bytes; the content is an untrusted value.

    Raises:
        StudentRaised: it cannot be read.
        BoxError: the box ended.
    """
    parts: list[bytes] = []
    for start in range(0, cap, CHUNK_BYTES):
        part = ask(requests.ReadFile(path, CHUNK_BYTES, start), timeout_s=timeout_s)
        parts.append(part[:CHUNK_BYTES] if type(part) is bytes else b"")
        if len(parts[-1]) < CHUNK_BYTES:
            break
    return b"".join(parts)[:cap]


def _note_module(report: LoadReport, path: str, reply: dict[str, Any]) -> None:
    """Note what running a module, or one of its statements, came to."""
    _note_forbidden(report, path, reply)
    for item in map(untrusted.table, untrusted.rows(reply.get("errors"))[:MOST_PROBLEMS]):
        line = untrusted.number(item.get("line"))
        report.add(f"{path} line {line}" if line else path, StudentRaised.from_wire(item))
    skipped = untrusted.rows(reply.get("skipped"))[:MOST_PROBLEMS]
    report.skipped += [f"{path}: {untrusted.text(text, 300)}" for text in skipped]


def _note_forbidden(report: LoadReport, path: str, reply: dict[str, object]) -> None:
    """Note which denied names the code tried to use; how it handled the refusal does not matter."""
    for name in untrusted.rows(reply.get("forbidden"))[:MOST_PROBLEMS]:
        report.notes.append(f"{path}: tried to use `{untrusted.text(name, 100)}`, which the assignment forbids.")


@lru_cache(maxsize=16)
def _by_hand(rubric: Path) -> frozenset[str]:
    """Return the numbers of the questions of a rubric, read once in this process."""
    return frozenset(question.number for question in load_rubric(rubric).questions)


def _is_like_answers(path: str) -> bool:
    return PurePosixPath(path).name.lower().startswith("answer") and not path.lower().endswith((*CODE, *ARCHIVES))
