"""All the mutants of one right answer: each operator at each place that a student's function reaches."""

import ast
import dis
import hashlib
import itertools
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Final

from viva.plugins.verify.mutants import (
    array_mistakes,
    formula_mistakes,
    general_mistakes,
    precision_mistakes,
    state_mistakes,
)
from viva.plugins.verify.mutants.asked_names import ANSWERS
from viva.plugins.verify.mutants.mutant import Mutant, lines_of
from viva.plugins.verify.mutants.reachable_code import ReachableCode, Unit
from viva.plugins.verify.mutants.source_edits import Change, Code, Operator, called, last_name, narrowed, whole

OPERATORS: Final[tuple[Operator, ...]] = (
    *formula_mistakes.OPERATORS,
    *array_mistakes.OPERATORS,
    *state_mistakes.OPERATORS,
    *precision_mistakes.OPERATORS,
)
"""The field's own mistakes; if two make the same change, the first one names it."""
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
TINY: Final = 1e-3
_NO_OPERATION: Final = dis.opmap["NOP"]
_OUTPUT_CALLS: Final = frozenset({"print", "warn", "cast", "TypeVar", "NewType", "format", "isinstance", "hasattr"})


class MutantMaker:
    """Makes mutants of one submission; several share `seen`, so that what two have in common is tested once."""

    def __init__(
        self, base: str, reach: ReachableCode, roots: Sequence[str], main: Sequence[str], seen: set[str]
    ) -> None:
        self._base = base
        self._reach = reach
        self._seen = seen
        self._closures = {root: units for root in roots if (units := reach.from_name(root, main))}

    @property
    def units(self) -> list[Unit]:
        """Return every unit that some root reaches, each once, in the order of the files."""
        reached = (u for units in self._closures.values() for u in units if u.name != ANSWERS)
        found = {(u.piece, u.node): u for u in reached}
        return list(found.values())

    def mutants(self, *, with_library: bool) -> Iterator[Mutant]:
        """Yield every mutant, unit by unit, skipping any that has the code of another."""
        for unit in self.units:
            yield from self.of_unit(unit, with_library=with_library)

    def of_unit(self, unit: Unit, *, with_library: bool) -> Iterator[Mutant]:
        """Yield the mutants of one unit."""
        code = Code(unit.piece.text, unit.node, self._reach.defined)
        first = min([unit.node.lineno, *(d.lineno for d in getattr(unit.node, "decorator_list", []))])
        start = code.place(first, 0)
        end = code.span(unit.node)[1]
        reached_by = tuple(r for r, units in self._closures.items() if any(u.node is unit.node for u in units))
        around = [self._other_code(root, unit) for root in reached_by]
        before = code.source[start:end]
        known = {_compiled(before)}
        for name, change in _changes(code, start, end, with_library=with_library):
            after = change.applied(code.source)[start : end + len(change.text) - (change.end - change.start)]
            compiled = _compiled(after)
            if compiled is None or compiled in known:
                continue
            known.add(compiled)
            if name == "parameters_swapped" and _sorted_sums(after) == _sorted_sums(before):
                continue
            same = hashlib.sha256("\0".join([unit.name, compiled, *around]).encode()).hexdigest()
            if same in self._seen:
                continue
            self._seen.add(same)
            was, becomes = lines_of(code.source, change)
            yield Mutant(self._base, unit, name, change, was, becomes, reached_by)

    def _other_code(self, root: str, unit: Unit) -> str:
        """Return a hash of the other code that runs when a root is called.

        Two mutants that agree in it too need to be tested only once.
        """
        others = sorted(f"{u.name} {u.code}" for u in self._closures[root] if u.node is not unit.node)
        return hashlib.sha256("\0".join([root, *others]).encode()).hexdigest()


def _changes(code: Code, start: int, end: int, *, with_library: bool) -> Iterator[tuple[str, Change]]:
    """Yield operators and changes, except in places that are not changed."""
    nodes = list(_walked(code.node))
    untouched, guards = _untouched_spans(code), _guards(code)
    own = ((o.name, change) for o in OPERATORS for node in nodes for change in o.find(node, code))
    of_library = general_mistakes.changes(code, start, end) if with_library else ()
    for name, change in itertools.chain(own, of_library):
        small = narrowed(code.source, change)
        if any(a <= small.start and small.end <= b for a, b in untouched):
            continue
        if name == "guard_dropped" or not any(a <= small.start < b for a, b in guards):
            yield name, change


