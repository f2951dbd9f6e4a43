"""Take back the proposed tests of a new assignment that cannot tell right from wrong."""

from typing import Final

from viva.authoring.solved.new_files import Made, write_tests
from viva.authoring.solved.solved_assignment import make
from viva.config import Course, load_course
from viva.examiner.load_notes import WHILE_LOADING
from viva.model import Status, Tier
from viva.verify.last_verification import LastVerification
from viva.verify.verify_course import Finding

FAILED: Final = "your solution does not always pass one: results may depend on the order of a set, the time or chance"
SLOW: Final = "your solution takes too long for one"
PASSED: Final = "the starter would pass it"


def take_back_failing_tests(course: Course, made: Made, tier: Tier, secret: bytes) -> list[str]:
    """Grade the solution and the starter; remove proposed tests that the one fails or the other passes.

    Tests that the author wrote stay.

    Returns:
        What does not hold then, a sentence each.
    """
    findings = _findings(course, made, tier, secret)
    tests = {proposal.test: proposal for proposal in made.proposals.values() if proposal.body and not proposal.is_own}
    wrong = {name: why for finding in findings for name, why in _wrong(finding).items() if name in tests}
    if wrong:
        for name, why in wrong.items():
            tests[name].body, tests[name].why_not = [], why
        write_tests(made)
        again = load_course(course.root)
        make(again, again.assignment(made.folder.name))
        findings = _findings(again, made, tier, secret)
    return list(dict.fromkeys(complaint for finding in findings for complaint in finding.complaints))


def _findings(course: Course, made: Made, tier: Tier, secret: bytes) -> list[Finding]:
    """Verify the assignment, and keep what was found for the author's `viva verify` or `viva release`."""
    last = LastVerification(course, course.assignment(made.folder.name), tier, secret)
    findings = last.findings()
    last.remember(findings)
    return findings


def _wrong(finding: Finding) -> dict[str, str]:
    """Return the names of the tests that the solution loses or the starter wins, and why they are taken back.

    Nothing if the solution did not load as a whole, such as a cell that trains for longer than the limit: its author is
    told, and the tests are not to blame.
    """
    if finding.score is None:
        return {}
    if finding.what != "starter" and any(note.startswith(WHILE_LOADING) for note in finding.score.notes):
        return {}
    found: dict[str, str] = {}
    for entry in finding.score.entries:
        name = entry.test_id.rpartition("::")[2].removesuffix("_again")
        if finding.what == "starter" and entry.earned > 0:
            found[name] = PASSED
        elif finding.what != "starter" and entry.status.is_lost:
            found[name] = SLOW if entry.status is Status.TIMEOUT else FAILED
    return found
