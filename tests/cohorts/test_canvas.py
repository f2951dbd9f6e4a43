"""Files as Canvas names them: who, late, anonymous, submitted again, and text that was entered."""

import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from tests.support import class_exports as exports
from tests.support.class_exports import CODE, Read, names
from viva.model.errors import UsageError


def test_canvas_numbers(read: Read) -> None:
    found = read(exports.CANVAS, roster=exports.CANVAS_GRADEBOOK)
    assert found.source == "canvas"
    told = {d.name: ([s.id for s in d.students], d.late, d.number, names(d.path)) for d in found.attempts}
    assert told == {
        "lovelaceada_1001": (["S1"], False, 1, ["notes.txt", "solution.py"]),
        "turingalan_1002": (["S2"], True, 2, ["solution.py"]),
        "müllerzoë_1003": (["S3"], False, 1, ["solution.py"]),
        "müllerzoë_1003-attempt-2": (["S3"], False, 2, ["solution.py"]),
        "לוינועה_1004": (["S4"], False, 1, ["hw.zip"]),
        "王伟_1005": (["S5"], False, 1, ["solution.py"]),
        "1006": (["S6"], False, 1, ["solution.py"]),
        "anon_Ab3xY": (["anon_Ab3xY"], True, 1, ["solution.py"]),
        "smithjo_1007": (["S7"], False, 1, ["text.html"]),
        "smithjo_1008": (["S8"], False, 1, ["solution.py"]),
    }
    assert [s.id for s in found.missing] == ["S9"]
    assert {(u.name, u.reason) for u in found.unmatched} == {
        ("README", "has no name that Canvas gives"),
        ("anon_Ab3xY", "does not say who submitted it"),
    }


def test_later_attempt(read: Read) -> None:
    found = {d.name: d for d in read(exports.CANVAS).attempts}
    assert (found["müllerzoë_1003"].path / "solution.py").read_bytes() == CODE
    assert (found["müllerzoë_1003-attempt-2"].path / "solution.py").read_bytes() == CODE + b"# better\n"


def test_export_is_left_as_it_was(read: Read, tmp_path: Path) -> None:
    read(exports.CANVAS)
    assert names(tmp_path / "class") == sorted(exports.CANVAS)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # everybody was given hw-1.py: no attempt, and the name stays
        (["a_1_11_hw-1.py", "b_2_12_hw-1.py"], {"a_1": (1, ["hw-1.py"]), "b_2": (1, ["hw-1.py"])}),
        # … and one of them handed it in again
        (["a_1_11_hw-1.py", "b_2_12_hw-1.py", "b_2_13_hw-1-1.py"],
         {"a_1": (1, ["hw-1.py"]), "b_2": (1, ["hw-1.py"]), "b_2-attempt-2": (2, ["hw-1.py"])}),
        # only the last attempt is there, as Canvas exports it; others show the name without the number
        (["a_1_11_x.py", "b_2_12_x-2.py", "b_2_13_new.py"], {"a_1": (1, ["x.py"]), "b_2": (3, ["new.py", "x.py"])}),
        # a file that was added later belongs to the attempt that it came with
        (["a_1_11_x.py", "a_1_12_y.py", "a_1_21_x-1.py", "a_1_22_z.py"],
         {"a_1": (1, ["x.py", "y.py"]), "a_1-attempt-2": (2, ["x.py", "z.py"])}),
        (["a_1_11_hw.tar.gz", "a_1_12_hw-1.tar.gz"], {"a_1": (1, ["hw.tar.gz"]), "a_1-attempt-2": (2, ["hw.tar.gz"])}),
        # a link and a text are entered, not attached
        (["a_1_link.html", "b_LATE_2_text.html", "c_3_9_x.py"],
         {"a_1": (1, ["link.html"]), "b_2": (1, ["text.html"]), "c_3": (1, ["x.py"])}),
        # a name may hold underscores and hyphens, or numbers
        (["de_la_cruzana_1_11_my_2_3_x.py", "smith-jonesal_2_12_x.py"],
         {"de_la_cruzana_1": (1, ["my_2_3_x.py"]), "smith-jonesal_2": (1, ["x.py"])}),
    ],
)  # fmt: skip
def test_attempts_and_names(read: Read, files: list[str], expected: dict[str, tuple[int, list[str]]]) -> None:
    found = read(dict.fromkeys(files, CODE))
    assert {d.name: (d.number, names(d.path)) for d in found.attempts} == expected
    assert not found.unmatched


