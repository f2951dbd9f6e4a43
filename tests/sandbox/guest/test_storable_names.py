"""Names of a submission's files by the rules of each system: what is let through stays inside, and is what it says."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from viva.sandbox.guest.loading.storable_names import refusal_reason

WORK = PureWindowsPath(r"C:\Users\ada\work")
PARTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["..", ".", "", "con", "aux.py", "COM1", "a:b", "C:", "C:x", "\\", "x\\..\\y", "?", "a.", "b "]),
)


@given(st.lists(PARTS, min_size=1, max_size=5).map("/".join))
@example("C:/Windows/x")
@example("//server/share/x")
@example("a/..\\..\\x")
@example("\\\\?\\C:\\x")
@example("ok/nul .txt")
def test_names_on_windows_stay_inside(path: str) -> None:
    if refusal_reason(path, windows=True):
        return
    joined = WORK / path
    inside = joined.relative_to(WORK)  # raises where it does not lie below
    assert [part for part in path.split("/") if part != "."] == list(inside.parts)
    assert ".." not in joined.parts and joined.drive == "C:"
    assert not PureWindowsPath(path).is_reserved()
    assert not any(":" in part for part in inside.parts)  # no stream of another file


@given(st.lists(PARTS, min_size=1, max_size=5).map("/".join))
def test_names_elsewhere(path: str) -> None:
    refused = bool(refusal_reason(path, windows=False))
    assert refused == (path.startswith("/") or ".." in PurePosixPath(path).parts)


@given(st.lists(st.from_regex(r"[a-zA-Z_äß0-9-]{4,9}(\.py)?", fullmatch=True), min_size=1, max_size=4).map("/".join))
def test_ordinary_names(path: str) -> None:
    assert refusal_reason(path, windows=True) == refusal_reason(path, windows=False) == ""


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("a:b.py", "leads out"),
        ("data/a:b.py", "Windows has no names with"),
        ("data/what?.txt", "Windows has no names with"),
        ("aux.py", "aux is the name of a device"),
        ("data/CON", "CON is the name of a device"),
        ("lpt\u00b9.txt", "device"),
        ("notes.", "end with a dot"),
        ("a /b.py", "end with a dot or a space"),
        ("a\\b.py", "leads out"),
        ("../x", "leads out"),
        ("a\x07.py", "control characters"),
    ],
)
def test_refusal_says_why(path: str, words: str) -> None:
    assert words in refusal_reason(path, windows=True)
