"""Measure how far what tests that train reach on a GPU is from what they reach on the CPU.

Thresholds are measured on a CPU. This shows whether they hold on the GPU at hand: each example submission runs the same
tests in a sandbox without a GPU and in one with it.
"""

import json
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from viva.config import Assignment, Course
from viva.formats.atomic_write import write_atomically
from viva.model import Score, Tier
from viva.model.counting import counted
from viva.model.gpu import Gpus, GpuUse
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.verify.expected_verdicts import ExampleSubmission, example_submissions


@dataclass(frozen=True, slots=True)
class CurveGap:
    """One quantity of one submission on both devices."""

    submission: str
    test_id: str
    name: str
    """The name of the curve: "pretrained, accuracy"."""
    cpu: tuple[float, ...]
    """After each epoch; empty if the test runs only on a GPU."""
    gpu: tuple[float, ...]
    margin: float | None
    """How far the CPU's values are from the nearest value that is required; None if none is."""

    @property
    def largest(self) -> float | None:
        """Return the largest difference after the same epoch; None if there is nothing to compare."""
        return max((abs(a - b) for a, b in zip(self.cpu, self.gpu, strict=False)), default=None)

    @property
    def within_margin(self) -> bool:
        """Return whether no verdict can differ because of this gap."""
        return self.margin is None or self.largest is None or self.largest < self.margin


@dataclass(frozen=True, slots=True)
class VerdictGap:
    """A test with another verdict on a GPU than on the CPU."""

    submission: str
    test_id: str
    cpu: str
    gpu: str
    message: str
    """What the student reads on the GPU."""


@dataclass(slots=True)
class Gap:
    """What was measured for one assignment."""

    assignment: str
    gpu: GpuUse | None = None
    """The GPU; None if no test ran on one."""
    submissions: int = 0
    tests: int = 0
    """Tests that ran on both devices, over all submissions."""
    curves: list[CurveGap] = field(default_factory=list)
    verdicts: list[VerdictGap] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield what was measured in a sentence, and one for each difference that matters."""
        name = self.gpu.name if self.gpu is not None else "no GPU"
        largest = max((curve.largest or 0.0 for curve in self.curves), default=0.0)
        same = self.tests - len(self.verdicts)
        yield (
            f"{self.assignment}: on {name}, {same} of {counted(self.tests, 'verdict')} of "
            f"{counted(self.submissions, 'example submission')} are those of the CPU; "
            f"values differ by up to {largest:.3g}."
        )
        for verdict in self.verdicts:
            where = f"{verdict.submission}, {verdict.test_id}"
            yield f"✗ {self.assignment}: {where}: {verdict.gpu} on the GPU, {verdict.cpu} on the CPU: {verdict.message}"
        for curve in self.curves:
            if not curve.within_margin:
                where = f"{curve.submission}, {curve.name}"
                yield (
                    f"✗ {self.assignment}: {where}: differs by up to {curve.largest:.3g} on the GPU, and the threshold "
                    f"is only {curve.margin:.3g} from the CPU's value. Measure it on the GPU."
                )

    @property
    def holds(self) -> bool:
        """Return whether verdicts are the same, and every gap is smaller than the margin of its threshold."""
        return not self.verdicts and all(curve.within_margin for curve in self.curves)

    def to_plain(self) -> dict[str, Any]:
        """Return it as it is written to a file."""
        curves = [{**asdict(curve), "largest": curve.largest} for curve in self.curves]
        return {**asdict(self), "curves": curves, "made_with": {"python": platform.python_version()}}

    def write(self, path: Path) -> None:
        """Write it to a file.

        Raises:
            UsageError: the file cannot be written.
        """
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, (json.dumps(self.to_plain(), indent=1, ensure_ascii=False) + "\n").encode())


def measure(
    course: Course,
    assignment: Assignment,
    tier: Tier,
    secret: bytes,
    gpus: Gpus,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
    *,
    verdicts: Sequence[str] = ("accepted",),
) -> Gap:
    """Run the tests that train, and those for a GPU, on example submissions of an assignment.

    Args:
        course: the course.
        assignment: the assignment.
        tier: the isolation level.
        secret: the secret of the course.
        gpus: the GPUs; there is at least one.
        on_progress: called after each submission, with how many are done and how many there are.
        verdicts: which of the examples, by the verdict that they should get.

    Returns:
        What differs; without submissions if the assignment has no such tests.

    Raises:
        CourseError: as `example_submissions`.
        BoxUnavailable: this host cannot make sandboxes with a GPU.
    """
    gap = Gap(assignment.name)
    examples = [example for example in example_submissions(course, assignment) if example.verdict in verdicts]
    with (
        ExaminerProcess(course, assignment, secret, BoxOptions(tier)) as on_cpu,
        ExaminerProcess(course, assignment, secret, BoxOptions(tier, gpus=replace(gpus, for_training=True))) as on_gpu,
    ):
        on_cpu.open()
        only = tuple(entry.test_id for entry in on_cpu.tests if entry.needs)
        for count, example in enumerate(examples if only else (), 1):
            _compare(gap, example, _graded(on_cpu, example, only), _graded(on_gpu, example, only))
            on_progress(count, len(examples))
    return gap


def _graded(examiner: ExaminerProcess, example: ExampleSubmission, only: Sequence[str]) -> Score:
    options = GradeOptions(only=tuple(only), whole_trainings=True)
    return examiner.grade(GradeRequest(example.submission, options)).score


def _compare(gap: Gap, example: ExampleSubmission, on_cpu: Score, on_gpu: Score) -> None:
    """Add what differs for one submission."""
    gap.submissions += 1
    gap.gpu = on_gpu.gpu or gap.gpu
    theirs = {entry.test_id: entry for entry in on_gpu.entries}
    for entry in on_cpu.entries:
        other = theirs[entry.test_id]
        if "gpu" in entry.needs:
            continue
        gap.tests += 1
        if other.status is not entry.status:
            statuses = str(entry.status), str(other.status)
            gap.verdicts.append(VerdictGap(example.name, entry.test_id, *statuses, other.message))
    curves = {(curve.test_id, curve.name): curve for curve in on_cpu.curves}
    for curve in on_gpu.curves:
        known = curves.get((curve.test_id, curve.name))
        values = known.values if known is not None else ()
        asked = known.thresholds if known is not None else ()
        margins = [abs(values[epoch - 1] - value) for epoch, value in asked if epoch <= len(values)]
        margin = min(margins, default=None)
        gap.curves.append(CurveGap(example.name, curve.test_id, curve.name, values, curve.values, margin))