def test_list_without_canvas_numbers(read: Read) -> None:
    found = read(exports.CANVAS, roster="id;name\n7;Ada Lovelace\n8;Jo Smith\n9;Zoë Müller\n1002;Bo Else\n")
    of = {d.name: [s.id for s in d.students] for d in found.attempts}
    assert of["lovelaceada_1001"] == ["7"] and of["müllerzoë_1003"] == ["9"]
    assert "lovelaceada was taken for Ada Lovelace (7) by the name alone." in found.notes
    reasons = {u.name: u.reason for u in found.unmatched}
    assert reasons["smithjo_1007"] == reasons["smithjo_1008"] == "has a name that someone else in the export has too"
    # 1002 is a number of the list's own here: it is not Alan Turing, and he does not become Bo Else
    assert of["turingalan_1002"] == ["canvas:1002"]
    assert {s.id for s in found.missing} == {"8", "1002"}


IN_TWENTY_SCRIPTS = [
    "İpek Öztürk", "Zoë Müller", "Nguyễn Thị Ánh", "Søren Ångström", "D'Arcy O'Neill-Smith",
    "Иван Щербаков", "Ελένη Παπαδοπούλου", "अनन्या शर्मा", "অনন্যা সেন", "ਗੁਰਪ੍ਰੀਤ ਸਿੰਘ",
    "અનન્યા પટેલ", "அனன்யா குமார்", "అనన్య రెడ్డి", "ಅನನ್ಯ ಗೌಡ", "അനന്യ മേനോൻ",
    "සමන් පෙරේරා", "สมชาย ใจดี", "ສົມຊາຍ ແກ້ວ", "မောင်မောင်", "សុខ ចាន់",
    "مُحَمَّد الأَحمَد", "علی رضایی", "נוֹעָה לֵוִי", "አበበ በቀለ", "ანა ბერიძე",
    "Արամ Խաչատրյան", "王伟", "さくら がくと", "김서준", "བསྟན་འཛིན",
]  # fmt: skip


def as_ruby_writes(name: str) -> str:
    """What Canvas makes of a name: `downcase`, then without everything that is not `[[:word:]]`."""
    kept = (c for c in name.lower() if unicodedata.category(c)[0] in "LM" or unicodedata.category(c) in ("Nd", "Pc"))
    return "".join(kept)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("known_by", ["number", "name"])
def test_names_in_twenty_scripts(read: Read, form: Literal["NFC", "NFD"], known_by: str) -> None:
    """Marks of Turkish, Hindi, Thai and Arabic are parts of words for Ruby; Python's `\\w` does not know them."""
    files: dict[str, bytes] = {}
    rows = []
    for number, name in enumerate(IN_TWENTY_SCRIPTS, 1001):
        first, _, last = name.rpartition(" ")
        sortable = f"{last}, {first}" if first else last
        file = f"{as_ruby_writes(sortable)}_LATE_{number}_{number + 5000}_solution.py"
        files[unicodedata.normalize(form, file)] = CODE
        rows.append(f'S{number},"{name}",{number if known_by == "number" else ""}')
    found = read(files, roster="id,name,canvas\n" + "\n".join(rows) + "\n")
    assert found.source == "canvas" and not found.missing and not found.unmatched
    told = {one.students[0].id: (one.students[0].name, one.late, names(one.path)) for one in found.attempts}
    assert told == {f"S{n}": (name, True, ["solution.py"]) for n, name in enumerate(IN_TWENTY_SCRIPTS, 1001)}


def test_folders_unzipped_from_an_export_are_a_plain_class(read: Read) -> None:
    found = read({f"ada{n}_100{n}_500{n}_hw/solution.py": CODE for n in range(3)})
    assert len(found.attempts) == 3


def test_export_with_odd_names(read: Read) -> None:
    files = {f"ada{n}_100{n}_500{n}_x.py": CODE for n in range(3)} | {f"copy of {n}.py": CODE for n in range(5)}
    with pytest.raises(UsageError, match=r"resembles an export of Canvas: 3 of 8 names.*such as copy of 0\.py"):
        read(files)
