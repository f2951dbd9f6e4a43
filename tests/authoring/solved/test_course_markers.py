"""The marks of well-known courses become viva's own; what only looks like one stays."""

from tests.support.table_rows import Rows
from viva.authoring.solved.course_markers import with_own_marks
from viva.authoring.solved.questions import has_markers
from viva.authoring.source.source_cells import Cell, without_solutions

BODY = "    y = 2 * x  # the secret"
PAIRS = [
    ("    ### START CODE HERE ### (≈ 1 line)", "    ### END CODE HERE ###"),
    ("    # YOUR CODE STARTS HERE", "    # YOUR CODE ENDS HERE"),
    ("    # *****START OF YOUR CODE (DO NOT DELETE/MODIFY THIS LINE)*****",
     "    # *****END OF YOUR CODE (DO NOT MODIFY THIS LINE)*****\n    #####\n    #  END OF YOUR CODE  #"),
    ("    ### YOUR CODE HERE (~3 lines)", "    ### END YOUR CODE"),
    ("    # BEGIN YOUR CODE", "    # END YOUR CODE"),
    ("    ### SOLUTION", "    ### TEMPLATE\n    # # INSERT YOUR CODE HERE\n    ### END SOLUTION"),
]  # fmt: skip


def test_each_pair_marks_a_solution() -> None:
    with Rows() as row:
        for begin, end in PAIRS:
            with row(begin):
                found = with_own_marks([Cell("code", f"def f(x):\n{begin}\n{BODY}\n{end}\n    return y", 1)])
                assert has_markers(found)
                released = without_solutions(found)[0].source
                assert "secret" not in released and released.endswith("    return y")


def test_what_marks_nothing_stays() -> None:
    for source in [
        f"def f(x):\n    # YOUR CODE HERE\n{BODY}",
        f"def f(x):\n{BODY}\n    ### END CODE HERE ###",
        f"def f(x):\n    # YOUR CODE HERE\n    ### BEGIN SOLUTION\n{BODY}\n    ### END SOLUTION",
        f"def f(x):\n    ### SOLUTION\n{BODY}",
        "print('### START CODE HERE ###')\nx = 1\n# the end of your code",
    ]:
        cells = [Cell("code", source, 1), Cell("markdown", f"{PAIRS[0][0]}\n{PAIRS[0][1]}", 2)]
        assert with_own_marks(cells) == cells
