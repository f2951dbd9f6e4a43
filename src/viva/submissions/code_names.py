"""The names that Python code defines, binds, changes and uses; the code is parsed and never runs.

A student's code is data, of whatever size and shape: large code is parsed in another process.
"""

import ast
import itertools
import re
import symtable
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from viva.submissions.reading_child import Unreadable, read_apart

MOST_CHARACTERS_HERE: Final = 64 << 10
"""Larger code is parsed in another process: a character can cost a kilobyte."""
MOST_TOKENS: Final = 250_000
"""The size limit of one submission's code: about 20,000 lines, each of which costs half a kilobyte as a syntax tree."""
_MOST_BITS: Final = 10_000
"""Python writes no integer of more than 4,300 decimal digits."""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
NOT_PYTHON: Final = re.compile(r"^[ \t]*[%!?].*$", re.MULTILINE)
"""A line of a cell that only IPython understands."""
# Every repetition is bounded, so that no text makes the search slow.
_DEFINITION: Final = r"(?:(?:async +)?def +(\w{1,80})|class +(\w{1,80})|(\w{1,80}) {0,8}(?::[^=\n]{0,80})?=(?!=))"
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
T = TypeVar("T")


def with_trees(reader: Callable[..., T], texts: Sequence[str], *more: object, returns: object, unreadable: T) -> T:
    """Call a function that parses a submission's code; in another process, with limits, if the code is large.

    Args:
        reader: a function at the top level of a module; `texts` is its first argument.
        texts: the code, in parts.
        more: its other arguments.
        returns: the type of what it returns, which JSON can hold.
        unreadable: what is returned if it takes more memory or time than it may.
    """
    if sum(map(len, texts)) <= MOST_CHARACTERS_HERE:
        return reader(texts, *more)
    try:
        return read_apart(reader, texts, *more, returns=returns)
    except Unreadable:
        return unreadable


def are_python(texts: Sequence[str]) -> bool:
    """Return whether all texts are Python."""
    return not any(isinstance(tree, str) for tree in syntax_trees(texts))


def syntax_trees(texts: Sequence[str]) -> list[ast.Module | str]:
    """Return the syntax tree of each text, or the text if it is not Python; all texts if the total is too large."""
    tokens = itertools.chain.from_iterable(map(_TOKEN.finditer, texts))
    if next(itertools.islice(tokens, MOST_TOKENS, None), None) is not None:
        return [*texts]
    return [_parsed(text) for text in texts]


def _parsed(text: str) -> ast.Module | str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the student's literals
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value.bit_length() > _MOST_BITS:
            node.value = 0  # a hexadecimal literal may have more decimal digits than Python writes
    return tree


@dataclass(frozen=True, slots=True)
class StatementNames:
    """The names of its module that a top-level statement binds, changes and uses."""

    binds: frozenset[str]
    """Names that it binds, in whatever block; "*" if it imports all names of a module."""
    changes: frozenset[str]
    """Names whose objects it changes: `table[x] = y`, `table.append(y)`; no imported ones."""
    uses: frozenset[str]
    """Names that it reads, also in functions that it defines; builtins are among them."""


