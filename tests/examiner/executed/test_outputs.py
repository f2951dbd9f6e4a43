"""What a box says that cells have put out: kept where it is what it says, bounded, never a fault of viva."""

import base64
import io
import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.examiner.executed.executed_outputs import CUT, MOST_OF_CELL, checked, is_picture, size_of

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
NOTE = {"output_type": "stream", "name": "stderr", "text": CUT}
WORDS = [
    "output_type", "stream", "display_data", "execute_result", "error", "name", "text", "stdout", "stderr", "data",
    "metadata", "ename", "evalue", "traceback", "text/plain", "text/html", "image/png", "image/svg+xml",
    "application/json", "viva", "left_out", "width", "execution_count", PIXEL, "\ud800", "\x00", "a" * 3000,
]  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.binary(max_size=5), st.sampled_from(WORDS),
    st.text(st.characters(codec=None), max_size=5), st.builds(pow, st.just(10), st.just(5001)),
    st.builds(np.zeros, st.integers(0, 3)), st.builds(complex), st.builds(set),
)  # fmt: skip
PLAIN: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
        st.dictionaries(st.one_of(st.integers(), st.binary(max_size=2)), inner, max_size=2),
    ),
    max_leaves=25,
)
KINDS = st.sampled_from(["stream", "display_data", "execute_result", "error"])
CLAIMS = st.lists(
    PLAIN | st.builds(lambda kind, more: {**(more if type(more) is dict else {}), "output_type": kind}, KINDS, PLAIN),
    max_size=6,
)


def display(data: Any, metadata: Any = None, kind: str = "display_data") -> dict[str, Any]:
    return {"output_type": kind, "data": data, "metadata": {} if metadata is None else metadata}


def kept(*claimed: Any, most: int = MOST_OF_CELL) -> list[dict[str, Any]]:
    return checked(list(claimed), 3, most)[0]


def test_ordinary_outputs() -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "a\x1b[31m größe 🦆 \x00\n"},
        {"output_type": "stream", "name": "stderr", "text": "b"},
        {"output_type": "error", "ename": "E", "evalue": "words", "traceback": ["one", "two"]},
        {"output_type": "execute_result", "execution_count": 3, "data": {"text/plain": "7"}, "metadata": {}},
        display({"image/png": PIXEL + "\n", "text/plain": "<Figure>"}, {"needs_background": "light"}),
        display({"image/png": PIXEL}, {"image/png": {"width": 10, "unconfined": True, "scale": 0.5}}),
        display({"application/json": {"a": [1, None, True, 0.5, "x", {}]}}, {"application/json": {"expanded": False}}),
        display({"text/html": "<b>", "text/markdown": "*m*", "text/latex": "$x$", "image/svg+xml": "<svg/>"}),
    ]
    assert kept(*outputs) == outputs


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("application/javascript", "owned()"),
        ("application/vnd.jupyter.widget-view+json", {"model_id": "1"}),
        ("application/pdf", "JVBERi0="),
        ("text/html", ["<b>"]),
        ("text/plain", b"bytes"),
        ("image/png", "x\">"),
        ("image/png", base64.b64encode(b"<svg onload='owned()'/>").decode()),
        ("image/jpeg", PIXEL),
        ("image/png", base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\xff" * 8).decode()),
        ("application/json", float("nan")),
        ("application/json", 10**5001),
        ("application/json", {1: 2}),
        ("application/json", [[]] * 30_000),
        ("application/json", np.zeros(3)),
        ("image/svg+xml", np.zeros(3)),
    ],
    ids=lambda value: str(value)[:20] if type(value) in (str, float, bytes) else type(value).__name__,
)  # fmt: skip
def test_false_form_is_left_out(name: str, value: Any) -> None:
    assert kept(display({name: value, "text/latex": "rest"})) == [
        display({"text/latex": "rest"}, {"viva": {"left_out": [name]}})
    ]
    assert kept(display({name: value})) == [
        display({"text/plain": f"(left out: {name})"}, {"viva": {"left_out": [name]}})
    ]


def test_json_too_deep_is_left_out() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    assert kept(display({"application/json": deep}))[0]["metadata"] == {"viva": {"left_out": ["application/json"]}}


def test_claimed_viva_metadata_is_dropped() -> None:
    said = display({"text/plain": "x"}, {"viva": {"left_out": ["all"]}, "text/plain": {"viva": "x"}})
    assert kept(said) == [display({"text/plain": "x"})]


