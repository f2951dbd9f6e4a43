"""The student's live kernel as the examiner sees it: asked like a box, and never ended."""

import builtins
import contextlib
import itertools
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import viva.sandbox.guest.loading.namespaces as namespaces
import viva.sandbox.guest.loading.sources as sources
import viva.sandbox.guest.loading.workdir_files as workdir_files
import viva.sandbox.guest.process.alarm as alarm
import viva.sandbox.guest.process.seeding as seeding
import viva.sandbox.guest.process.worker as worker
import viva.sandbox.guest.transport.wire as wire
from viva.examiner.boxes.load import Ask, Loader, LoadReport, TimeLeft
from viva.model.errors import BoxDied, ProtocolViolation
from viva.plugins.selfcheck.live_notebook import LiveNotebook
from viva.sandbox.guest.transport.message_types import ListFiles, Put
from viva.submissions.notebook_cells import NotebookError, read_notebook

SPACE: Final = "notebook"
"""The name of the kernel's namespace among files; no test asks for a file of this name."""
_MAX_COPIED_BYTES: Final = 16 << 20
"""The most bytes of one file that is copied where the system cannot create links."""
_MAX_LISTED: Final = 500
_BROKEN: Final = {
    "type": "RuntimeError",
    "message": "the code replaced functions that are built into Python",
    "frames": [],
}


def _find_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that are loaded."""
    loaded = {name: getattr(sys.modules.get(name), "__version__", None) for name in ("numpy", "torch", "transformers")}
    return {"python": platform.python_version(), **{n: str(v) for n, v in loaded.items() if v is not None}}


@dataclass(frozen=True, slots=True)
class LiveReadyMessage:
    """What a kernel reports about itself: there are no isolation layers."""

    versions: Mapping[str, str] = field(default_factory=_find_versions)
    tier: str = "T0"
    layers: Mapping[str, str] = field(default_factory=dict)
    probes: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ("a fresh start: this was asked of a live notebook",)


class LiveKernel:
    """This process: a box, and the source of it.

    Requests and replies are encoded as for a box, so that tests see the same values here and there.
    """

    slept = False
    """A student checks alone, so that no other test would have to wait."""

    def __init__(self, live: LiveNotebook, cells: Mapping[str, str]) -> None:
        """Make the names of the notebook callable; files that tests put go into a temporary folder."""
        self._folder = live.folder
        self._temporary: Path | None = None
        self._names = namespaces.Namespaces()
        self._names.add(SPACE, live.namespace)
        self._cells = cells
        self._worker = worker.Worker(self._names, {"put": self._put, "files": self._list_files})
        self._builtins: dict[str, object] = {}
        self.ready_message = LiveReadyMessage()
        self.alive = True
        self.counted_s = 0.0
        self.called: set[str] = set()
        """The student's names that were called since the set was last cleared."""

    def begin(self) -> None:
        """Take the process's settings as those with which every test begins, and remember the builtins."""
        sources.work_in(str(self._folder))
        for filename, name in self._cells.items():
            sources.remember_code(filename, name)
        seeding.remember_defaults()
        self._builtins = dict(vars(builtins))

    def take(self) -> "LiveKernel":
        """Return the kernel, as a source of boxes does."""
        self.alive, self.counted_s = True, 0.0
        return self

    def ask(self, op: str, *, timeout_s: float, **fields: object) -> dict[str, object]:  # as Box.ask
        """Answer one request with the worker of a box; a soft time limit interrupts it where there are signals.

        Raises:
            BoxDied: the kernel was given back.
            ProtocolViolation: the reply is too large.
        """
        if not self.alive:
            raise BoxDied("the kernel was given back")
        began_s = alarm.now()
        request = wire.load(b"".join(wire.dump({"op": op, **fields})), found=self._worker.refs.mention)
        if op == "call" and request.get("space") not in (None, namespaces.INSIDE):
            self.called.add(str(request.get("name")))
        try:
            parts = self._worker.answer(request)
        except Exception:  # the worker needs some of the builtins itself
            self._repair_builtins()
            alarm.off()
            parts = wire.dump({"raised": _BROKEN})
        self._repair_builtins()
        self.counted_s += alarm.now() - began_s
        try:
            reply: dict[str, object] = wire.load(b"".join(parts))
        except wire.WireError as error:
            self.alive = False
            raise ProtocolViolation(f"the answer is not a valid message: {error}") from error
        return reply

    def kill(self) -> None:
        """Answer nothing more until the next `take`; the kernel is the student's and keeps running."""
        self.alive = False

    def close(self) -> None:
        """Do the same as `kill`, and remove the files that tests have put."""
        self.kill()
        if self._temporary is not None and Path.cwd() != self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None
            sources.work_in(str(self._folder))

    def _repair_builtins(self) -> None:
        """Immediately restore the builtins that a called function replaced, because the whole kernel needs them."""
        names = vars(builtins)
        for name, value in self._builtins.items():
            if names.get(name) is not value:
                names[name] = value

    # Files that tests put next to the student's program. With the first one, the program runs in a temporary folder,
    # from which everything in its own folder can be reached as before.

    def _put(self, request: Put) -> None:
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="viva-check-"))
            _link_all(self._folder, self._temporary)
            sources.work_in(str(self._temporary))
            os.chdir(self._temporary)
        parts = request.path.split("/")
        for depth in range(1, len(parts)):
            inner = self._temporary.joinpath(*parts[:depth])
            if inner.is_symlink():  # one of the student's folders becomes a folder of links
                inner.unlink()
                inner.mkdir()
                _link_all(self._folder.joinpath(*parts[:depth]), inner)
        target = self._temporary.joinpath(*parts)
        if target.is_symlink():
            target.unlink()
        workdir_files.put(request)

    def _list_files(self, _request: ListFiles) -> list[list[object]]:
        """Return `[path, size]` of the files near the top only, because a notebook may be in a large folder."""
        folder = Path(sources.folder())
        paths: list[Path] = []
        for pattern in ("*", "*/*", "*/*/*"):
            paths += itertools.islice(folder.glob(pattern), _MAX_LISTED)
        rows: list[list[object]] = []
        for path in paths[:_MAX_LISTED]:
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not f"/{name}".count("/."):
                rows.append([name, path.stat().st_size])
        return sorted(rows)


