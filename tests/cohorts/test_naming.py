"""Names of submissions: safe and apart in every file system, whatever students call their files."""

import re
import unicodedata
from pathlib import Path, PureWindowsPath

from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.submissions.safe_names import MAX_BYTES, Names, make_safe_component, normalize_component

RESERVED = {"CON", "PRN", "AUX", "NUL"} | {f"{port}{n}" for port in ("COM", "LPT") for n in range(10)}


COMPONENTS = [
    ("ada", "ada"),
    ("Ada Lovelace_301", "Ada Lovelace_301"),
    ("נועה לוי", "נועה לוי"),
    ("Zoe\u0308", "Zoë"),
    ("../../etc/passwd", "_.._etc_passwd"),
    ("..", "unnamed"),
    (".", "unnamed"),
    ("", "unnamed"),
    (" . ", "unnamed"),
    ("C:\\x", "C__x"),
    ("con", "_con"),
    ("Aux.py", "_Aux.py"),
    ("LPT1.tar.gz", "_LPT1.tar.gz"),
    ("contact", "contact"),
    ("-rf", "rf"),
    (".hidden", "hidden"),
    ("a\nb\x1b[2J", "a_b_[2J"),
    ("a\u202egpj.py", "a_gpj.py"),
    ("x. . ", "x"),
    ("\ud800", "_"),
]


def test_components_are_safe_file_names() -> None:
    with Rows() as row:
        for text, safe in COMPONENTS:
            with row(text):
                assert make_safe_component(text) == safe


@given(st.text() | st.sampled_from(sorted(RESERVED)).flatmap(lambda r: st.text(max_size=3).map(lambda t: r + t)))
def test_any_text_becomes_one_component(text: str) -> None:
    name = make_safe_component(text)
    assert name and name not in (".", "..")
    assert Path(name).parts == (name,)
    assert PureWindowsPath(name).parts == (name,)
    assert name.split(".")[0].upper() not in RESERVED
    assert len(name.encode()) <= MAX_BYTES + 1
    assert not re.search(r'[\x00-\x1f<>:"/\\|?*]', name) and not name.endswith((".", " "))
    assert unicodedata.is_normalized("NFC", name)


@given(
    st.lists(
        st.sampled_from(
            ["a", "A", "a~2", "ß", "SS", "ﬁ", "fi", "é", "e\u0301", "É", "con", "_con", "x" * 300, "x" * 200]
        )
    )
)
def test_names_differ_everywhere(labels: list[str]) -> None:
    names = Names()
    given_ = [names.give(label) for label in labels]
    assert len({unicodedata.normalize("NFKD", n).casefold() for n in given_}) == len(labels)


@given(st.text(min_size=1, max_size=400))
def test_long_name_keeps_its_ending(stem: str) -> None:
    names = Names()
    assert all(names.give_file(f"{stem}x.ipynb").endswith(".ipynb") for _ in range(3))
    assert make_safe_component(f"{stem * 50}x.tar.gz").endswith(".tar.gz")


def test_same_anywhere() -> None:
    for one, other in (("Straße", "STRASSE"), ("é", "e\u0301"), ("A", "a"), ("ﬁ", "FI")):
        assert normalize_component(one) == normalize_component(other)
    assert normalize_component("e") != normalize_component("é")
