"""A number of a hidden test is a leak where it stands alone, not where the digits of another number hold it."""

import pytest

from viva.release.leak_search import Secrets

NUMBER = "33211"


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ("[5, 33211, 7]", True),
        ("ids: 33211", True),
        ("[33211.0, 2.0]", True),
        ("x=33211;", True),
        ("-33211", True),
        ("0.5332118", False),
        ("0.33211", False),
        ("133211", False),
        ("332110", False),
        ("33211.25", False),
        ("nothing", False),
    ],
)
def test_a_number_of_a_hidden_test(text: str, leaks: bool) -> None:
    found = Secrets({NUMBER: "a constant"}).found_in({"key.txt": text.encode()})
    assert found == ([f"key.txt holds a constant: '{NUMBER}'"] if leaks else [])
