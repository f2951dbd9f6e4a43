"""Inputs of the right form and hostile content: archives, formulas, sheets and messages made member by member."""

import json
import stat
import tarfile
import zipfile
from typing import Any

import msgpack
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.target import run
from tests.fuzz.targets import load
from tests.fuzz.targets.archive import NAMES, tarred, zipped

FORMED = settings(suppress_health_check=list(HealthCheck))
ARCHIVE, FORMULA, ANSWERS, CLAIMS, RESULTS = map(load, ("archive", "formula", "answers", "claims", "results"))

parts = st.sampled_from(
    ["a", "b", "..", ".", "", "hw.zip", "hw.tar", "__MACOSX", "ü\u202e", "C:", "con", "a\\b", "n" * 300]
)
names = st.lists(parts, min_size=1, max_size=5).map("/".join) | st.text(max_size=12)
contents = st.binary(max_size=30) | st.just(b"\0" * 5000)
members = st.lists(st.tuples(names, contents), max_size=5)
modes = st.sampled_from(
    [
        *(0, stat.S_IFREG | 0o644, stat.S_IFREG | 0o6755, stat.S_IFLNK | 0o777, stat.S_IFDIR | 0o755),
        *(stat.S_IFIFO, stat.S_IFCHR),
    ]
)
kinds = st.sampled_from(
    [tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
forms = st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
headers = st.dictionaries(
    st.sampled_from(["path", "linkpath", "size", "mtime", "uid", "GNU.sparse.map", "GNU.sparse.size", "GNU.sparse.name",
                     "GNU.sparse.major", "GNU.sparse.minor", "GNU.sparse.realsize", "hdrcharset"]),
    st.sampled_from(["", "0", "1", "-1", "999999999999", "1e9", "nan", "0,1,5,9", "../x", "/etc/x", "BINARY", "x" * 9]),
    max_size=4,
)  # fmt: skip


@FORMED
@given(members, modes, st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
def test_zips_of_any_members(files: list[tuple[str, bytes]], mode: int, method: int) -> None:
    run(ARCHIVE, b"\0" + zipped(files, method, mode))


@FORMED
@given(members, forms, kinds, headers, st.sampled_from([0o644, 0o6755]), names)
def test_tars_of_any_members(
    files: list[tuple[str, bytes]], form: int, kind: bytes, pax: dict[str, str], mode: int, link: str
) -> None:
    pax = pax if form == tarfile.PAX_FORMAT else {}
    run(ARCHIVE, bytes([NAMES.index("hw.tar")]) + tarred(files, form, kind, pax_headers=pax, mode=mode, linkname=link))


letters = st.sampled_from(
    ["d", "h", "mu", "σ", "M", "k", "N", "x1", "x_2", "e", "pi", "2", "10", "0.5", "1e300", "½", "9" * 30]
)
formulas = st.recursive(
    letters,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "^", "**", " ", "·", "^-", "²", "=", ","]), inner).map(
            "".join
        ),
        st.tuples(st.sampled_from(["sqrt", "exp", "\\frac", "log_2", "√", "max", "-", "floor", "O"]), inner).map(
            lambda pair: f"{pair[0]}({pair[1]})"
        ),
        st.tuples(inner, inner).map(lambda pair: f"\\frac{{{pair[0]}}}{{{pair[1]}}}"),
        inner.map(lambda text: f"({text})^({text})"),
    ),
    max_leaves=25,
)


@FORMED
@given(st.integers(0, 4), formulas)
def test_formulas_of_any_form(question: int, text: str) -> None:
    run(FORMULA, bytes([question]) + text.encode())


texts = st.sampled_from(
    ["7/15", "0 1 1\n0 0 1\n0 0 0", "---", "|", "A, C", "2d + n", "1e400/7 = 3", "2026-12-01", "<<", "*a", "\x1b[2J"]
)
keys = st.sampled_from(["answers", "written", "1.6", "a"])
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=16,
)


@FORMED
@given(st.dictionaries(st.sampled_from(["answers", "written", "1.6", "2.1", "1.10"]), plain, max_size=4))
def test_sheets_of_any_form(sheet: dict[str, Any]) -> None:
    run(ANSWERS, json.dumps(sheet).encode())


words = st.text(max_size=5) | st.binary(max_size=5)
claims = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | words | st.just({"i": b"\x7f" * 2500}),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(lambda items: {"t": items}),
        st.lists(st.tuples(st.sampled_from(["type", "events", "frames", "A", "a"]), inner), max_size=4).map(
            lambda pairs: {"d": [part for pair in pairs for part in pair]}
        ),
    ),
    max_leaves=16,
)


@FORMED
@given(st.integers(0, 255), claims)
def test_claims_of_any_form(choice: int, claim: Any) -> None:
    run(CLAIMS, bytes([choice, 0]) + msgpack.packb(claim))


@FORMED
@given(
    st.sampled_from(list(RESULTS.seeds())),
    st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(
        [0, 1, -1, 1e305, 33.3333, 33.3334, None, "passed", "deferred", "100/3", "1" * 200, "", [], {}, "a\nb", 2**70]
    )), min_size=1, max_size=4),
)  # fmt: skip
def test_results_with_any_values(seed: bytes, changes: list[tuple[int, Any]]) -> None:
    results = json.loads(seed)
    for place, value in changes:
        leaves = list(places(results))
        holder, key = leaves[place % len(leaves)]
        holder[key] = value
    run(RESULTS, json.dumps(results).encode())


def places(value: Any) -> Any:
    """Every place in nested lists and dicts that holds something."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])
