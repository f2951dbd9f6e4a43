"""Convert values to plain data and back, for the wire, the cluster and the records."""

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from functools import lru_cache
from sys import intern
from typing import Any

from viva.model.gpu import Gpu, Gpus, GpuUse
from viva.model.isolation import Isolation
from viva.model.score import Case, Curve, Entry, Leader, Score
from viva.model.status import Status
from viva.model.submission import File, Submission

_Pairs = tuple[tuple[str, str], ...]


def submission_to_plain(submission: Submission) -> dict[str, object]:
    """Return a submission as plain data."""
    return {
        "name": submission.name,
        "files": [[f.path, f.data] for f in submission.files],
        "content_hash": submission.content_hash,
        "problem": submission.problem,
        "notes": list(submission.notes),
    }


def submission_from_plain(plain: Mapping[str, Any]) -> Submission:
    """Rebuild a submission from what `submission_to_plain` returned."""
    return Submission(
        plain["name"],
        tuple(File(path, data) for path, data in plain["files"]),
        plain["content_hash"],
        plain["problem"],
        tuple(plain["notes"]),
    )


def gpus_to_plain(gpus: Gpus) -> dict[str, object]:
    """Return the GPUs that a run offers to tests as plain data."""
    return asdict(gpus)


def gpus_from_plain(plain: Mapping[str, Any]) -> Gpus:
    """Rebuild GPUs from what `gpus_to_plain` returned."""
    files = ("shared", "capabilities")
    devices = (Gpu(**{**device, **{name: tuple(device[name]) for name in files}}) for device in plain["devices"])
    return Gpus(tuple(devices), tuple(plain["refused"]), plain["checked"], plain["why_none"], plain["for_training"])


def entry_to_plain(entry: Entry) -> dict[str, object]:
    """Return an entry as plain data; points become exact text."""
    return {
        "test_id": entry.test_id,
        "name": entry.name,
        "number": entry.number,
        "visibility": entry.visibility,
        "status": str(entry.status),
        "earned": str(entry.earned),
        "points": str(entry.points),
        "tags": list(entry.tags),
        "hide_errors": entry.hide_errors,
        "written": entry.written,
        "rubric": entry.rubric,
        "needs": list(entry.needs),
        "cases": [
            [c.label, str(c.status), str(c.earned), str(c.points), c.message, c.staff_message, c.wall_s]
            for c in entry.cases
        ],
    }


def entry_from_plain(plain: Mapping[str, Any]) -> Entry:
    """Rebuild an entry from what `entry_to_plain` returned.

    Its texts are shared with entries that were rebuilt before: those of a class differ in few of them.
    """
    cases = tuple(
        Case(intern(label), Status(status), _points(earned), _points(points), intern(message), intern(staff), wall_s)
        for label, status, earned, points, message, staff, wall_s in plain["cases"]
    )
    exact = {
        "status": Status(plain["status"]),
        "earned": _points(plain["earned"]),
        "points": _points(plain["points"]),
    }
    texts = {name: intern(plain[name]) for name in ("test_id", "name", "number", "visibility", "rubric")}
    lists = {"cases": cases, "tags": tuple(plain["tags"]), "needs": tuple(plain["needs"])}
    return Entry(**{**plain, **exact, **texts, **lists})


@lru_cache
def _points(text: str) -> Fraction:
    return Fraction(text)


@lru_cache
def _isolation(tier: str, layers: _Pairs, probes: _Pairs, missing: tuple[str, ...]) -> Isolation:
    return Isolation(tier, dict(layers), dict(probes), missing)


@lru_cache
def _signature(pairs: _Pairs) -> Mapping[str, str]:
    return dict(pairs)


def score_to_plain(score: Score) -> dict[str, object]:
    """Return a score as plain data."""
    return {
        "submission": score.submission,
        "content_hash": score.content_hash,
        "assignment": score.assignment,
        "version": score.version,
        "entries": [entry_to_plain(e) for e in score.entries],
        "notes": list(score.notes),
        "isolation": {
            "tier": score.isolation.tier,
            "layers": dict(score.isolation.layers),
            "probes": dict(score.isolation.probes),
            "missing": list(score.isolation.missing),
        },
        "signature": dict(score.signature),
        "choice": score.choice,
        "environment": list(score.environment),
        "leaderboard": [[x.name, x.value, x.order] for x in score.leaderboard],
        "wall_s": score.wall_s,
        "gpu": None if score.gpu is None else asdict(score.gpu),
        "curves": [[c.test_id, c.name, list(c.values), [list(t) for t in c.thresholds]] for c in score.curves],
    }


def score_from_plain(plain: Mapping[str, Any]) -> Score:
    """Rebuild a score from what `score_to_plain` returned."""
    isolation = plain["isolation"]
    rebuilt = {
        "entries": tuple(entry_from_plain(e) for e in plain["entries"]),
        "notes": tuple(plain["notes"]),
        "choice": plain["choice"],
        "environment": tuple(plain["environment"]),
        "isolation": _isolation(
            isolation["tier"],
            tuple(isolation["layers"].items()),
            tuple(isolation["probes"].items()),
            tuple(isolation["missing"]),
        ),
        "assignment": intern(plain["assignment"]),
        "signature": _signature(tuple(plain["signature"].items())),
        "leaderboard": tuple(Leader(*x) for x in plain["leaderboard"]),
        "gpu": None if plain["gpu"] is None else GpuUse(**plain["gpu"]),
        "curves": tuple(
            Curve(test_id, name, tuple(values), tuple((epoch, value) for epoch, value in thresholds))
            for test_id, name, values, thresholds in plain["curves"]
        ),
    }
    return Score(**{**plain, **rebuilt})
