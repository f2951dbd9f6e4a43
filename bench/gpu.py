"""`python -m bench.gpu`: the tests for a GPU on the accepted fixtures, on this machine's GPU; writes bench/gpu.json.

It grades as `viva grade --gpu require` does, and keeps what results.json says: the device, seconds, points, losses and
accuracies after each epoch, tokens per second, peak memory. Without a GPU it ends with one sentence and status 1.
"""

import argparse
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from bench.thresholds import ROOT
from viva.cli.shared.options import choose_gpus
from viva.config import Assignment, Course, load_course
from viva.formats.atomic_write import write_atomically
from viva.formats.results_json import Results, TestResult, results_of
from viva.model import Tier
from viva.model.errors import VivaError
from viva.model.gpu import Gpus
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.submissions import open_submission

TARGET: Final = ROOT / "bench" / "gpu.json"
SECRET: Final = b"the measurements need no secret"


def measured(course: Course, assignments: Sequence[str], tier: Tier, gpus: Gpus) -> dict[str, Any]:
    """Return what every accepted example submission did in its tests for a GPU, as it is written to the file."""
    found = {name: dict(_fixtures(course, course.assignment(name), tier, gpus)) for name in assignments}
    devices = [one.pop("gpu") for fixtures in found.values() for one in fixtures.values() if "gpu" in one]
    return {
        "gpu": devices[0] if devices else None,
        "made_with": {"python": platform.python_version(), **_versions("torch", "numpy", "transformers")},
        "assignments": found,
    }


def _fixtures(course: Course, assignment: Assignment, tier: Tier, gpus: Gpus) -> Iterator[tuple[str, dict[str, Any]]]:
    folder = course.root / "fixtures" / assignment.name / "submissions" / "accepted"
    with ExaminerProcess(course, assignment, SECRET, BoxOptions(tier, gpus=gpus)) as examiner:
        examiner.open()
        only = [entry.test_id for entry in examiner.tests if "gpu" in entry.needs]
        for path in sorted(folder.iterdir()) if only else []:
            score = examiner.grade(GradeRequest(open_submission(path, path.name), GradeOptions(only=tuple(only)))).score
            found = summary(results_of(score, staff=True))
            print(f"{assignment.name}, {path.name}: {found['earned']} of {found['points']} points", flush=True)
            yield path.name, found


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
        found["gpu"] = exact.gpu.model_dump(exclude={"peak_mib"})
    return found


def _test(test: TestResult) -> dict[str, Any]:
    """Return what is kept of one test; one that did not pass says why."""
    found = {"status": test.extra_data.status, "seconds": round(test.extra_data.wall_s, 3)}
    return found if test.extra_data.status == "passed" else {**found, "said": test.output}


def complaints(found: dict[str, Any]) -> list[str]:
    """Return a sentence for each test that did not pass: a right answer has lost points, or was not asked."""
    return [
        f"{assignment}, {name}: {test_id} {test['status']}: {test['said']}"
        for assignment, fixtures in found["assignments"].items()
        for name, one in fixtures.items()
        for test_id, test in one["tests"].items()
        if test["status"] != "passed"
    ]


def _versions(*names: str) -> dict[str, str]:
    return {name: metadata.version(name) for name in names}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write; return the exit status."""
    course = load_course(ROOT)
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    parser.add_argument("-o", type=Path, default=TARGET, metavar="FILE", dest="target", help="default: bench/gpu.json")
    parser.add_argument("--only", choices=course.assignments, help="one assignment")
    options = parser.parse_args(arguments)
    try:
        gpus = choose_gpus("require")
        tier = next(report.tier for report in detect_tiers() if report.available)
        found = measured(course, [options.only] if options.only else course.assignments, tier, gpus)
    except VivaError as error:
        print(f"bench.gpu: {error}", file=sys.stderr)
        return 1
    write_atomically(options.target, (json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode())
    for sentence in complaints(found):
        print(sentence, file=sys.stderr)
    return 1 if complaints(found) else 0


if __name__ == "__main__":
    sys.exit(main())
