"""results.json: valid against its own schema, strict, adding up, with the statuses that Gradescope understands."""

import functools
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.formats import results_json
from viva.formats.results_json import json_schema, load_results, results_of, to_json
from viva.model import Case, Entry, Isolation, Score, Status
from viva.model.errors import UsageError
from viva.model.score import VISIBILITIES, Leader
from viva.sandbox.gpu import GpuUse

OPEN = [s for s in Status if s.is_open]
DECIDED = [s for s in Status if not s.is_open]


def entry(
    index: int = 1,
    status: Status = Status.PASSED,
    earned: Fraction = Fraction(1),
    points: Fraction = Fraction(1),
    message: str = "",
    staff: str = "",
    **more: Any,
) -> Entry:
    cases = (Case("", status, earned, points, message, staff, 0.25),)
    fields = {"name": f"Test {index}", "number": f"1.{index}", "visibility": "visible", "cases": cases} | more
    return Entry(test_id=f"test_it.py::test_{index}", status=status, earned=earned, points=points, **fields)


def score(*entries: Entry, **more: Any) -> Score:
    fields: dict[str, Any] = {
        "submission": "class/alice",
        "content_hash": "0" * 64,
        "assignment": "masks",
        "version": 1,
    } | more
    return Score(entries=entries, **fields)


def written(score: Score, **options: Any) -> Any:
    return json.loads(to_json(score, **options))


