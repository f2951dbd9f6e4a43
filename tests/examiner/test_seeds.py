"""Draws are the same for the class, and different for every test, version, assignment and secret."""

from viva.model.seeds import Seeds


def test_the_same_inputs_give_the_same_draws() -> None:
    a, b = Seeds(b"s", "a", 1), Seeds(b"s", "a", 1)
    assert a.rng("t").integers(1 << 60) == b.rng("t").integers(1 << 60)
    assert a.box("t") == b.box("t") and a.id == b.id


def test_everything_else_differs() -> None:
    base = Seeds(b"s", "a", 1)
    others = [Seeds(b"x", "a", 1), Seeds(b"s", "b", 1), Seeds(b"s", "a", 2)]
    seeds = {s.test("t") for s in [base, *others]} | {base.test("u"), base.box("t")}
    assert len(seeds) == 6


def test_the_box_learns_nothing_of_the_graders_draws() -> None:
    seeds = Seeds(b"s", "a", 1)
    assert seeds.box("t") < 2**32
    assert seeds.box("t") != seeds.test("t") % 2**32


def test_the_name_of_a_secret_does_not_tell_it() -> None:
    assert "secret" not in Seeds(b"secret", "a", 1).id and len(Seeds(b"secret", "a", 1).id) == 12
