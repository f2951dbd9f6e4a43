"""Checks whether what was packed can be graded: it is complete, it loads, and it is more than the starter."""

import re
from collections.abc import Sequence
from typing import Final

from viva.config import Assignment
from viva.examiner.answer_notes import list_names
from viva.model import File, Score
from viva.plugins.selfcheck.packing.choosing import holds_secret
from viva.submissions.starter_code import starter_of

_UNDEFINED: Final = re.compile(r"`([^`\n]{1,100})` is not defined in your submission")


def before_running(files: Sequence[File], assignment: Assignment) -> list[str]:
    """Return what the bytes alone show, a sentence each."""
    found: list[str] = []
    expected = assignment.submission
    if not any(expected.asks_for(file.path) for file in files):
        wanted = " or ".join(part for part in (expected.module, expected.notebook) if part)
        found.append(f"The assignment asks for {wanted}, and there is no such file.")
    starter = starter_of(assignment.starter)
    for file in files:
        if expected.asks_for(file.path) and starter.compare(file.path, file.data).is_unchanged:
            found.append(f"{file.path} is still the starter.")
        if holds_secret(file.data):
            found.append(f"{file.path} holds what looks like a secret key: take it out, and make a new key.")
    unpacked, most = sum(len(file.data) for file in files), assignment.limits.disk_mib << 20
    if unpacked > most:
        found.append(
            f"Together the files hold {unpacked / (1 << 20):.0f} MiB, and {assignment.limits.disk_mib} MiB is the most "
            "that can be graded: submit less data."
        )
    return found


def after_running(score: Score) -> list[str]:
    """Return what the public tests found missing, and what failed while the submission was loaded."""
    visible = [entry for entry in score.entries if entry.visibility == "visible"]
    undefined = list(dict.fromkeys(name for entry in visible for name in _UNDEFINED.findall(entry.message)))
    return [
        *score.notes,
        *([f"Not defined: {list_names([f'`{name}`' for name in undefined])}."] if undefined else []),
    ]
