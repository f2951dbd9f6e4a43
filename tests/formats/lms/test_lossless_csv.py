"""Cells are replaced and every other byte stays: compared with Python's csv module over many files."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.lossless_csv import MAX_BYTES, parse_lossless_csv

# Python 3.11 writes a carriage return alone without quotes, and then reads it as a line break.
CELLS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff\r"), max_size=6
) | st.sampled_from(['"', ",", ";", "\r\n", "\n", ' "x" ', "=1+1", "", " "])
TABLES = st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=5))
DIALECTS = st.tuples(st.sampled_from(",;\t"), st.booleans(), st.sampled_from(["\n", "\r\n"]))
Dialect = tuple[str, bool, str]
"""Delimiter, whether every cell is quoted, and the end of a line."""


def written(table: list[list[str]], dialect: Dialect = (",", False, "\n")) -> bytes:
    delimiter, quote_all, end = dialect
    out = io.StringIO(newline="")
    if quote_all:
        csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=end).writerows(table)
    else:
        csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(table)
    return out.getvalue().encode()


def read_back(data: bytes, delimiter: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter))


@given(TABLES, DIALECTS, st.booleans())
def test_unchanged_bytes_stay(table: list[list[str]], dialect: Dialect, bom: bool) -> None:
    table = [["A", "B"], *table]
    data = (b"\xef\xbb\xbf" if bom else b"") + written(table, dialect)
    csv_file = parse_lossless_csv(data, "x.csv")
    assert csv_file.values == table
    assert csv_file.to_bytes() == data


@given(TABLES, DIALECTS, CELLS, st.data())
def test_one_cell_changes(table: list[list[str]], dialect: Dialect, text: str, data: st.DataObject) -> None:
    table = [["A", "B"], *table]
    csv_file = parse_lossless_csv(written(table, dialect), "x.csv")
    row = data.draw(st.integers(0, len(table) - 1))
    column = data.draw(st.integers(0, len(table[row]) - 1))
    csv_file.put(row, column, text)
    table[row][column] = text
    if [text] not in table:  # a row that is one empty cell is not a row to csv
        assert read_back(csv_file.to_bytes(), dialect[0]) == table


def test_quoting_stays() -> None:
    csv_file = parse_lossless_csv(b'"A",B\r\n"1",2\r\n"3",4', "x.csv")
    csv_file.put(1, 0, "9")
    csv_file.put(2, 1, "a,b")
    assert csv_file.to_bytes() == b'"A",B\r\n"9",2\r\n"3","a,b"'


def test_utf_16() -> None:
    data = "\ufeffA\tB\nä\t1\n".encode("utf-16-le")
    csv_file = parse_lossless_csv(data, "x.csv")
    assert csv_file.values == [["A", "B"], ["ä", "1"]]
    assert csv_file.to_bytes() == data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "x.csv is empty"),
        (b"A,B\n\xe4,1\n", "x.csv is not UTF-8 text (byte 4)"),
        (b'A,B\n"open,1\n', "programs read differently"),
        (b"A" * (MAX_BYTES + 1), "larger than 32 MiB"),
    ],
)
def test_no_table(data: bytes, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_lossless_csv(data, "x.csv")
    assert said in str(raised.value)


def test_short_row() -> None:
    csv_file = parse_lossless_csv(b"A,B\n1\n", "x.csv")
    assert csv_file.value(1, 1) == ""
    with pytest.raises(UsageError, match="row 2: there are only 1 cells"):
        csv_file.put(1, 1, "5")


def test_many_quotes_take_linear_time() -> None:
    with pytest.raises(UsageError):
        parse_lossless_csv(b'A,B\n"' + b'""' * 500_000 + b",x", "x.csv")
