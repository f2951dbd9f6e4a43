"""Where the answers and the secret of a course come from: live, or in a released folder from a recording."""

from pathlib import Path

from viva.config import Assignment
from viva.examiner.recorded_key.record import RECORD, load_record
from viva.examiner.recorded_key.replayed_key import RecordedSeeds, ReplayedKey
from viva.model.seeds import Seeds
from viva.proxies.key import Key, load_key


def answers_of(assignment: Assignment, root: Path, secret: bytes) -> tuple[Key | ReplayedKey, Seeds | RecordedSeeds]:
    """Return the key and the seeds of an assignment: live, or in a released folder from its recording.

    Raises:
        CourseError: there is neither, or it cannot be read.
    """
    recorded = assignment.graders / RECORD
    if recorded.is_file():
        record = load_record(recorded)
        return ReplayedKey(record), RecordedSeeds(record)
    module = load_key(assignment.graders / "key.py", root)
    return Key(module), Seeds(secret, assignment.name, assignment.version)
