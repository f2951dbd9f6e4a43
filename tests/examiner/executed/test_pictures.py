"""Pictures that cells put out: of the kind that they are said to be, and of a size that a browser can show."""

import base64
import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.examiner.executed.pictures import is_picture

KINDS = ["image/png", "image/jpeg", "image/gif"]


def figure(kind: str) -> bytes:
    file = io.BytesIO()
    from matplotlib.figure import Figure  # late: collecting all tests need not wait for it

    Figure(figsize=(1, 1)).savefig(file, format=kind)
    return file.getvalue()


def said(data: bytes, kind: str) -> bool:
    return is_picture(kind, base64.b64encode(data).decode())


@pytest.mark.parametrize("kind", KINDS)
def test_what_libraries_write_is_a_picture_of_its_kind_alone(kind: str) -> None:
    pytest.importorskip("PIL", reason="matplotlib writes JPEG and GIF with it")
    data = figure(kind.removeprefix("image/"))
    assert [said(data, other) for other in KINDS] == [other == kind for other in KINDS]
    assert is_picture(kind, base64.encodebytes(data).decode()), "with line breaks, as some libraries write it"


@pytest.mark.parametrize(
    ("width", "height", "fits"), [(1, 1, True), (7000, 7000, True), (50_000, 50_000, False), (0, 9, False)]
)
def test_a_picture_larger_than_any_memory_is_none(width: int, height: int, fits: bool) -> None:
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x06\0\0\0"
    gif = b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0"
    start = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc0\0\x11\x08"
    jpeg = start + struct.pack(">HH", height, width) + b"\x03"
    assert [said(data, kind) for data, kind in zip([png, jpeg, gif], KINDS, strict=True)] == [fits] * 3


NO_BASE64 = ["", "=", "a", "aaaaa", "iVBORw0KGgo", 'x"><script>', "iVBORw0KGgo=\n\nx", "ä" * 8]


def test_what_is_no_base64_is_none() -> None:
    with Rows() as row:
        for kind in KINDS:
            for text in NO_BASE64:
                with row(kind, text):
                    assert not is_picture(kind, text)


@given(st.binary(max_size=60), st.sampled_from(KINDS))
def test_any_bytes_have_an_answer(data: bytes, kind: str) -> None:
    for start in (b"", b"\xff\xd8\xff", b"\xff\xd8\xff\xe0\0\0", b"GIF89a", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"):
        assert said(start + data, kind) in (True, False)
