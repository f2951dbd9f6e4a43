"""Mistakes with names and state: exchanged arguments, arguments changed in place, results that outlive their call."""

import ast
import itertools
import re
from collections.abc import Iterator
from typing import Final

from viva.plugins.verify.mutants.source_edits import Change, Code, called, last_name, mistake

Function = ast.FunctionDef | ast.AsyncFunctionDef
_ARRAY: Final = re.compile(r"Array|Tensor|ndarray")
_ARRAY_NAMES: Final = re.compile(
    r"[A-Z]|[A-Z]_[A-Z0-9]|x|h|hidden\w*|embed\w*|logits|scores|weights|mask|matrix|vectors?|states?|\w*_logits"
)
_COMMUTE: Final = frozenset({
    "isinstance", "range", "print", "zip", "max", "min", "getattr", "setattr", "super", "allclose", "format",
    "manual_seed", "maximum", "minimum", "dot", "gcd", "isclose", "logical_and", "logical_or", "array_equal",
})  # fmt: skip
_TWICE_IS_ONCE: Final = frozenset({
    "print", "warn", "__init__", "super", "zero_grad", "train", "eval", "seed", "manual_seed", "add", "update", "sort",
    "fill_", "zero_", "to", "cuda", "requires_grad_", "setdefault", "discard", "register_buffer", "add_module",
    "register_parameter", "setattr", "copy_", "load_state_dict", "close", "set_seed", "freeze",
    "zip", "constant_", "uniform_", "normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_",
    "kaiming_normal_", "trunc_normal_", "ones_", "zeros_", "shuffle", "heapify", "clip_grad_norm_",
    "clip_grad_value_", "add_batch",
})  # fmt: skip
"""Calls that do the same when they are repeated, or nothing that counts."""
_ASIDE: Final = re.compile(r"^(plt|pyplot|plot|ax|fig)\b|sched|rate$")
_FRESH: Final = ("list", "dict", "set", "Counter", "defaultdict", "deque")


@mistake("Two arguments are mistaken for each other: `d` for `k`, `Q` for `K`.")
def parameters_swapped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Exchange two parameters wherever the function uses them."""
    if not isinstance(node, Function) or not node.body:
        return
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs) if a.arg != "self"]
    pairs = itertools.combinations(names, 2) if len(names) <= 3 else itertools.pairwise(names)
    uses = [n for statement in node.body for n in _names(statement)]
    for first, second in pairs:
        found = sorted((n for n in uses if n.id in (first, second)), key=lambda n: (n.lineno, n.col_offset))
        if found and not _rebinds(node, {first, second}):
            start, end = code.span(found[0])[0], code.span(found[-1])[1]
            parts, at = [], start
            for name in found:
                a, b = code.span(name)
                parts += [code.source[at:a], second if name.id == first else first]
                at = b
            yield Change(start, end, "".join(parts))


@mistake("The first two arguments of a call are exchanged.")
def arguments_swapped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Exchange the first two arguments of a call."""
    if isinstance(node, ast.Call) and len(node.args) >= 2 and called(node) not in _COMMUTE:
        first, second = node.args[:2]
        constants = (ast.Constant, ast.Starred)
        if not isinstance(first, constants) and not isinstance(second, constants):
            yield code.swap(first, second)


@mistake("The argument comes back as it was.")
def argument_returned(node: ast.AST, code: Code) -> Iterator[Change]:
    """Return the first argument instead of the result."""
    if isinstance(node, ast.Return) and node.value is not None:
        above: ast.AST | None = node
        while above is not None and not isinstance(above, (*_FUNCTIONS, ast.Lambda)):
            above = code.parents.get(above)
        if isinstance(above, _FUNCTIONS):
            names = [a.arg for a in above.args.args if a.arg not in ("self", "cls")]
            if names and ast.unparse(node.value) != names[0]:
                yield code.replace(node.value, names[0])


