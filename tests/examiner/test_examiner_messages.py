"""What examiner and parent say to each other arrives as it was said, exactly."""

import socket
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.model import Case, Entry, File, Isolation, Score, Status, Submission
from viva.model.gpu import GpuUse
from viva.model.plain import score_from_plain, score_to_plain, submission_from_plain, submission_to_plain
from viva.model.score import VISIBILITIES, Curve, Leader
from viva.pipeline.process.messages import receive, send

points = st.fractions(0, 100)
cases = st.builds(
    Case, st.text(max_size=9), st.sampled_from(Status), points, points, st.text(max_size=20), st.text(max_size=20)
)
entries = st.builds(
    Entry,
    test_id=st.text(max_size=9),
    name=st.text(max_size=9),
    number=st.text(max_size=4),
    visibility=st.sampled_from(VISIBILITIES),
    status=st.sampled_from(Status),
    earned=points,
    points=points,
    cases=st.lists(cases, max_size=3).map(tuple),
    tags=st.lists(st.text(max_size=4), max_size=2).map(tuple),
    hide_errors=st.none() | st.text(max_size=9),
    written=st.text(max_size=20),
    rubric=st.text(max_size=4),
    needs=st.lists(st.sampled_from(["training", "gpu"]), unique=True).map(tuple),
)


@given(st.lists(entries, max_size=4), st.text(max_size=20), st.floats(0, 1e6))
def test_a_score_survives_the_way(made: list[Entry], note: str, wall_s: float) -> None:
    isolation = Isolation("T3", {"seccomp": "ok"}, {"network": "refused"}, ("cgroup",))
    score = Score(
        submission="a/b",
        content_hash="00",
        assignment="x",
        version=3,
        entries=tuple(made),
        notes=(note,),
        isolation=isolation,
        signature={"k": "v"},
        leaderboard=(Leader("l", 1.5, "asc"),),
        environment=("transformers 5 is here",),
        wall_s=wall_s,
        gpu=GpuUse("NVIDIA L4", "550.90.07", 23034, None) if wall_s > 9 else None,
        curves=(Curve("t", "gap", (0.25, wall_s), ((1, 0.2),)), Curve("t", "none yet", ())),
    )
    left, right = socket.socketpair()
    with left, right:
        send(left, score_to_plain(score))
        arrived = receive(right)
    assert arrived is not None
    assert score_from_plain(arrived) == score


def test_a_submission_survives_the_way() -> None:
    submission = Submission("ü", (File("a.py", b"\x00\xff"), File("b/c.txt", b"")), "00", "a problem", ("a note",))
    assert submission_from_plain(submission_to_plain(submission)) == submission


def test_a_closed_connection_is_none_and_half_a_message_too() -> None:
    left, right = socket.socketpair()
    with right:
        left.sendall(b"\x00\x00\x00\x09only")
        left.close()
        assert receive(right) is None


def test_points_stay_exact() -> None:
    third = Fraction(1, 3)
    entry = Entry(
        "t", "n", "1", "visible", Status.PARTIAL, third, 3 * third, (Case("", Status.PARTIAL, third, 3 * third, ""),)
    )
    plain = score_to_plain(Score("s", "h", "a", 1, (entry,)))
    assert score_from_plain(plain).earned == third


@pytest.mark.parametrize("status", Status)
def test_open_points_are_neither_won_nor_lost(status: Status) -> None:
    entry = Entry("t", "n", "1", "visible", status, Fraction(2), Fraction(5), ())
    score = Score("s", "h", "a", 1, (entry,))
    assert score.earned + score.still_open <= score.points
    assert (score.still_open == 5) is status.is_open
