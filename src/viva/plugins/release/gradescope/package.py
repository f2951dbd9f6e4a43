"""`viva release A --for gradescope`: the zip that an instructor uploads, tried before it is written."""

import hashlib
import hmac
import io
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from viva.config import Assignment, Course
from viva.formats.atomic_write import write_atomically
from viva.model import Status, Tier
from viva.model.errors import CourseError, UsageError
from viva.plugins.release.gradescope import packed_course as packing
from viva.plugins.release.gradescope import requirements
from viva.plugins.release.gradescope.live_results import FAILED
from viva.plugins.release.gradescope.measure import Measurement, measure
from viva.plugins.release.gradescope.platform_paths import SETTINGS, PackedSettings
from viva.plugins.release.wheel import wheel
from viva.plugins.verify.expected_verdicts import ExampleSubmission, example_submissions

_TEMPLATES: Final = Path(__file__).parent / "templates"
_PROGRAMS: Final = ("setup.sh", "run_autograder")
_UV: Final = "0.13.9"
_DEFAULT_MIB: Final = (400, 200)
"""MiB of examiner and box where nothing could be measured; the next one with torch."""
_DEFAULT_MIB_WITH_TORCH: Final = (900, 300)
LAST_S: Final = 15
"""How long before the platform's time limit even a harness that hangs is ended."""


