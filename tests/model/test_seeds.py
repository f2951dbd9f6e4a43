"""Random numbers are the same for the class, and differ for every test, version, assignment and secret."""

from viva.model.seeds import Seeds

SEEDS = Seeds(b"s", "a", 1)


def test_same_inputs_give_same_seeds() -> None:
    again = Seeds(b"s", "a", 1)
    assert SEEDS.rng("t").integers(1 << 60) == again.rng("t").integers(1 << 60)
    assert SEEDS.box("t") == again.box("t") < 2**32 and SEEDS.id == again.id


def test_other_inputs_give_other_seeds() -> None:
    """Also of the test's own and of its box: a program must not learn what the grader samples."""
    others = [Seeds(b"x", "a", 1), Seeds(b"s", "b", 1), Seeds(b"s", "a", 2)]
    seeds = {s.test("t") for s in [SEEDS, *others]} | {SEEDS.test("u"), SEEDS.box("t")}
    assert len(seeds) == 6 and SEEDS.box("t") != SEEDS.test("t") % 2**32


def test_id_hides_secret() -> None:
    assert "secret" not in Seeds(b"secret", "a", 1).id and len(Seeds(b"secret", "a", 1).id) == 12