@mistake("An argument is changed in place: `x = x + y` becomes `x += y`, and a copy is not made.")
def argument_changed(node: ast.AST, code: Code) -> Iterator[Change]:
    """Change an argument in place, or drop its copy."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=same), op=op, right=right)):
            sign = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*=", ast.Div: "/="}.get(type(op))
            if sign and name == same and _is_array(name, code):
                yield code.replace(node, f"{name} {sign} {_bare(right, code)}")
        case ast.Call(func=ast.Attribute(value=value, attr="copy" | "clone"), args=[]):
            yield code.replace(node, code.text(value))
        case ast.Call(args=[value]) if called(node) in ("deepcopy", "copy"):
            yield code.replace(node, code.text(value))


@mistake("The result of the first call is returned for every later one.")
def first_result_kept(node: ast.AST, code: Code) -> Iterator[Change]:
    """Return the result of the first call from every later one."""
    if isinstance(node, ast.FunctionDef) and node is code.node and node.args.args and not node.decorator_list:
        keep = "lambda *a, _kept=[], **k: _kept[0] if _kept else _kept.append(f(*a, **k)) or _kept[0]"
        start = code.span(node)[0]
        method = node.args.args[0].arg in ("self", "cls")
        if not method and not any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(node)):
            yield Change(start, start, f"@(lambda f: {keep})\n{code.indent(node)}")


@mistake("A list is a default argument, so that it is still full when the function is called again.")
def list_outlives_call(node: ast.AST, code: Code) -> Iterator[Change]:
    """Move a fresh list or dict into the default arguments."""
    if not isinstance(node, ast.FunctionDef) or node is not code.node or node.args.vararg or node.args.kwarg:
        return
    for statement in node.body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or not _is_fresh(statement.value):
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        last = [*node.args.args, *node.args.kwonlyargs, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        if isinstance(target, ast.Name) and statement.value is not None and last:
            place = max(code.span(n)[1] for n in last)
            start, end = code.span(statement)
            value = code.source[slice(*code.span(statement.value))]
            yield Change(place, end, f", {target.id}={value}{code.source[place:start]}pass")
            return


@mistake("A statement is left out.")
def statement_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop a statement."""
    match node:
        case ast.AugAssign() | ast.Expr(value=ast.Call()) | ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            if called(getattr(node, "value", node)) not in ("print", "warn", "__init__", "super"):
                yield code.replace(node, "pass")


@mistake("A call that changes something is made twice.")
def called_twice(node: ast.AST, code: Code) -> Iterator[Change]:
    """Repeat a statement that is a call."""
    match node:
        case ast.Expr(value=ast.Call() as call) if called(call) not in _TWICE_IS_ONCE and not _is_aside(call):
            yield code.replace(node, f"{_bare(call, code)}; {_bare(call, code)}")


@mistake("Input that is not allowed is not refused.")
def guard_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop the check of an input."""
    if isinstance(node, ast.If) and all(isinstance(s, ast.Raise) for s in node.body) and not node.orelse:
        yield code.replace(node.test, "False")


@mistake("A function of the submission's own is not called.")
def step_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop a call of one of the submission's own functions."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in code.own:
            if not isinstance(first, ast.Starred):
                yield code.replace(node, code.text(first))


_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
OPERATORS: Final = (
    parameters_swapped, arguments_swapped, argument_returned, argument_changed, first_result_kept,
    list_outlives_call, guard_dropped, step_dropped, statement_dropped,
    called_twice,
)  # fmt: skip


def _rebinds(function: Function, names: set[str]) -> bool:
    """Return whether an inner function or a comprehension has local names that are the same."""
    inner = [n for s in function.body for n in ast.walk(s)]
    return any(isinstance(n, ast.arg) and n.arg in names for n in inner)


def _is_aside(call: ast.Call) -> bool:
    """Return whether a call draws, or moves the learning rate, which is the student's choice."""
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    return bool(_ASIDE.search(ast.unparse(receiver)))


def _names(node: ast.AST) -> Iterator[ast.Name]:
    """Yield names except those in f-strings, whose places are not known."""
    if isinstance(node, ast.Name):
        yield node
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from _names(child)


def _is_array(name: str, code: Code) -> bool:
    for function in ast.walk(code.node):
        if isinstance(function, _FUNCTIONS):
            for argument in function.args.args:
                if argument.arg == name:
                    annotation = ast.unparse(argument.annotation) if argument.annotation else ""
                    return bool(_ARRAY.search(annotation) if annotation else _ARRAY_NAMES.fullmatch(name))
    return False


def _is_fresh(node: ast.expr | None) -> bool:
    match node:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(args=[], keywords=[]):
            return last_name(node.func) in _FRESH
    return False


def _bare(node: ast.expr, code: Code) -> str:
    return code.source[slice(*code.span(node))]
