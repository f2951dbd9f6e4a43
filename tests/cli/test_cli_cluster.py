"""`viva grade --on PLACE`: what is refused before anything is sent."""

from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import RIGHT, hand_in


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--on", "tcp://10.0.0.3:8786"], "submissions and scores would travel in the clear"),
        (["--on", "somewhere"], "that is not a cluster; give tls://HOST:PORT"),
        (["--on", "tcp://127.0.0.1:9", "--tier", "T0"], "--tier T0 is not for clusters"),
        (["--on", "tls://127.0.0.1:9"], "tls:// needs certificates: say --tls-ca"),
        (["--on", "tls://127.0.0.1:9", "--tls-ca", "no.pem"], "--tls-cert and --tls-key must be said, too"),
        (["--worker-course", "/course"], "belong to --on PLACE"),
        (["--tls-ca", "ca.pem"], "belong to --on PLACE"),
    ],
)
def test_what_cannot_be_is_one_sentence(viva: Viva, options: list[str], said: str) -> None:
    given = options if "--tier" in options else [*options, "--tier", "best"]
    ran = viva("grade", hand_in_one(), "-o", "out", *given)
    assert (ran.status, ran.out) == (1, "") and said in ran.sentence()


def hand_in_one() -> str:
    return str(hand_in(Path("mine"), RIGHT))


def test_a_course_s_floor_holds_on_a_cluster_too(viva: Viva, own_course: Path) -> None:
    with (own_course / "grader.yaml").open("a") as file:
        file.write("min_tier: T3\n")
    ran = viva("grade", hand_in_one(), "--on", "tcp://127.0.0.1:9", "--tier", "T1")
    assert ran.status == 1 and "asks for isolation T3 or better (min_tier); T1 was asked for" in ran.sentence()