def statement_names(statements: Iterable[ast.stmt]) -> Iterator[StatementNames]:
    """Yield the names of each statement of a module or notebook, in order."""
    imported: set[str] = set()
    for node in statements:
        binds, uses = _bound_and_used(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= binds
        changes = frozenset(_changed(node)) - imported  # np.random.seed(0) does not change what np is
        yield StatementNames(binds, changes, uses)


def bound_names(source: str) -> frozenset[str]:
    """Return the names that a cell binds; none if it is not Python."""
    return frozenset(name for found in statement_names(parse_cell(source).body) for name in found.binds)


def free_names(source: str) -> frozenset[str]:
    """Return the names that a cell uses before it binds them; none if it is not Python."""
    free: set[str] = set()
    bound: set[str] = set()
    for found in statement_names(parse_cell(source).body):
        free |= found.uses - bound
        bound |= found.binds
    return frozenset(free)


def names_in_text(text: str, line: str = "^") -> set[str]:
    """Return the functions, classes and variables that a text defines at its top level; it need not be valid Python.

    Args:
        text: the text.
        line: a regular expression for what comes before a definition.
    """
    return {name for match in re.finditer(line + _DEFINITION, text, re.M) for name in match.groups() if name}


def parse_cell(source: str) -> ast.Module:
    """Return the syntax tree of a cell without its IPython lines; an empty one if it is not Python."""
    [tree] = syntax_trees([NOT_PYTHON.sub("", source)])
    return tree if isinstance(tree, ast.Module) else ast.Module([], [])


def attributes_read(source: str, name: str) -> frozenset[str]:
    """Return the attributes that source code reads from a variable, such as `softmax` of `student.softmax(x)`."""
    return frozenset(
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    )


def used_names(source: str) -> frozenset[str]:
    """Return the module's names that source code reads, also in functions that it defines."""
    return _used(symtable.symtable(source, "code", "exec"))


def _bound_and_used(node: ast.stmt) -> tuple[frozenset[str], frozenset[str]]:
    table = symtable.symtable(ast.unparse(node), "code", "exec")
    binds = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    parts = list(_outside_functions(node))
    named = [(part.id, type(part.ctx)) for part in parts if isinstance(part, ast.Name)]
    binds -= {name for name, context in named if context is ast.Del} - {
        n for n, context in named if context is ast.Store
    }
    if any(alias.name == "*" for part in parts if isinstance(part, ast.ImportFrom) for alias in part.names):
        binds.add("*")
    added_to = (part.target for part in parts if isinstance(part, ast.AugAssign))
    read = {target.id for target in added_to if isinstance(target, ast.Name)}  # to Python, `x += 1` only binds x
    return frozenset(binds), _used(table) | read


def _used(top: symtable.SymbolTable) -> frozenset[str]:
    found: set[str] = set()
    pending = [top]
    while pending:
        table = pending.pop()
        pending += table.get_children()
        is_top = table is top
        found |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and (is_top or s.is_global())}
    return frozenset(found)


def _changed(node: ast.stmt) -> Iterator[str]:
    for part in _outside_functions(node):
        target: ast.AST | None = None
        if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Store | ast.Del):
            target = part
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            target = part.value.func if isinstance(part.value.func, ast.Attribute) else None
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, Definition | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        yield from _outside_functions(child)


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a function takes by position, without `self` and `cls`."""

    names: tuple[str, ...]
    required: int
    """How many of them have no default."""
    any_number: bool
    """Whether `*args` takes more."""

    def __str__(self) -> str:
        """Return the names in parentheses."""
        return f"({', '.join([*self.names, *(['*args'] if self.any_number else [])])})"

    def is_in_other_order(self, asked: "Parameters") -> bool:
        """Return whether the names are those asked for, in another order."""
        return self.names != asked.names and sorted(self.names) == sorted(asked.names)

    def cannot_take(self, asked: "Parameters") -> bool:
        """Return whether a call with what is asked for has too many or too few arguments."""
        too_many = asked.required > len(self.names) and not self.any_number
        return too_many or self.required > len(asked.names)


def parameters_in(parts: Iterable[ast.Module | str]) -> dict[str, Parameters]:
    """Return the parameters of top-level functions, and of the methods of top-level classes as `Class.method`.

    Args:
        parts: the parts of a file's code; text for what is not Python. What is defined last counts.
    """
    found: dict[str, Parameters] = {}
    for part in parts:
        for node in part.body if isinstance(part, ast.Module) else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[node.name] = _parameters(node)
            elif isinstance(node, ast.ClassDef):
                methods = (child for child in node.body if isinstance(child, ast.FunctionDef))
                found |= {f"{node.name}.{method.name}": _parameters(method) for method in methods}
    return found


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Parameters:
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    required = len(names) - len(node.args.defaults)
    bound = names[:1] in (["self"], ["cls"])
    return Parameters(tuple(names[bound:]), max(required - bound, 0), node.args.vararg is not None)
