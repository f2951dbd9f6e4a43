"""The repository is itself a course: its graders give every submission that it ships what it should get."""

import pytest

from tests.support.verified_examples import COURSE, verified_examples


@pytest.mark.nightly
@pytest.mark.parametrize("name", COURSE.assignments)
def test_every_known_verdict_holds(name: str) -> None:
    found = verified_examples(name)
    assert {"key", "starter"} < found.keys() and len([example for example in found if "/" in example]) > 20
