"""Take back the proposed tests of a new assignment that cannot tell right from wrong."""

from typing import Final

from viva.compare.counterexamples.examples import KEY_RAISED
from viva.config import Course, load_course
from viva.examiner.load_notes import WHILE_LOADING
from viva.model import Status, Tier
from viva.plugins.authoring.solved.new_files import Made, write_tests
from viva.plugins.authoring.solved.proposal import Proposal, with_option
from viva.plugins.authoring.solved.solved_assignment import make
from viva.plugins.verify.last_verification import LastVerification
from viva.plugins.verify.verify_course import Finding

FAILED: Final = "your solution does not always pass one: results may depend on the order of a set, the time or chance"
SLOW: Final = "your solution takes too long for one"
PASSED: Final = "the starter would pass it"
_SKIPS: Final = 'errors="skip"'
_LEFT_OUT: Final = "Such arguments are not asked."


def take_back_failing_tests(course: Course, made: Made, tier: Tier, secret: bytes) -> list[str]:
    """Grade the solution and the starter; remove proposed tests that the one fails or the other passes.

    Returns:
        What does not hold then, a sentence each.
    """
    findings = _findings(course, made, tier, secret)
    for _ in range(2):  # a test that leaves arguments out may fail in another way
        tests = {each.test: each for each in made.proposals.values() if each.body}
        wrong = {name: why for finding in findings for name, why in _wrong(finding).items() if name in tests}
        if not wrong:
            break
        for name, why in wrong.items():
            _take_back(tests[name], why)
        write_tests(made)
        course = load_course(course.root)
        make(course, course.assignment(made.folder.name))
        findings = _findings(course, made, tier, secret)
    return list(dict.fromkeys(complaint for finding in findings for complaint in finding.complaints))


def _take_back(proposal: Proposal, why: str) -> None:
    """Let a test leave out arguments on which the solution fails, once; take it back for any other reason."""
    if why.startswith(KEY_RAISED) and not any(_SKIPS in line for line in proposal.body):
        proposal.body = with_option(proposal.body, _SKIPS)
        proposal.warnings.append(f"`{proposal.name}` fails: {why.removeprefix(KEY_RAISED).strip()} {_LEFT_OUT}")
    else:
        proposal.body, proposal.why_not = [], why.rstrip(".")


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
        if entry.status.is_fault and entry.staff_message.startswith(KEY_RAISED):
            found[name] = entry.staff_message
        elif finding.what == "starter" and entry.earned > 0:
            found[name] = PASSED
        elif finding.what != "starter" and entry.status.is_lost:
            found[name] = SLOW if entry.status is Status.TIMEOUT else FAILED
    return found
