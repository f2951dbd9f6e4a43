"""Gradescope's metadata: groups, history, missing addresses; and files that want to become something else."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import class_exports as exports
from tests.support.class_exports import CODE, Read
from viva.model.errors import UsageError
from viva.plugins.cohorts.exports import gradescope


def export(metadata: str) -> dict[str, bytes]:
    return {"submission_metadata.yml": metadata.encode(), "submission_1/x.py": CODE, "submission_2/x.py": CODE}


def test_groups_times_and_attempts(read: Read) -> None:
    found = read(exports.GRADESCOPE, roster=exports.GRADESCOPE_ROSTER)
    assert found.source == "gradescope"
    told = {d.name: ([s.id for s in d.students], d.number, d.submitted_at) for d in found.attempts}
    west, east = timezone(timedelta(hours=-7)), timezone(timedelta(hours=2))
    assert told == {
        "submission_11": (["100", "101"], 3, datetime(2026, 10, 5, 11, 7, 0, 250_000, tzinfo=west)),
        "submission_12": (["102"], 1, datetime(2026, 10, 6, tzinfo=UTC)),
        "submission_13": (["104"], 1, datetime(2026, 10, 5, 8, tzinfo=UTC)),
        "submission_14": (["103"], 1, datetime(2026, 10, 5, 8, tzinfo=east)),
    }
    assert [s.id for s in found.missing] == ["105"]  # and no instructor
    assert {(u.name, u.reason) for u in found.unmatched} == {
        ("submission_98", "is not in the metadata"),
        ("submission_15", "is in the metadata, but its files are not in the export"),
    }
    assert found.attempts[0].also == {"submission": "11", "history": "2"}


def test_output_of_an_autograder(read: Read) -> None:
    assert "submission_99" not in str(read(exports.GRADESCOPE))


def test_pdf_files(read: Read) -> None:
    metadata = "submission_1:\n  :submitters:\n  - :name: A\n    :sid: '1'\n"
    found = read({"submission_metadata.yml": metadata.encode(), "1.pdf": b"%PDF"})
    assert [(d.name, d.path.name, d.submitted_at) for d in found.attempts] == [("submission_1", "1.pdf", None)]


def test_two_people_of_one_name(read: Read) -> None:
    metadata = "".join(f"submission_{n}:\n  :submitters:\n  - :name: Jo Smith\n" for n in (1, 2))
    found = read(export(metadata), roster="id,name\n1,Jo Smith\n")
    assert len({d.students[0].id for d in found.attempts}) == 2
    assert [s.id for s in found.missing] == ["1"]


@pytest.mark.parametrize(
    "told",
    [":submitters: 5", ":submitters: [5, null, [], {}]", ":submitters:\n  - :name: [1]\n    :sid: {a: b}",
     ":created_at: [1]", ":history: {a: b}", ":history: [1, null]", "':created_at': 2026-99-99x"],
)  # fmt: skip
def test_values_of_other_types(read: Read, told: str) -> None:
    found = read(export(f"submission_1:\n  {told}\nsubmission_2:\n  :submitters:\n  - :name: A\n    :sid: '7'\n"))
    assert {d.name: [s.id for s in d.students] for d in found.attempts} == {"submission_1": [], "submission_2": ["7"]}
    assert ("submission_1", "does not say who submitted it") in {(u.name, u.reason) for u in found.unmatched}


LAUGHS = "submission_1:\n  a0: &a0 [x, x]\n" + "".join(
    f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
)
MERGES = "submission_1:\n  m0: &m0 {a: 1}\n" + "".join(
    f"  m{n}: &m{n}\n    <<: [*m{n - 1}, *m{n - 1}]\n" for n in range(1, 40)
)


@pytest.mark.parametrize(
    "metadata",
    [
        "submission_1: !!python/object/apply:os.system ['touch owned']\n",
        "submission_1:\n  a: !ruby/object:Gem::Installer {}\n",
        "submission_1: [unclosed\n",
        "submission_1:\n  :created_at: 2026-13-45 25:00:00\n",
        f"submission_1:\n  a: {'[' * 5000}\n",
        f"submission_1:\n  a: {'9' * 5000}\n",
        "submission_1:\n  ? [a, {b: c}]\n  : d\n",
        MERGES,
    ],
    ids=["python", "ruby", "broken", "time", "deep", "number", "key", "merges"],
)
def test_hostile_metadata(read: Read, metadata: str) -> None:
    found = read(export(metadata + "submission_2:\n  :submitters:\n  - :name: A\n    :sid: '7'\n"))
    assert {d.name: [s.id for s in d.students] for d in found.attempts} == {"submission_1": [], "submission_2": ["7"]}
    reasons = {u.name: u.reason for u in found.unmatched if "metadata" in u.reason}
    assert list(reasons) == ["submission_1"] and "has metadata that cannot be read (" in reasons["submission_1"]


def test_aliases_of_aliases(read: Read) -> None:
    """Shared values stay shared: 10^29 values are never built or walked through."""
    assert [d.name for d in read(export(LAUGHS)).attempts] == ["submission_1"]


def test_large_metadata(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    many = "submission_1:\n  a: [" + "1, " * 1000 + "1]\n"
    monkeypatch.setattr(gradescope, "MAX_EVENTS", 500)
    found = read(export(many))
    assert [d.name for d in found.attempts] == ["submission_1"], "the work is not lost"
    assert "larger than any export" in found.unmatched[0].reason
    monkeypatch.setattr(gradescope, "MAX_BYTES", 1000)
    with pytest.raises(UsageError, match="is larger than 0 MiB"):
        read(export(many))


LINES = st.sampled_from(
    ["submission_1:", "submission_2: 5", "  :submitters:", "  - :name: A", "    :sid: '1'", "    :sid: &a [*a]",
     "  <<: *a", "---", "  :created_at: 2026-10-05 11:07:00 Z", "  :created_at: 0000-00-00", "  a: |", "    - : : :",
     "\t", "  ? ? ?", "  a: !!set {b}", "  a: !!binary x", "  a: 1e999", "  a: .nan", "  a: 0b2", "  a: 190:20:30",
     "%YAML 9.9", "  - \u0000", "  a: !<x> b"]
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES | st.text(max_size=20), max_size=12).map("\n".join))
def test_any_metadata_is_read_or_listed(read: Read, metadata: str) -> None:
    found = read({"submission_metadata.yml": metadata.encode("utf-8", "replace"), "submission_1/x.py": CODE})
    assert len(found.attempts) + sum(u.name == "submission_1" for u in found.unmatched) >= 1