@functools.cache
def validator() -> Any:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    status = draw(st.sampled_from(list(Status)))
    points = draw(st.fractions(0, 40, max_denominator=60))
    share = {Status.PASSED: Fraction(1), Status.PARTIAL: draw(st.fractions(0, 1, max_denominator=9))}.get(
        status, Fraction(0)
    )
    text = draw(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\x1b\x07\0\u202e\ud800")), max_size=40))
    return entry(
        draw(st.integers(0, 99)), status, points * share, points, text, text, name=text, number=text, tags=(text,),
        visibility=draw(st.sampled_from(VISIBILITIES)), written=text, rubric=text,
    )  # fmt: skip


@given(st.lists(entries(), max_size=12), st.text(max_size=30), st.booleans(), st.floats(0, 1e4))
def test_every_score_is_a_valid_file(given: list[Entry], note: str, staff: bool, wall_s: float) -> None:
    data = to_json(score(*given, notes=(note,), wall_s=wall_s), staff=staff)
    results = json.loads(data, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    validator().validate(results)
    assert b"\x1b" not in data and b"\\u001b" not in data
    exact = sum((e.earned for e in given if not e.status.is_open), Fraction(0))
    assert round(results["score"] * 10_000) == round(exact * 10_000)
    assert round(sum(t.get("score", 0) for t in results["tests"]) * 10_000) == round(results["score"] * 10_000)
    for test, source in zip(results["tests"], given, strict=True):
        assert ("score" in test) == ("status" in test) == (not source.status.is_open)
        assert Fraction(test["extra_data"]["earned"]) == source.earned
        if "score" in test and source.status is Status.PASSED:
            assert test["score"] == test["max_score"]


@pytest.mark.parametrize("status", DECIDED)
def test_decided_points_count(status: Status) -> None:
    earned = Fraction(2) if status is Status.PASSED else Fraction(1) if status is Status.PARTIAL else Fraction(0)
    results = written(score(entry(1, status, earned, Fraction(2))))
    (test,) = results["tests"]
    assert test["score"] == results["score"] == float(earned)
    assert test["status"] == ("passed" if status is Status.PASSED else "failed")
    assert test["extra_data"]["status"] == status.value
    assert "Not graded yet:" not in results["output"]


@pytest.mark.parametrize("status", OPEN)
def test_pending_points_are_not_lost(status: Status) -> None:
    results = written(score(entry(1), entry(2, status, Fraction(0), Fraction(7, 2))))
    test = results["tests"][1]
    assert "score" not in test and "status" not in test
    assert (test["max_score"], test["output"], test["extra_data"]["status"]) == (3.5, "Not graded yet.", status.value)
    assert results["score"] == 1.0
    assert "Not graded yet: 3.5 more. They are not lost." in results["output"]
    assert results["extra_data"]["still_open"] == "7/2"


def test_hidden_test_keeps_the_total() -> None:
    """Gradescope hides a student's total as soon as one test is `hidden`."""
    given = score(entry(1, visibility="hidden"), entry(2, visibility="after_due_date"))
    assert [t["visibility"] for t in written(given)["tests"]] == ["after_published", "after_due_date"]
    assert [t["visibility"] for t in written(given, hidden_as="hidden")["tests"]] == ["hidden", "after_due_date"]


def test_no_time_of_a_hidden_test() -> None:
    """A program could sleep for as many seconds as the number that it was given."""
    given = score(entry(1), entry(2, visibility="hidden"), wall_s=1.5)
    for_student, for_staff = written(given), written(given, staff=True)
    assert for_student["execution_time"] == 1.25 and for_staff["execution_time"] == 1.5
    assert [test["extra_data"]["wall_s"] for test in for_student["tests"]] == [0.25, 0.0]
    assert [test["extra_data"]["wall_s"] for test in for_staff["tests"]] == [0.25, 0.25]


def test_staff_message() -> None:
    given = score(entry(1, Status.FAILED, Fraction(0), message="wrong", staff="the hidden input was 42"))
    assert b"42" not in to_json(given)
    assert written(given, staff=True)["tests"][0]["extra_data"]["staff"] == "the hidden input was 42"


def test_exact_points_isolation_and_signature() -> None:
    given = score(
        entry(1, Status.PARTIAL, Fraction(1, 3), Fraction(10, 3)),
        isolation=Isolation("T3", {"landlock": "abi7"}, {"read key": "refused"}, ("aggregate memory",)),
        environment=("transformers 5.23.0 lacks encode_plus\x1b[2J",),
        signature={"assignment": "masks@1", "numpy": "2.0"},
        leaderboard=(Leader("BLEU", 0.5), Leader("time\x1b[2J", "fast", "asc")),
        wall_s=1.5,
    )
    results = written(given)
    extra = results["extra_data"]
    assert (extra["earned"], extra["points"], extra["complete"]) == ("1/3", "10/3", True)
    assert (extra["submission"], extra["content_hash"]) == ("class/alice", "0" * 64)
    assert extra["environment"] == ["transformers 5.23.0 lacks encode_plus"]
    assert extra["isolation"] == {
        "tier": "T3",
        "layers": {"landlock": "abi7"},
        "probes": {"read key": "refused"},
        "missing": ["aggregate memory"],
    }
    assert extra["signature"] == {"assignment": "masks@1", "numpy": "2.0"}
    assert results["leaderboard"] == [
        {"name": "BLEU", "value": 0.5, "order": "desc"},
        {"name": "time", "value": "fast", "order": "asc"},
    ]
    assert results["execution_time"] == 1.5


def test_gpu_is_written_only_where_one_was_used() -> None:
    assert "gpu" not in written(score(entry(1)))["extra_data"]
    given = score(entry(1), gpu=GpuUse("NVIDIA L4\x1b[2J", "550.90.07", 23034, None))
    assert written(given)["extra_data"]["gpu"] == {"name": "NVIDIA L4", "driver": "550.90.07", "memory_mib": 23034}


@pytest.mark.parametrize("memory_mib", [23034, None])
def test_gpu_is_read_back(tmp_path: Path, memory_mib: int | None) -> None:
    path = tmp_path / "results.json"
    use = GpuUse("NVIDIA L4", "550.90.07", memory_mib, None)
    path.write_bytes(to_json(score(entry(1), gpu=use)))
    assert load_results(path).extra_data.gpu == use


def test_several_cases() -> None:
    cases = tuple(
        Case(label, s, Fraction(0), Fraction(1, 2), "", "", 0.5)
        for label, s in [("a", Status.PASSED), ("b", Status.FAILED)]
    )
    (test,) = written(score(entry(1, Status.PARTIAL, Fraction(1, 2), cases=cases)))["tests"]
    assert [(c["label"], c["status"]) for c in test["extra_data"]["cases"]] == [("a", "passed"), ("b", "failed")]
    assert test["extra_data"]["wall_s"] == 1.0


def test_unfinished_result() -> None:
    pending = entry(2, Status.GRADER_ERROR, Fraction(0), message="Not graded yet: grading was interrupted.")
    results = written(score(entry(1), pending, content_hash=""), complete=False)
    validator().validate(results)
    assert results["extra_data"]["complete"] is False
    assert "Grading is not finished" in results["output"]


def test_no_tests_at_all() -> None:
    results = written(score())
    assert (results["score"], results["tests"]) == (0.0, [])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_number_that_json_cannot_hold(value: float) -> None:
    with pytest.raises(ValueError, match="finite number"):
        to_json(score(entry(1), leaderboard=(Leader("x", value),)))


def test_read_back(tmp_path: Path) -> None:
    given = score(
        entry(1), entry(2, Status.NEEDS_REVIEW, Fraction(0), written="because", rubric="2.1"), notes=("a note",)
    )
    path = tmp_path / "results.json"
    path.write_bytes(to_json(given))
    assert load_results(path) == results_of(given)


GOOD = written(score(entry(1), entry(2, Status.NEEDS_REVIEW, Fraction(0))))


def broken(change: Any) -> bytes:
    results = json.loads(json.dumps(GOOD))
    change(results)
    return json.dumps(results).encode()


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "Invalid JSON"),
        (b"{", "Invalid JSON"),
        (b"[]", "should be an object"),
        (b'{"score": NaN}', "Invalid JSON|finite number"),
        (broken(lambda r: r.update(score=99.0)), "score is 99.0, and the tests add up to 1.0"),
        (broken(lambda r: r.update(extra=1)), "extra: Extra inputs are not permitted"),
        (broken(lambda r: r["tests"][0].update(score=5.0)), "tests.0: .*score is larger than max_score"),
        (broken(lambda r: r["tests"][0].update(score="1")), "tests.0.score: Input should be a valid number"),
        (broken(lambda r: r["tests"][0].pop("score")), "tests.0: .*exactly when it is graded"),
        (broken(lambda r: r["tests"][1].update(score=0.0, status="failed")), "tests.1: .*exactly when it is graded"),
        (broken(lambda r: r["tests"][0].update(visibility="seen")), "tests.0.visibility"),
        (broken(lambda r: r["extra_data"].update(earned="1.5")), "extra_data.earned"),
        (broken(lambda r: r["tests"][0].update(max_score=2.0)), "max_score and extra_data.points do not agree"),
        (broken(lambda r: r["tests"][1].update(max_score=0.5)), "max_score and extra_data.points do not agree"),
        (broken(lambda r: r.update(score=1e305)), "score is 1e\\+305, and the tests add up to 1.0"),
    ],
)
def test_what_viva_did_not_write_is_refused(tmp_path: Path, data: bytes, part: str) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=f"is not a results.json of viva: .*({part})"):
        load_results(path)


