"""A score that was written and read again has the same points and statuses."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from viva.formats.results_json import results_of
from viva.formats.score_back import score_of
from viva.model import Case, Entry, Isolation, Score, Status

CASES = st.lists(st.tuples(st.sampled_from(Status), st.fractions(0, 1, max_denominator=9)), min_size=1, max_size=3)


def score(tests: list[tuple[Status, list[tuple[Status, Fraction]]]]) -> Score:
    entries = []
    for i, (status, cases) in enumerate(tests):
        made = tuple(Case(str(n), one, share * 3, Fraction(3), "said") for n, (one, share) in enumerate(cases))
        won, most = sum((c.earned for c in made), Fraction(0)), Fraction(3 * len(made))
        entries.append(Entry(f"t{i}", "n", "1", "visible", status, won, most, made, ("tag",), rubric="2.1"))
    return Score("s", "0" * 64, "a", 2, tuple(entries), isolation=Isolation("T1"), signature={"seed": "x"})


@given(st.lists(st.tuples(st.sampled_from(Status), CASES), max_size=4))
def test_points_and_statuses_come_back(tests: list[tuple[Status, list[tuple[Status, Fraction]]]]) -> None:
    old = score(tests)
    new = score_of(results_of(old))
    assert (new.earned, new.points, new.still_open) == (old.earned, old.points, old.still_open)
    assert [(e.test_id, e.status, e.points, e.rubric, e.tags) for e in new.entries] == [
        (e.test_id, e.status, e.points, e.rubric, e.tags) for e in old.entries
    ]
    assert (new.assignment, new.version, new.content_hash, new.signature) == ("a", 2, "0" * 64, {"seed": "x"})
    assert new.isolation.tier == "T1"
    for one, two in zip(new.entries, old.entries, strict=True):
        if len(two.cases) > 1:
            assert [(c.label, c.earned) for c in one.cases] == [(c.label, c.earned) for c in two.cases]
        else:
            assert one.message == two.message == "0: said"
