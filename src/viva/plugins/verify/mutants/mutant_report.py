"""The results of all mutants of an assignment: a table for people, and a file that is stored with the course."""

import hashlib
import importlib.metadata
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from viva.config import Assignment, Course
from viva.formats.atomic_write import write_atomically
from viva.plugins.verify.mutants import general_mistakes
from viva.plugins.verify.mutants.equivalent import EQUIVALENT, LEFT_OPEN
from viva.plugins.verify.mutants.make_mutants import OPERATORS
from viva.plugins.verify.mutants.mutant_trial import Verdict

KINDS: Final = ("killed", "survived", EQUIVALENT, LEFT_OPEN)


def summary(course: Course, assignment: Assignment, verdicts: Sequence[Verdict]) -> dict[str, object]:
    """Return counts, kinds of mistakes and survivors as plain data, the same in every run and on every machine."""
    counts = Counter(v.kind for v in verdicts)
    survivors = [v for v in verdicts if v.kind == "survived"]
    return {
        "assignment": assignment.name,
        "version": assignment.version,
        "made_with": made_with(course, assignment),
        "mutants": len(verdicts),
        **{kind: counts[kind] for kind in KINDS},
        "killed_by_time_limit": sum(v.kind == "killed" and not v.in_time for v in verdicts),
        "killed_of_those_that_should_be": round(share(verdicts), 4),
        "submissions": _by(verdicts, "base"),
        "operators": _by(verdicts, "operator"),
        "survivors": [
            {"where": v.mutant.where, "function": v.mutant.unit.name, "operator": v.mutant.operator}
            | ({"grader": v.by} if v.by else {})
            | {"diff": v.mutant.diff.splitlines()}
            for v in sorted(survivors, key=_place)
        ],
    }


def share(verdicts: Sequence[Verdict]) -> float:
    """Return the share that lost points, of the mutants that should: neither equivalent nor left open."""
    counts = Counter(v.kind for v in verdicts)
    decided = counts["killed"] + counts["survived"]
    return counts["killed"] / decided if decided else 1.0


def made_with(course: Course, assignment: Assignment) -> dict[str, str]:
    """Return hashes of the tests and of the right answers, which show that a stored report is out of date."""
    submissions = course.root / "fixtures" / assignment.name / "submissions"
    right = [submissions / kind for kind in ("accepted", "bases")]
    return {
        "graders": _digest([assignment.graders]),
        "right_answers": _digest([assignment.graders / "key.py", course.root / "reference", *right]),
        "library": f"cosmic-ray {importlib.metadata.version('cosmic-ray')}" if general_mistakes.installed() else "none",
    }


def table(assignment: Assignment, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield lines for people: how many of each kind of mistake lost points, and every survivor with its diff."""
    sentences = {operator.name: operator.sentence for operator in OPERATORS}
    rows = _by(verdicts, "operator")
    width = max((len(name) for name in rows), default=0)
    yield f"{'':{width}}  killed  survived  equivalent  left open"
    for name, row in rows.items():
        numbers = f"{row['killed']:6}  {row['survived']:8}  {row[EQUIVALENT]:10}  {row[LEFT_OPEN]:9}"
        yield f"{name:{width}}  {numbers}  {sentences.get(name, '')}".rstrip()
    for verdict in sorted((v for v in verdicts if v.kind == "survived"), key=_place):
        yield from survivor(assignment, verdict)


def survivor(assignment: Assignment, verdict: Verdict) -> Iterator[str]:
    """Yield lines about one mutant that lost no points."""
    mutant = verdict.mutant
    yield f"✗ {assignment.name}: your grader accepts this: {mutant.where}, in {mutant.unit.name} ({mutant.operator})"
    if verdict.by:
        yield f"    {verdict.by}"
    yield from (f"    {line}" for line in mutant.diff.splitlines()[2:])


def write(path: Path, found: dict[str, object]) -> None:
    """Store a report.

    Raises:
        UsageError: the file cannot be written.
    """
    write_atomically(path, (json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode())


def _by(verdicts: Sequence[Verdict], what: str) -> dict[str, dict[str, int]]:
    counts = Counter((getattr(v.mutant, what), v.kind) for v in verdicts)
    return {name: {kind: counts[name, kind] for kind in KINDS} for name in sorted({name for name, _ in counts})}


def _place(verdict: Verdict) -> tuple[str, int, int, str]:
    mutant = verdict.mutant
    return mutant.file, mutant.unit.piece.cell or 0, mutant.change.start, mutant.change.text


def _digest(paths: Sequence[Path]) -> str:
    """Return SHA-256 over the names and bytes of all files below some paths."""
    sha = hashlib.sha256()
    for top in paths:
        files = [top] if top.is_file() else sorted(p for p in top.rglob("*") if p.is_file())
        for path in files:
            if "__pycache__" not in path.parts:
                sha.update(f"{path.relative_to(top.parent).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return sha.hexdigest()
