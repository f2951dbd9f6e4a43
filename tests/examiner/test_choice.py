"""The sentence that says which file of a submission counts."""

from collections.abc import Sequence

import pytest

from viva.config.assignment import SubmissionFiles
from viva.examiner.boxes.choice import choice_of
from viva.submissions.starter_code import Compared

BOTH = SubmissionFiles(notebook="*.ipynb", module="solution.py")
NAMED = SubmissionFiles(notebook="work.ipynb", module="solution.py")


@pytest.mark.parametrize(
    ("files", "wanted", "said"),
    [
        ([], NAMED, ""),
        ([("solution.py", "fg")], NAMED, ""),
        ([("a.ipynb", "fg")], BOTH, ""),
        ([("a.ipynb", "fg")], SubmissionFiles(notebook=None, module=None), ""),
        ([("a.ipynb", "f"), ("b.ipynb", "g")], BOTH, ""),
        (
            [("hw1 (1).ipynb", "fg")],
            NAMED,
            "Your answer was read from hw1 (1).ipynb: no other notebook or module of your submission holds one.",
        ),
        (
            [("solution.py", "f"), ("a.ipynb", "fg")],
            BOTH,
            "`f` is defined in solution.py and in a.ipynb: solution.py counts, because the assignment asks for it.",
        ),
        (
            [("solution.py", "f"), ("old/solution.py", "f")],
            BOTH,
            (
                "`f` is defined in solution.py and in old/solution.py: solution.py counts, because it is in the "
                "outermost folder."
            ),
        ),
        (
            [("hw.ipynb", "fg"), ("hw-Copy1.ipynb", "fgh")],
            BOTH,
            (
                "`f` and `g` are defined in hw.ipynb and in hw-Copy1.ipynb: hw.ipynb counts, because it has the name "
                "of the file that the course handed out."
            ),
        ),
        (
            [("b.ipynb", "fgh"), ("a.ipynb", "fg")],
            BOTH,
            "`f` and `g` are defined in b.ipynb and in a.ipynb: b.ipynb counts, because it defines more names.",
        ),
        (
            [("b.ipynb", "f"), ("old/a.ipynb", "f")],
            BOTH,
            "`f` is defined in b.ipynb and in old/a.ipynb: b.ipynb counts, because it is in the outermost folder.",
        ),
        (
            [("a.ipynb", "abcdef"), ("b.ipynb", "abcdef"), ("c.ipynb", "a"), ("d.ipynb", "b"), ("e.ipynb", "c")],
            BOTH,
            (
                "`a`, `b` and 4 more are defined in a.ipynb and in b.ipynb, c.ipynb and 2 more: "
                "a.ipynb counts, because its name comes first in the alphabet."
            ),
        ),
    ],
)
def test_which_file_counts_is_said_where_names_of_files_do_not_decide(
    files: Sequence[tuple[str, str]], wanted: SubmissionFiles, said: str
) -> None:
    compared = {path: Compared(answers=frozenset(names)) for path, names in files}
    given = {wanted.module, wanted.notebook, "hw.ipynb"}
    paths = [path for path, _ in files]
    assert choice_of(paths, wanted, lambda path: path.rpartition("/")[2] in given, compared.__getitem__) == said
