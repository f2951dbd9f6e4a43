"""A digest of what the course itself contributes to a score."""

import hashlib
import json

from viva.config.assignment import Assignment


def content_of(assignment: Assignment) -> str:
    """Return one digest of all that the course itself contributes to a score: tests, helpers, labels, data."""
    graders = [path for path in sorted(assignment.graders.rglob("*")) if "__pycache__" not in path.parts]
    named = [(path.relative_to(assignment.graders).as_posix(), path) for path in graders]
    named += zip(assignment.data_names, assignment.data, strict=True)
    read = [[name, hashlib.sha256(path.read_bytes()).hexdigest()] for name, path in named if path.is_file()]
    return hashlib.sha256(json.dumps(read).encode()).hexdigest()
