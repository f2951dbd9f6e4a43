"""The result that is written before any test has run."""

import tempfile
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from viva.formats.results_json import to_json
from viva.model import Case, Entry, Score, Status
from viva.pipeline.jobs import Job
from viva.pipeline.results_writer import ResultsWriter

CASE = Case("", Status.GRADER_ERROR, Fraction(0), Fraction(4), "Not graded yet.")
PENDING = (Entry("test_a.py::test_a", "A.", "1", "hidden", Status.GRADER_ERROR, Fraction(0), Fraction(4), (CASE,)),)


@given(st.lists(st.text(st.characters(codec=None), min_size=1), min_size=1, max_size=4, unique=True))
def test_first_result_is_the_one_of_each_submission(names: list[str]) -> None:
    """It is made once for a class: it must be what it would be for each."""
    with tempfile.TemporaryDirectory() as folder:
        assignment: Any = SimpleNamespace(name="small", version=3)
        jobs = [Job(Path(f"s{number}"), name, assignment) for number, name in enumerate(names)]
        writer = ResultsWriter(jobs, Path(folder))
        for number, job in enumerate(jobs):
            writer.start(job, PENDING)
            expected = to_json(Score(job.name, "", "small", 3, PENDING), complete=False)
            target = next(Path(folder).rglob(f"s{number}/results.json"), Path(folder) / "results.json")
            assert target.read_bytes() == expected
