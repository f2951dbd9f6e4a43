"""Marks by `viva review` join what the code has earned: as tables, in results.json, in reports, feedback and marks."""

import csv
import io
import json
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.review_class import NAME, ROOT, attempt_of, fill, hash_of, rubric, score_of
from viva.cli.main import run
from viva.formats.results_json import load_results, to_json
from viva.plugins.records.store import Records

SIZE = 4
QUESTION = "2.1"
COURSE = ("--course", str(ROOT))


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Create the records of a small class."""
    monkeypatch.chdir(tmp_path)
    place = f"sqlite:///{tmp_path / 'records.db'}"
    with Records.open(place, tmp_path) as records:
        fill(records, SIZE, tmp_path / "class")
    return place


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the same class as a folder of results."""
    monkeypatch.chdir(tmp_path)
    for number in range(SIZE):
        place = tmp_path / "results" / attempt_of(number).name
        place.mkdir(parents=True)
        (place / "results.json").write_bytes(to_json(score_of(number, rubric())))
    return tmp_path / "results"


def table(file: Path, **marks: tuple[str, str]) -> None:
    """Fill in a table: by question and submission what items are chosen, and a comment."""
    rows = list(csv.DictReader(io.StringIO(file.read_bytes().decode("utf-8-sig"))))
    for row in rows:
        number = next(n for n in range(SIZE) if hash_of(n) == row["submission"])
        if row["question"].lstrip("'") == QUESTION and f"s{number}" in marks:
            row["items"], row["comment"] = marks[f"s{number}"]
            row["done"] = "yes"
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    file.write_text(out.getvalue(), "utf-8")


def test_table_of_records(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "marks.csv"
    review = ("review", NAME, *COURSE, "--records", url)
    assert run([*review, "--export", str(file)]) == 0
    assert len(file.read_bytes().decode("utf-8-sig").splitlines()) > SIZE * len(rubric().questions)
    table(file, s0=("limits roles", "=SUM(1) is what a formula looks like"), s2=("", "Nothing of it."))
    assert run([*review, "--by", "Ada", "--import", str(file)]) == 0
    assert "2 grades taken" in capsys.readouterr().out
    assert run([*review, "--by", "Ada", "--import", str(file)]) == 0
    assert "0 grades taken" in capsys.readouterr().out
    assert run(["history", "id0000", *COURSE, "--records", url]) == 0
    said = capsys.readouterr().out
    assert "Ada" in said and QUESTION in said
    assert run(["grades", NAME, *COURSE, "--records", url, "--to", "csv", "--with-open", "-o", "grades.csv"]) == 0
    grades = {row["student"]: row for row in csv.DictReader(io.StringIO((tmp_path / "grades.csv").read_text()))}
    code = score_of(0, rubric()).earned
    assert Fraction(grades["id0000"]["points"]) == code + 2


def test_marks_are_shown_in_feedback(url: str, tmp_path: Path) -> None:
    file = tmp_path / "marks.csv"
    run(["review", NAME, *COURSE, "--records", url, "--export", str(file)])
    table(file, s1=("limits answers roles symmetric", "Very clear: Q, K and V."))
    run(["review", NAME, *COURSE, "--records", url, "--import", str(file)])
    assert run(["report", NAME, *COURSE, "--records", url, "--feedback", "-o", "report"]) == 0
    page = (tmp_path / "report" / "feedback" / f"{attempt_of(1).name}.html").read_text()
    assert "Very clear: Q, K and V." in page
    assert "4 of 4 points" in page
    other = (tmp_path / "report" / "feedback" / f"{attempt_of(2).name}.html").read_text()
    assert "Very clear" not in other


def test_table_of_a_folder(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "marks.csv"
    result = folder / attempt_of(3).name / "results.json"
    before = result.read_bytes()
    others = (folder / attempt_of(2).name / "results.json").read_bytes()
    review = ("review", str(folder), *COURSE)
    assert run([*review, "--export", str(file)]) == 0
    table(file, s3=("limits", "Half of it."))
    assert run([*review, "--by", "Ada", "--import", str(file)]) == 0
    after = json.loads(result.read_bytes())
    test = next(t for t in after["tests"] if t["extra_data"].get("rubric") == QUESTION)
    assert (test["score"], test["extra_data"]["status"]) == (1, "partial")
    assert "Half of it." in test["output"]
    assert after["score"] == pytest.approx(float(score_of(3, rubric()).earned) + 1)
    assert (folder / attempt_of(2).name / "results.json").read_bytes() == others
    assert (folder / "review.db").stat().st_mode & 0o077 == 0
    load_results(result)
    assert run(["report", str(folder), *COURSE, "--feedback", "-o", "report"]) == 0
    assert "Half of it." in (tmp_path / "report" / "feedback" / f"{attempt_of(3).name}.html").read_text()
    capsys.readouterr()
    run([*review, "--export", str(file)])
    table(file, s3=("", ""))
    file.write_text(file.read_text().replace(",yes,", ",,"))  # no mark at all
    assert run([*review, "--import", str(file)]) == 0
    assert result.read_bytes() == before, "what was taken back left no trace"


def test_two_assignments(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / attempt_of(0).name / "results.json"
    file.write_text(file.read_text().replace(NAME, "attention_theory"))
    assert run(["review", str(folder), *COURSE, "-a", NAME, "--export", "marks.csv"]) == 0
    assert run(["review", str(folder), *COURSE, "--export", "marks.csv"]) == 1
    assert "say one: -a" in capsys.readouterr().err


def test_no_rubric(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "assignments" / "small"
    folder.mkdir(parents=True)
    (tmp_path / "grader.yaml").write_text(
        "course: Small\nsecret: env:VIVA_SECRET\nassignments: [small]\nrecords: sqlite:///records.db\n"
    )
    (folder / "assignment.yaml").write_text("title: Small\nversion: 1\nsubmission: {module: small.py}\n")
    assert run(["review", "small", "--course", str(tmp_path), "--export", str(tmp_path / "marks.csv")]) == 1
    assert "has no questions" in capsys.readouterr().err
