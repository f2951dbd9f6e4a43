"""What stands beside a result while it is made: the one that lies there before a test was asked, and checkpoints."""

import tempfile
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from viva.formats.results_json import to_json
from viva.model import Case, Entry, Score, Status, Tier
from viva.model.grade_request import Graded
from viva.pipeline.checkpoint_folder import folder_of, tidy
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
        writer = ResultsWriter(jobs, Path(folder), Tier.T3)
        for number, job in enumerate(jobs):
            writer.start(job, PENDING)
            expected = to_json(Score(job.name, "", "small", 3, PENDING), complete=False)
            target = next(Path(folder).rglob(f"s{number}/results.json"), Path(folder) / "results.json")
            assert target.read_bytes() == expected


def test_checkpoints_go_with_a_result_of_all_tests(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "results.json")
    folder.mkdir()
    for name in ("a1-cut", "a1-whole", "a1-unasked", "b2-cut", ".a1-cut"):
        (folder / f"{name}.checkpoint").touch()
    graded = Graded(Score("ada", "0", "words", 1, ()), [], {"a1-cut.checkpoint": False, "a1-whole.checkpoint": True})
    tidy(folder, Graded(graded.score, [], finished=False), all_selected=True)
    assert len(list(folder.iterdir())) == 5
    tidy(folder, graded, all_selected=False)
    assert [path.stem for path in sorted(folder.iterdir())] == ["a1-cut", "a1-unasked"]
    tidy(folder, graded, all_selected=True)
    assert [path.stem for path in folder.iterdir()] == ["a1-cut"]
