"""How many scores a second one grader can store: claim, score with call log, end of the claim."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from viva.model import Attempt
from viva.model.attempt import Student
from viva.model.grade_request import Graded
from viva.model.plain import from_plain, to_plain
from viva.model.reason import Reason
from viva.plugins.records.claims import Claims
from viva.plugins.records.conditions import Conditions
from viva.plugins.records.database import write_session
from viva.plugins.records.store import NewScore, Records, add_call_log, add_score

COUNT = 500
_MADE = '{"tests": "", "seed": "", "only": null, "visible_only": false, "training": true, "gpu": false, '
_MADE += '"isolation": ["T3", []], "whole": true, "engine": ""}'


def recorded(url: str, course: Path) -> list[tuple[float, dict[str, Any]]]:
    """Return the time and the result of each submission in records, as plain data."""
    with Records.open(url, course) as records:
        return [
            (kept.scored.score.wall_s,
             to_plain(Graded(kept.scored.score, interceptor_output=records.call_log(kept.call_log_id))))
            for kept in records.each_current("small")
        ]  # fmt: skip


def measure_rates(folder: Path, rows: list[tuple[float, dict[str, Any]]], postgresql: str | None) -> None:
    """Print how many scores a second can be stored, in each database, and how large a row is."""
    graded = from_plain(Graded, rows[0][1])
    for name, url in (("SQLite", f"sqlite:///{folder}/rate.db"), ("PostgreSQL", postgresql)):
        if url is None:
            print(f"{name} is not installed.")
            continue
        with Records.open(url, folder) as records, Claims(records.engine) as claims:
            wall_s, cpu_s = _timed(lambda: _store(records, claims, graded))  # called at once
        print(f"{name}: {COUNT / wall_s:.0f} scores/s by one grader, {1e3 * cpu_s / COUNT:.1f} ms of its CPU for each.",
              flush=True)  # fmt: skip


def _store(records: Records, claims: Claims, graded: Graded) -> None:
    made = Conditions.from_json(_MADE)
    names = [f"r{number:05}" for number in range(COUNT)]
    attempts = [(Attempt(name, Path(name), (Student(name),)), name) for name in names]
    for name, number in zip(names, records.add_attempts("rate", attempts), strict=True):
        identity = made.identity(number)
        claims.take(identity, number)
        records.latest([number])
        score = replace(graded.score, submission=name)
        with write_session(records.engine) as session:
            call_log_id = add_call_log(session, graded.interceptor_output)
            add_score(session, NewScore(number, score, made, Reason("bench"), call_log_id))
            claims.end(session, identity)


def _timed(work: Callable[[], None]) -> tuple[float, float]:
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall_s, time.process_time() - cpu_s