def _link_all(source: Path, target: Path) -> None:
    """Link everything of one folder into another, or copy it where the system cannot create links."""
    with contextlib.suppress(OSError):
        for path in source.iterdir():
            try:
                (target / path.name).symlink_to(path, target_is_directory=path.is_dir())
            except OSError:
                with contextlib.suppress(OSError):
                    if path.is_file() and path.stat().st_size <= _MAX_COPIED_BYTES:
                        shutil.copy2(path, target / path.name)


class LiveLoader(Loader):
    """Loads the author's files into the kernel; the student's own part is there already."""

    def load(self, ask: Ask, left_s: TimeLeft) -> LoadReport:  # as Loader.load
        """Load the author's data and helpers; read notebooks only for their prose.

        Raises:
            BoxError: the kernel did not answer.
            GraderError: the author's own helpers or data cannot be loaded.
        """
        report = LoadReport(loaded=["your notebook"])
        self._prepare(ask)
        report.files = {**self._listed(ask, report), **{f.path: len(f.data) for f in self.submission.files}}
        self._read_answers_file(ask, report, {f.path: f.data for f in self.submission.files})
        for file in self.submission.files:
            if file.path.endswith(".ipynb"):
                try:
                    report.notebooks[file.path] = read_notebook(file.data)
                except NotebookError as error:
                    report.notes.append(f"{file.path} was not read for answers in words: {error}.")
        return report

    def list_others(self, report: LoadReport) -> list[str]:  # as Loader.list_others
        """Return no files: what the student has not imported is not part of the kernel."""
        return []
