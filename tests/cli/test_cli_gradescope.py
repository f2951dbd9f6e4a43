"""`viva release A --for gradescope` and `viva doctor --gradescope`, as an instructor uses them."""

import zipfile
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from viva.model import Tier
from viva.sandbox.host.levels.detect_levels import detect_tiers

pytestmark = pytest.mark.long

BEST = next(report.tier for report in detect_tiers() if report.available)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Say either --to DIR, for students, or --for gradescope"),
        (("--to", "x", "--for", "gradescope"), "Say either --to DIR"),
        (("--to", "x", "-o", "y.zip"), "-o and --wheels belong to --for gradescope"),
        (("--for", "moodle"), "gradescope"),
        (("--for", "gradescope", "--tier", "T0"), "takes the best isolation of its container"),
        (("--for", "gradescope", "--wheels", "."), "has no wheel of"),
        (("--for", "gradescope", "-o", "."), "is a folder"),
    ],
)
def test_what_does_not_go_together(viva: Viva, arguments: tuple[str, ...], said: str) -> None:
    ran = viva("release", "words", *arguments)
    assert ran.status == 1 and said in ran.err.strip().splitlines()[0] and "Traceback" not in ran.err
    assert not Path("x").exists() and not list(Path().glob("*.zip"))


def test_the_zip_is_written_and_told(viva: Viva) -> None:
    ran = viva("release", "words", "--for", "gradescope")
    assert ran.status == 0, ran.err
    with zipfile.ZipFile("words-gradescope.zip") as archive:
        assert {"setup.sh", "run_autograder", "course/graders/words/key.py"} <= set(archive.namelist())
    assert "Whoever has it has the key" in ran.out
    if BEST is Tier.T0:
        assert "not tried" in ran.err
    else:
        assert "The smallest container in which that fits" in ran.out


@pytest.mark.skipif(BEST is Tier.T0, reason="this host has no isolation to try it in")
def test_doctor_shows_every_container(viva: Viva) -> None:
    ran = viva("doctor", "--gradescope", "-a", "words")
    said = " ".join(ran.out.split())
    assert ran.status == 0
    for name in ("0.5 CPU, 0.75 GB", "1 CPU, 1.5 GB", "2 CPU, 3 GB", "4 CPU, 6 GB", "A right submission took"):
        assert name in said
    assert not list(Path().glob("*.zip"))


def test_doctor_has_nothing_to_grade_otherwise(viva: Viva) -> None:
    ran = viva("doctor", "-a", "words")
    assert (ran.status, ran.out) == (1, "") and "--gradescope" in ran.sentence()