def test_lone_surrogates() -> None:
    one = {"output_type": "stream", "name": "stdout", "text": "a\ud83e\udd86 \ud800"}
    assert kept(one)[0]["text"] == "a🦆 \ufffd"
    assert kept(display({"text/html": "\udcff"}, {"\udcff": "\udcff"})) == [
        display({"text/html": "\ufffd"}, {"\ufffd": "\ufffd"})
    ]


def test_long_text_is_cut() -> None:
    long = {"output_type": "stream", "name": "stdout", "text": "line\n" * 100_000}
    found = kept(long, display({"text/plain": "later"}), most=10_000)
    assert [set(output) for output in found] == [set(long), set(NOTE)] and found[1] == NOTE
    assert len(found[0]["text"]) > 4000 and long["text"].startswith(found[0]["text"])


def test_large_picture_is_left_out() -> None:
    large = base64.b64encode(base64.b64decode(PIXEL) + b"\0" * 5000).decode()
    first = display({"text/plain": "1"})
    (one, two) = kept(first, display({"image/png": large, "text/plain": "<Figure>"}), most=2000)
    assert one == first and two["metadata"] == {"viva": {"left_out": ["image/png"]}}


def test_no_room() -> None:
    assert checked([NOTE] * 3, 1, 10) == ([], 0)
    assert kept(display({"text/plain": "x"}), most=100) == [NOTE]


def test_cell_has_own_limit() -> None:
    many: list[object] = [{"output_type": "stream", "name": "stdout", "text": "x" * 100_000}] * 30
    found, size = checked(many, 1, 100 << 20)
    assert found[-1] == NOTE and MOST_OF_CELL - 100_200 < size <= MOST_OF_CELL


@given(CLAIMS, st.integers(0, 5000))
def test_any_claim_becomes_bounded_json(claimed: list[Any], most: int) -> None:
    found, size = checked(claimed, 1, most)
    assert size == sum(map(size_of, found)) <= most
    written = json.dumps(found, ensure_ascii=False, allow_nan=False).encode("utf-8")
    assert json.loads(written) == found and len(written) <= size + 2
    for output in found:
        assert output["output_type"] in ("stream", "display_data", "execute_result", "error")


@given(CLAIMS)
def test_checking_again_changes_nothing(claimed: list[Any]) -> None:
    once = kept(*claimed)
    for output in once:
        output.get("metadata", {}).pop("viva", None)
    assert kept(*once) == once


PICTURE_KINDS = ["image/png", "image/jpeg", "image/gif"]


def figure(kind: str) -> bytes:
    file = io.BytesIO()
    from matplotlib.figure import Figure  # late: collecting all tests need not wait for it

    Figure(figsize=(1, 1)).savefig(file, format=kind)
    return file.getvalue()


def is_said_picture(data: bytes, kind: str) -> bool:
    return is_picture(kind, base64.b64encode(data).decode())


@pytest.mark.parametrize("kind", PICTURE_KINDS)
def test_picture_of_its_kind(kind: str) -> None:
    pytest.importorskip("PIL", reason="matplotlib writes JPEG and GIF with it")
    data = figure(kind.removeprefix("image/"))
    assert [is_said_picture(data, other) for other in PICTURE_KINDS] == [other == kind for other in PICTURE_KINDS]
    assert is_picture(kind, base64.encodebytes(data).decode()), "with line breaks, as some libraries write it"


@pytest.mark.parametrize(
    ("width", "height", "fits"), [(1, 1, True), (7000, 7000, True), (50_000, 50_000, False), (0, 9, False)]
)
def test_huge_picture(width: int, height: int, fits: bool) -> None:
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x06\0\0\0"
    gif = b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0"
    start = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc0\0\x11\x08"
    jpeg = start + struct.pack(">HH", height, width) + b"\x03"
    assert [is_said_picture(data, kind) for data, kind in zip([png, jpeg, gif], PICTURE_KINDS, strict=True)] == [
        fits
    ] * 3


NO_BASE64 = ["", "=", "a", "aaaaa", "iVBORw0KGgo", 'x"><script>', "iVBORw0KGgo=\n\nx", "ä" * 8]


def test_picture_invalid_base64() -> None:
    with Rows() as row:
        for kind in PICTURE_KINDS:
            for text in NO_BASE64:
                with row(kind, text):
                    assert not is_picture(kind, text)


@given(st.binary(max_size=60), st.sampled_from(PICTURE_KINDS))
def test_picture_any_bytes(data: bytes, kind: str) -> None:
    for start in (b"", b"\xff\xd8\xff", b"\xff\xd8\xff\xe0\0\0", b"GIF89a", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"):
        assert is_said_picture(start + data, kind) in (True, False)
