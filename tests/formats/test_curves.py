"""Curves as SVG and CSV: the same bytes for the same numbers, names as text, thresholds drawn in."""

import csv
import io
import os
import subprocess
import sys
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from viva.formats.curve_chart import class_picture, class_table, picture_of, table_of
from viva.model import Score
from viva.model.score import Curve

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "<script>alert(1)</script> & $x_1$ =1+1 \x1b[31m\u202e\x00 日本"


def curve(name: str = "gap", *values: float, test: str = "test_it.py::test_it_learns", **thresholds: float) -> Curve:
    marks = tuple((int(epoch.removeprefix("e")), value) for epoch, value in thresholds.items())
    return Curve(test, name, values or (0.1, 0.25, 0.4), marks)


def score(*curves: Curve, submission: str = "class/alice") -> Score:
    return Score(submission, "0" * 64, "transfer", 1, (), curves=curves)


def rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode())))


def texts(svg: bytes) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_table_of_curves() -> None:
    given = score(curve("gap", 0.1, 1 / 3, e1=0.2, e3=0.15), curve("pretrained, accuracy", 0.5))
    assert rows(table_of(given)) == [
        ["test", "curve", "epoch", "value", "threshold"],
        ["it learns", "gap", "1", "0.1", "0.2"],
        ["it learns", "gap", "2", "0.333333", ""],
        ["it learns", "gap", "3", "", "0.15"],
        ["it learns", "pretrained, accuracy", "1", "0.5", ""],
    ]


def test_table_of_a_class() -> None:
    given = [score(curve(), submission=name) for name in ("=cmd()", "bob")]
    assert [row[0] for row in rows(class_table(given))] == ["submission", *["'=cmd()"] * 3, *["bob"] * 3]


def test_picture_names_curves_axes_and_threshold() -> None:
    found = texts(picture_of(score(curve("scratch"), curve("gap", e1=0.2), curve("other", test="t.py::test_b"))))
    assert {"scratch", "gap", "other", "it learns", "b", "threshold 0.2", "epoch"} <= set(found)


def test_picture_of_a_class() -> None:
    class_ = [score(curve("gap", 0.1 * k, 0.2 * k, e2=0.3), submission=str(k)) for k in range(1, 4)]
    found = texts(class_picture([*class_, score(curve("rare", 0.5))]))
    assert {"it learns: gap (3 submissions)", "it learns: rare (1 submission)", "median", "threshold 0.3"} <= set(found)


@pytest.mark.parametrize("draw", [picture_of, lambda s: class_picture([s, s])])
def test_names_are_text(draw: Callable[[Score], bytes]) -> None:
    svg = draw(score(curve(NASTY, e1=0.2), submission=NASTY))
    root = ElementTree.fromstring(svg)
    assert not [node.tag for node in root.iter() if node.tag.rpartition("}")[2] in ("script", "foreignObject", "a")]
    assert any("<script>alert(1)</script> & $x_1$" in text for text in texts(svg))
    assert b"\x1b" not in svg and "\u202e".encode() not in svg


def test_same_bytes_in_another_process() -> None:
    here = picture_of(score(curve("gap", 0.1, 0.2, e1=0.2)))
    program = (
        "import sys; from viva.formats.curve_chart import picture_of; from viva.model import Score;"
        "from viva.model.score import Curve;"
        "c = Curve('test_it.py::test_it_learns', 'gap', (0.1, 0.2), ((1, 0.2),));"
        "sys.stdout.buffer.write(picture_of(Score('class/alice', '0' * 64, 'transfer', 1, (), curves=(c,))))"
    )
    there = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, env=os.environ | {"PYTHONHASHSEED": "7"}
    )
    assert there.stdout == here