@dataclass(slots=True)
class Autograder:
    """One autograder zip that is being made."""

    course: Course
    assignment: Assignment
    secret: bytes
    """The course's own; only what is derived from it is packed."""
    wheels: Path | None = None
    """A folder of wheels to pack, for images without an index."""
    say: Callable[[str], None] = lambda _: None
    warnings: list[str] = field(default_factory=list)

    def to(self, target: Path) -> Measurement | None:
        """Make the zip and write it completely or not at all.

        Returns:
            What grading a right submission used; None where this host has no isolation in which to try it.

        Raises:
            CourseError: something cannot be packed, or a right submission does not get its points from what is packed.
            UsageError: a wheel is missing, or the file cannot be written.
        """
        if target.is_dir():
            raise UsageError(f"{target} is a folder; say the name of the zip in it.")
        files, packed = self.files()
        self.say("Grading a right submission with it …")
        measured = self.try_out(files)
        if measured is None:
            self.warnings.append("not tried: this host offers no isolation T1 or better; `viva doctor` says why.")
        else:
            packed = replace(packed, rest_mib=measured.rest_mib, box_mib=measured.box_mib)
            files[SETTINGS] = packed.to_bytes()
        write_atomically(target, zipped(files), mode=0o600)
        return measured

    def files(self) -> tuple[dict[str, bytes], PackedSettings]:
        """Return what the zip holds, by path, and its settings."""
        assignment = self.assignment
        own = packing.packed_course(self.course, assignment)
        self.warnings += packing.other_assignments_mentioned(self.course, assignment, own.values())
        sources = [path for name, path in own.items() if name.endswith(".py") and name.startswith(_GRADING)]
        pins = requirements.pinned(assignment, sources)
        with_torch = "torch" in pins
        rest_mib, box_mib = _DEFAULT_MIB_WITH_TORCH if with_torch else _DEFAULT_MIB
        timeout_s = assignment.release.gradescope.timeout
        packed = PackedSettings(assignment.name, timeout_s, rest_mib, box_mib)
        name, data = wheel()
        files = {f"course/{path}": source.read_bytes() for path, source in own.items()}
        files |= {
            "course/grader.yaml": packing.settings(self.course, assignment),
            "course/secret": derived_secret(self.secret, assignment.name),
            "requirements.txt": requirements.text_of(pins).encode(),
            SETTINGS: packed.to_bytes(),
            name: data,
        }
        values = {
            "PYTHON": f"{sys.version_info.major}.{sys.version_info.minor}",
            "UV": _UV,
            "LAST_S": str(round(timeout_s - LAST_S)),
        }
        files |= {path.name: _filled(path, values) for path in sorted(_TEMPLATES.iterdir())}
        if self.wheels is not None:
            vendored = requirements.vendored(self.wheels, pins)
            files |= {f"wheels/{path.name}": path.read_bytes() for path in vendored}
        return files, packed

    def try_out(self, files: Mapping[str, bytes]) -> Measurement | None:
        """Grade a right submission with the zip's own harness; return None where this host has no isolation for it.

        Raises:
            CourseError: the submission does not get its points.
        """
        from viva.sandbox.host.levels.detect_levels import detect_tiers

        if all(report.tier is Tier.T0 for report in detect_tiers() if report.available):
            return None
        example = right_submission(self.course, self.assignment)
        folder = Path(tempfile.mkdtemp(prefix="viva-gradescope-"))
        try:
            used = {name: data for name, data in files.items() if not name.startswith("wheels/")}
            measured = measure(used, example.submission, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if wrong := _complaint(measured):
            text = f"{self.assignment.name}: {example.name}, graded as on Gradescope: {wrong}"
            raise CourseError("\n".join([text, *self.warnings]))
        self._warn_of_time(measured)
        return measured

    def _warn_of_time(self, measured: Measurement) -> None:
        settings, limits = self.assignment.release.gradescope, self.assignment.limits
        if measured.wall_s > settings.timeout / 2:
            self.warnings.append(
                f"a right submission took {measured.wall_s:.0f} s here, and Gradescope ends all after "
                f"{settings.timeout:.0f} s (release.gradescope.timeout): set both higher, or `training: false`."
            )
        elif limits.submission_s > settings.timeout - 60:
            self.warnings.append(
                f"a submission may take {limits.submission_s:.0f} s (limits.submission_s), and Gradescope ends all "
                f"after {settings.timeout:.0f} s (release.gradescope.timeout): what is not asked by then stays open."
            )


_GRADING: Final = ("graders/", "reference/")


def derived_secret(secret: bytes, assignment: str) -> bytes:
    """Return the zip's secret, which draws this assignment's hidden inputs without revealing the course's secret."""
    return hmac.new(secret, f"viva gradescope {assignment}".encode(), hashlib.sha256).hexdigest().encode() + b"\n"


def right_submission(course: Course, assignment: Assignment) -> ExampleSubmission:
    """Return the first accepted example submission, or else the key."""
    accepted = [example for example in example_submissions(course, assignment) if example.verdict == "accepted"]
    if not accepted:
        raise CourseError(f"{assignment.name}: there is no right submission to try; put one into accepted/<name>/.")
    return next((example for example in accepted if example.name != "key"), accepted[0])


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return the zip: programs are executable, and only their owner may read the other files that are for graders."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            mode = 0o755 if name in _PROGRAMS else 0o600 if name.startswith("course/") else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3  # Unix, or the modes mean nothing
            entry.compress_type = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return packed.getvalue()


def _complaint(measured: Measurement) -> str:
    """Return what is wrong with the results of a right submission; empty if nothing is."""
    data: dict[str, Any] = measured.results["extra_data"]
    if FAILED in data:
        return f"nothing was graded. {data[FAILED].strip().splitlines()[-1]}"
    statuses = {test["extra_data"]["test_id"]: test["extra_data"]["status"] for test in measured.results["tests"]}
    wrong = [f"{test} is {status}" for test, status in statuses.items() if _is_wrong(Status(status))]
    if wrong:
        return f"{', '.join(wrong[:5])}{' …' if len(wrong) > 5 else ''}; a file that the graders read may be missing."
    return "" if data["complete"] else "it was not graded to the end."


def _is_wrong(status: Status) -> bool:
    return status.is_lost or status.is_fault


def _filled(path: Path, values: Mapping[str, str]) -> bytes:
    text = path.read_text("utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text.encode()
