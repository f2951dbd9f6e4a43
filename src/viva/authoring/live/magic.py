"""`%%viva_test 2.1` in Jupyter: try a test on the solution in the notebook, and on ways to break it."""

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from viva.authoring.solved.key_source import key_source
from viva.authoring.solved.own_tests import definitions_for
from viva.authoring.solved.questions import parsed
from viva.authoring.source.cells_with_tests import asked_names, is_test, test_body
from viva.authoring.source.source_cells import Cell
from viva.model.child_process import NoAnswer, ask_child
from viva.model.errors import UsageError
from viva.submissions.syntax_trees import Definition

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_LONGEST_S: Final = 300.0


def register(shell: "InteractiveShell") -> None:
    """Add the magic to a shell."""

    def viva_test(line: str, cell: str) -> None:
        """Try the test in this cell on the solution, and show which ways to break the solution it does not notice."""
        try:
            print("\n".join([f"{line.strip()}:" if line.strip() else "", *results(history(shell), cell)]).lstrip("\n"))
        except UsageError as error:
            print(f"viva: {error}")

    # The decorator of IPython's own method hides its signature.
    shell.register_magic_function(viva_test, magic_kind="cell")  # type: ignore[call-arg, arg-type]


def history(shell: "InteractiveShell") -> list[Cell]:
    """Return what has run in a shell as cells, the newest definition of each function or class only."""
    inputs = [] if shell.history_manager is None else shell.history_manager.input_hist_raw
    cells = [Cell("code", source, number) for number, source in enumerate(inputs)]
    return without_old_definitions([cell for cell in cells if not is_test(cell.source)])


def without_old_definitions(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells without functions and classes that a later cell defines again."""
    kept: list[Cell] = []
    defined: set[str] = set()
    for cell in reversed(cells):
        tree = parsed(cell.source)
        statements = [] if tree is None else tree.body
        old = [node for node in statements if isinstance(node, Definition) and node.name in defined]
        defined |= {node.name for node in statements if isinstance(node, Definition)}
        rest = [ast.unparse(node) for node in statements if node not in old]
        kept.append(Cell("code", "\n".join(rest), cell.number) if old else cell)
    return kept[::-1]


def results(cells: Sequence[Cell], test: str) -> list[str]:
    """Return what the author reads about a test.

    Raises:
        UsageError: the test is not Python, asks about nothing, or about something that is not defined.
    """
    try:
        names = asked_names(test)
    except SyntaxError as error:
        raise UsageError(f"line {error.lineno} of the test is not valid Python: {error.msg}.") from None
    if not names:
        raise UsageError("the test asks about nothing. Name what to test as `student.f`, where `f` is your function.")
    solution = key_source(cells, frozenset(names), source="this notebook", classes=_classes(cells, names))
    tree = ast.parse(solution)
    defined = {node.name for node in tree.body if isinstance(node, Definition)}
    defined |= {part.id for node in tree.body for part in ast.walk(node) if isinstance(part, ast.Name)}
    if missing := [name for name in names if name not in defined]:
        raise UsageError(f"`{missing[0]}` is not defined yet. Run the cell that defines it.")
    before = "\n".join(definitions_for(test_body(test), cells, frozenset(names)))
    request = {"solution": solution, "before": before, "test": test_body(test), "names": names}
    try:
        return [str(line) for line in ask_child("viva.authoring.live.child", request, timeout_s=_LONGEST_S)]
    except TimeoutError:
        raise UsageError(f"the test did not end within {_LONGEST_S:.0f} s.") from None
    except NoAnswer as error:
        raise UsageError(f"the solution cannot be used without the rest of the notebook: {error}") from None


def _classes(cells: Sequence[Cell], names: Sequence[str]) -> list[str]:
    trees = [tree for cell in cells if (tree := parsed(cell.source)) is not None]
    defined = {node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    return [name for name in names if name in defined]
