"""Checkpoints of trainings: what a later run of the same submission needs to continue after the last epoch.

The state of a training is an untrusted value from the student's box. It is kept in the wire's own format, which holds
only plain data, and is returned only to a box that runs the same test on the same submission: otherwise, what a box has
seen of a hidden test would reach a box whose output the student reads. The file also holds what the examiner itself has
measured. It is sealed with a key derived from the course's secret, so that neither part can be changed on disk. The
seal also covers the identity of the training: a file of another training is rejected.
"""

import contextlib
import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

from viva.formats.atomic_write import write_atomically
from viva.model.errors import UsageError
from viva.sandbox.guest.transport.wire import TooLarge, WireError, dump, load

FORMAT: Final = "viva checkpoint 1"
SUFFIX: Final = ".checkpoint"
MOST_BYTES: Final = 64 << 20
"""The most bytes of one training."""
MOST_BYTES_TOGETHER: Final = 256 << 20
"""The most bytes of all trainings of a submission."""
_SEAL: Final = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class SavedTraining:
    """The state of a training when it was saved."""

    epochs: int
    """How many are complete."""
    measured: Mapping[str, list[float]]
    """What the examiner had recorded, epoch by epoch."""
    rng: Any
    """The state of the examiner's own generator; None if it was not passed."""
    state: Any
    """The state of the box, as the box reported it: an untrusted value."""


@final
@dataclass(slots=True)
class Checkpoints:
    """The checkpoints of one submission, in a folder that no box can reach."""

    folder: Path
    key: bytes
    """Known only to the examiner."""
    made_with: Callable[[], Mapping[str, str]] = dict
    """What else determines a training besides the test; called once there is a box to ask."""
    case_id: str = ""
    """The test that is running."""
    trained: dict[str, bool] = field(default_factory=dict)
    """Files of the trainings of this run, and whether each was complete in the end."""
    notes: list[str] = field(default_factory=list)
    """For staff: what was not saved or not used, and why."""
    _begun: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    _run: str = ""

    def begin(self, case_id: str) -> None:
        """Let a test begin, for the first time or once more: its trainings are then the same again."""
        self.case_id = case_id
        for known in [known for known in self._begun if known[0] == case_id]:
            del self._begun[known]

    def of(self, name: str, seed: object) -> "Checkpoint":
        """Return the place of a training that begins now; a second one of the same name and seed here is another."""
        self._run = self._run or _digest([FORMAT, sorted(self.made_with().items())])
        known = (self.case_id, name, repr(seed))
        self._begun[known] += 1
        found = Checkpoint(self, self._run, _digest([self._run, *known, self._begun[known]]), name)
        self.trained[found.path.name] = False
        return found

    def note(self, name: str, text: str) -> None:
        """Report something about a training to staff."""
        self.notes.append(f"{self.case_id}: {name or 'a training'}: {text}")


@final
@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The place of one training's checkpoint; a later one replaces an earlier one."""

    _of: Checkpoints
    _run: str
    _identity: str
    name: str

    @property
    def path(self) -> Path:
        """Return the file; the part before the hyphen is the same for all files that a run could continue from."""
        return self._of.folder / f"{self._run[:16]}-{self._identity[:16]}{SUFFIX}"

    def note(self, text: str) -> None:
        """Report something about this training to staff."""
        self._of.note(self.name, text)

    def done(self) -> None:
        """Mark the training complete: its checkpoint is needed only until the result is written."""
        self._of.trained[self.path.name] = True

    def drop(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            self.path.unlink()

    def read(self) -> SavedTraining | None:
        """Return what was saved; None if there is nothing usable, which is reported to staff."""
        try:
            if self.path.stat().st_size > MOST_BYTES + _SEAL:
                raise ValueError("it is too large")
            data = memoryview(self.path.read_bytes())
            if not hmac.compare_digest(data[:_SEAL], self._seal(data[_SEAL:])):
                raise ValueError("it was changed, cut short, or belongs to another training")
            epochs, measured, rng, state = load(data[_SEAL:])
            return SavedTraining(epochs, measured, rng, state)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, WireError) as error:
            self.note(f"its checkpoint was not used: {_error_text(error)}; the training began again.")
            return None

    def write(self, held: SavedTraining) -> None:
        """Save the current state of a training.

        Raises:
            ValueError: it cannot be saved; the message says why.
        """
        try:
            parts = dump([held.epochs, dict(held.measured), held.rng, held.state])
            size = sum(memoryview(part).nbytes for part in parts)
            _check_room(size, MOST_BYTES, "the state of a training may take")
            _check_room(size + self._others_bytes(), MOST_BYTES_TOGETHER, "all trainings of a submission together")
            data = b"".join(parts)
            self._of.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(self.path, self._seal(data) + data, durable=False, mode=0o600)
        except (TypeError, TooLarge, UsageError, OSError) as error:
            raise ValueError(_error_text(error)) from None

    def _seal(self, data: bytes | memoryview) -> bytes:
        seal = hmac.new(self._of.key, self._identity.encode(), hashlib.sha256)
        seal.update(data)
        return seal.digest()

    def _others_bytes(self) -> int:
        if not self._of.folder.is_dir():
            return 0
        return sum(path.stat().st_size for path in self._of.folder.iterdir() if path != self.path)


def _digest(plain: object) -> str:
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def _check_room(size: int, most: int, what: str) -> None:
    if size > most:
        raise ValueError(f"{size / (1 << 20):.1f} MiB; {what} at most {most >> 20} MiB")


def _error_text(error: Exception) -> str:
    """Return the error without the path, which means nothing to the reader."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