def _walked(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node except those in f-strings, whose places `ast` does not know before Python 3.12."""
    yield node
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from _walked(child)


def _untouched_spans(code: Code) -> list[tuple[int, int]]:
    """Return what is not changed: docstrings, annotations, decorators, imports, error messages, printed text."""
    nodes: list[ast.AST] = []
    untouched: list[tuple[int, int]] = []
    for node in ast.walk(code.node):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            nodes += node.decorator_list
            if ast.get_docstring(node, clean=False) is not None:
                nodes.append(node.body[0])
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            nodes += [node] if name in _OUTPUT_CALLS else []
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            untouched += _signature(node, code)
        annotations = (getattr(node, "annotation", None), getattr(node, "returns", None))
        nodes += [part for part in annotations if isinstance(part, ast.AST)]
        if isinstance(node, (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert)):
            nodes.append(node)
        if isinstance(node, ast.keyword) and node.arg in ("strict", "dtype", "device"):
            nodes.append(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and _is_tiny(node.right):
            untouched.append((code.span(node.left)[1], code.span(node)[1]))
        if isinstance(node, ast.Subscript) and called(code.parents.get(node, node)) == "len":
            nodes.append(node.slice)  # every row is as long as the others
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and whole(node.operand) is not None:
            start = code.span(node)[0]
            untouched.append((start, start + 1))  # -1 and 1 are the same axis of a matrix
    return untouched + [code.span(node) for node in nodes]


def _signature(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, code: Code) -> list[tuple[int, int]]:
    """Return the spans between the name and the body of a function, without its defaults."""
    body = function.body[0] if isinstance(function.body, list) else function.body
    given = function.args
    defaults = [d for d in (*given.defaults, *given.kw_defaults) if d is not None]
    spans = sorted(code.span(d) for d in defaults)
    names = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    if not names:
        return []
    edges = [code.span(names[0])[0], *(edge for span in spans for edge in span), code.span(body)[0] - 1]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]


def _guards(code: Code) -> list[tuple[int, int]]:
    """Return conditions under which an error is raised: the handout says which input is not allowed."""
    return [
        code.span(node.test)
        for node in ast.walk(code.node)
        if isinstance(node, ast.If) and all(isinstance(s, ast.Raise) for s in node.body)
    ]


def _is_tiny(node: ast.expr) -> bool:
    """Return whether the value only keeps a division from failing."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float) and abs(node.value) < TINY
    return last_name(node).lower() in ("eps", "epsilon", "layer_norm_eps", "tiny")


def _compiled(segment: str) -> str | None:
    """Return a hash of what a statement compiles to, whatever its layout; None if it does not compile."""
    lines = segment.split("\n")
    indent = segment[: len(segment) - len(segment.lstrip(" \t"))]
    inside = f"if 1:\n{segment}" if indent else "\n".join(lines)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            code = compile(inside, "mutant", "exec", optimize=2, dont_inherit=True)
        except (SyntaxError, ValueError):
            return None
    return hashlib.sha256(repr(_meaning(code)).encode()).hexdigest()


def _sorted_sums(segment: str) -> str:
    """Return the statement with terms, factors and sides of `==` in a fixed order.

    Exchanging a and b in `a + b` changes nothing, nor does it in `abs(a - b)`.
    """
    tree = ast.parse(textwrap.dedent(segment))
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in reversed(list(ast.walk(tree))):
        if isinstance(node, ast.BinOp) and (
            isinstance(node.op, (ast.Add, ast.Mult, ast.BitAnd))
            or (isinstance(node.op, ast.Sub) and formula_mistakes.is_even(above.get(node)))
        ):
            node.left, node.right = sorted((node.left, node.right), key=ast.dump)
        elif isinstance(node, ast.BoolOp):
            node.values.sort(key=ast.dump)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq) and len(node.ops) == 1:
            node.left, node.comparators[0] = sorted((node.left, node.comparators[0]), key=ast.dump)
    return ast.dump(tree)


def _meaning(code: CodeType) -> tuple[object, ...]:
    """Return instructions and what they refer to, without lines and columns."""
    constants = tuple(_meaning(c) if isinstance(c, CodeType) else (type(c).__name__, repr(c)) for c in code.co_consts)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount, code.co_flags)
    pairs = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    steps = bytes(byte for pair in pairs if pair[0] != _NO_OPERATION for byte in pair)  # where a docstring was
    return (steps, constants, *names, code.co_kwonlyargcount, code.co_exceptiontable)