@pytest.mark.parametrize(
    "data",
    [
        b'{"tests":[' + b"0," * 300_000 + b"0]}",
        b"{" + b",".join(b'"%d":0' % number for number in range(300_000)) + b"}",
        b"[" * 300_000,
        b'"' + b'\\",' * 300_000 + b'",' + b"0," * 300_000,
    ],
)
def test_too_many_values_are_refused_early(tmp_path: Path, data: bytes) -> None:
    """Two megabytes of zeros made a million errors, and these 1.2 GiB."""
    path = tmp_path / "results.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match="more than 200,000 values"):
        load_results(path)


def test_texts_are_not_counted_as_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results_json, "MOST_VALUES", 5_000)
    given = score(*(entry(number, message='"a", [b], {c} \\,' * 400) for number in range(1, 60)))
    path = tmp_path / "results.json"
    path.write_bytes(to_json(given))
    assert path.read_bytes().count(b",") > 40_000 and load_results(path) == results_of(given)


def test_no_results_to_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json cannot be read: No such file"):
        load_results(tmp_path / "none.json")
    with pytest.raises(UsageError, match="cannot be read"):
        load_results(tmp_path)


def test_heavy_libraries_are_imported_late() -> None:
    """Starting a command must not pay for what only showing a result or reading a notebook needs."""
    code = "import sys, viva.config, viva.submissions, viva.submissions.notebook_cells, viva.formats.escaping; "
    code += "import viva.formats.atomic_write; "
    code += "sys.exit(any(m in sys.modules for m in ('rich', 'numpy', 'nbformat')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
