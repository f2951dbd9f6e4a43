"""`python -m bench.gpu`, which `make gpu` runs: everything about this machine's GPU; writes files into bench/gpu/.

1. `viva doctor --gpu` with the limits of each assignment: doctor.json. If it fails, nothing else runs.
2. The tests for a GPU on the accepted and the wrong example submissions: <assignment>.json has the device, seconds,
   points, losses and accuracies after each epoch, tokens per second, peak memory.
3. The tests that train, on the shipped data, on the CPU and on the GPU: <assignment>.gap.json has both.

Without a GPU it ends with one sentence and status 1.
"""

import argparse
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from bench.gpu_gap import measure
from bench.thresholds import ROOT
from viva.cli.shared.options import choose_gpus
from viva.config import Assignment, Course, load_course
from viva.formats.atomic_write import write_atomically
from viva.formats.results_json import Results, TestResult, results_of
from viva.model import Limits, Tier
from viva.model.errors import EXPECTED_ERRORS
from viva.model.gpu import Gpus
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.host.gpu.check_all import check_all
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.submissions import open_submission

TARGET: Final = ROOT / "bench" / "gpu"
VERDICTS: Final = ("accepted", "wrong")
SECRET: Final = b"the measurements need no secret"


def measured(course: Course, assignments: Sequence[str], tier: Tier, gpus: Gpus) -> dict[str, Any]:
    """Return what accepted and wrong example submissions did in the tests for a GPU, as it is written to the file."""
    found = {name: dict(_fixtures(course, course.assignment(name), tier, gpus)) for name in assignments}
    devices = [one.pop("gpu") for fixtures in found.values() for one in fixtures.values() if "gpu" in one]
    return {
        "gpu": devices[0] if devices else None,
        "made_with": {"python": platform.python_version(), **_versions("torch", "numpy", "transformers")},
        "assignments": found,
    }


def _fixtures(course: Course, assignment: Assignment, tier: Tier, gpus: Gpus) -> Iterator[tuple[str, dict[str, Any]]]:
    folder = course.root / "fixtures" / assignment.name / "submissions"
    with ExaminerProcess(course, assignment, SECRET, BoxOptions(tier, gpus=gpus)) as examiner:
        examiner.open()
        only = [entry.test_id for entry in examiner.tests if "gpu" in entry.needs]
        paths = [path for verdict in VERDICTS if only for path in sorted((folder / verdict).glob("*"))]
        for path in paths:
            name = f"{path.parent.name}/{path.name}"
            score = examiner.grade(GradeRequest(open_submission(path, path.name), GradeOptions(only=tuple(only)))).score
            found = summary(results_of(score, staff=True))
            print(f"{assignment.name}, {name}: {found['earned']} of {found['points']} points", flush=True)
            yield name, found


def checked(assignments: Sequence[Assignment], tier: Tier, gpus: Gpus) -> tuple[bool, list[dict[str, Any]]]:
    """Check each GPU as the assignments use it; return whether all is well, and what is written to the file."""
    sound, rows = True, []
    for memory_mib, python in dict.fromkeys(
        (a.limits.memory_mib, str(a.python or sys.executable)) for a in assignments
    ):
        for one in check_all(tier, gpus, Limits(memory_mib=memory_mib), python=python):
            lines = list(one.lines())
            print(f"{one.gpu.name} ({one.gpu.bus}), {memory_mib:,} MiB:", *lines, sep="\n  ", flush=True)
            rows.append({"gpu": asdict(one.gpu), "memory_mib": memory_mib, "sound": one.is_sound, "steps": lines})
            sound = sound and one.is_sound
    return sound, rows


def summary(results: Results) -> dict[str, Any]:
    """Return what is kept of one results.json."""
    exact = results.extra_data
    found: dict[str, Any] = {
        "earned": exact.earned,
        "points": exact.points,
        "seconds": results.execution_time,
        "tests": {test.extra_data.test_id: _test(test) for test in results.tests},
        "curves": {curve.name: curve.values for curve in exact.curves or ()},
    }
    if exact.gpu is not None:
        found["peak_mib"] = exact.gpu.peak_mib
        found["gpu"] = {"name": exact.gpu.name, "driver": exact.gpu.driver, "memory_mib": exact.gpu.memory_mib}
    return found


def _test(test: TestResult) -> dict[str, Any]:
    """Return what is kept of one test; one that did not pass says why."""
    found = {"status": test.extra_data.status, "seconds": round(test.extra_data.wall_s, 3)}
    return found if test.extra_data.status == "passed" else {**found, "said": test.output}


def complaints(found: dict[str, Any]) -> list[str]:
    """Return a sentence for each test in which a right answer lost points or was not asked.

    A test that rests on a guess goes to a person, which is no complaint: what it measured here can replace the guess.
    """
    return [
        f"{assignment}, {name}: {test_id} {test['status']}: {test['said']}"
        for assignment, fixtures in found["assignments"].items()
        for name, one in fixtures.items()
        for test_id, test in one["tests"].items()
        if name.startswith("accepted/") and test["status"] not in ("passed", "needs_review")
    ]


def _versions(*names: str) -> dict[str, str]:
    return {name: metadata.version(name) for name in names}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write; return the exit status."""
    course = load_course(ROOT)
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.add_argument("-o", type=Path, default=TARGET, metavar="DIR", dest="target", help="default: bench/gpu")
    parser.add_argument("--only", choices=course.assignments, help="one assignment")
    options = parser.parse_args(arguments)
    names = [options.only] if options.only else list(course.assignments)
    try:
        gpus = choose_gpus("require")
        tier = next(report.tier for report in detect_tiers() if report.available)
        return everything(course, names, tier, gpus, options.target)
    except EXPECTED_ERRORS as error:
        print(f"bench.gpu: {error}", file=sys.stderr)
        return 1


def everything(course: Course, names: Sequence[str], tier: Tier, gpus: Gpus, folder: Path) -> int:
    """Check, measure and compare, and write each part as soon as it is complete; return the exit status."""
    assignments = [course.assignment(name) for name in names]
    folder.mkdir(parents=True, exist_ok=True)
    sound, rows = checked(assignments, tier, gpus)
    _write(folder / "doctor.json", rows)
    if not sound:
        print("bench.gpu: a GPU failed its check, so nothing was measured", file=sys.stderr)
        return 1
    gpus = replace(gpus, checked=True)
    wrong: list[str] = []
    for assignment in assignments:
        found = measured(course, [assignment.name], tier, gpus)
        if found["assignments"][assignment.name]:
            _write(folder / f"{assignment.name}.json", found)
        wrong += complaints(found)
        gap = measure(course, assignment, tier, SECRET, gpus, verdicts=VERDICTS)
        if gap.submissions:
            gap.write(folder / f"{assignment.name}.gap.json")
            print(*gap.lines(), sep="\n", flush=True)
            wrong += [] if gap.holds else [f"{assignment.name}: not the same on the GPU as on the CPU"]
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


def _write(path: Path, found: object) -> None:
    write_atomically(path, (json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode())


if __name__ == "__main__":
    sys.exit(main())
