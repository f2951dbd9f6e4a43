"""The code itself, written as another student might have written it, or left half-finished."""

import ast
import re
from collections import Counter
from dataclasses import replace

from tests.support.deformations import deformation, lacks
from tests.support.editable_submission import HandIn, functions_in, parsed, rewritten


@deformation
def prints_everywhere(work: HandIn) -> HandIn:
    """Every function says that it was called and with what."""

    class Talk(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
            self.generic_visit(node)
            given = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            shown = "sorted(locals())" if "self" in given else ", ".join(given) or "''"
            words = ast.parse(f"print('in {node.name}:', {shown})").body
            node.body = [*node.body[:1], *words, *node.body[1:]] if ast.get_docstring(node) else [*words, *node.body]
            return node

    return work.edited(lambda piece: rewritten(piece, Talk()))


@deformation
def renamed_arguments(work: HandIn) -> HandIn:
    """Arguments that have no default have names of the student's own."""
    code = "\n".join(piece for main in work.mains for piece in work.pieces(main))
    every = "\n".join(data.decode("utf-8", "replace") for name, data in work.files.items() if name.endswith(".py"))
    keywords = set(re.findall(r"\b(\w+)\s*=(?!=)", code + every))

    class Rename(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
            if any(isinstance(n, ast.FunctionDef | ast.Lambda | ast.ClassDef) for n in ast.walk(node) if n is not node):
                return node
            required = [*node.args.posonlyargs, *node.args.args]
            required = required[: len(required) - len(node.args.defaults)]
            new = {a.arg: f"{a.arg.lower()}_in" for a in required if a.arg not in keywords and a.arg != "self"}
            for part in ast.walk(node):
                if isinstance(part, ast.arg):
                    part.arg = new.get(part.arg, part.arg)
                elif isinstance(part, ast.Name):
                    part.id = new.get(part.id, part.id)
            return node

        def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
            return node

    return work.edited(lambda piece: rewritten(piece, Rename()))


@deformation
def globals_at_the_end(work: HandIn) -> HandIn:
    """Constants are globals, defined after the functions that use them."""

    class Hoist(ast.NodeTransformer):
        def __init__(self) -> None:
            self.values: dict[str, object] = {}
            self.inside = 0

        def lines(self) -> str:
            shown = {name: "float('inf')" if v == float("inf") else repr(v) for name, v in self.values.items()}
            return "\n".join(f"{name} = {value}" for name, value in shown.items())

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
            self.inside += 1
            node.body = [self.visit(part) for part in node.body]
            self.inside -= 1
            return node

        def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
            return node

        def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
            return node

        def visit_Constant(self, node: ast.Constant) -> ast.expr:
            if not self.inside or type(node.value) not in (int, float):
                return node
            name = f"CONSTANT_{len(self.values)}"
            self.values[name] = node.value
            return ast.Name(name, ast.Load())

    changed = work
    for main in work.mains:
        hoist = Hoist()
        changed = changed.with_pieces(main, [rewritten(piece, hoist) for piece in changed.pieces(main)])
        changed = replace(changed, mains=(main,)).ended_by(hoist.lines())
    return replace(changed, mains=work.mains)


@deformation
def hints_of_unknown_modules(work: HandIn) -> HandIn:
    """Arguments have type hints from a library that is not installed."""

    class Hint(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
            for arg in node.args.args:
                if arg.arg != "self":
                    arg.annotation = ast.parse("Float[Tensor, 'batch dim']", mode="eval").body
            node.returns = ast.parse("jaxtyping_of_mine.Array", mode="eval").body
            self.generic_visit(node)
            return node

    return work.edited(lambda piece: rewritten(piece, Hint())).begun_with(
        "import jaxtyping_of_mine\nfrom jaxtyping_of_mine import Float"
    )


@deformation
def functions_in_a_class(work: HandIn) -> HandIn | None:
    """Functions are static methods of a class, with a name for each outside."""
    if work.is_notebook:
        return None

    def wrapped(piece: str) -> str:
        last = functions_in(piece)[-1:]
        if not last or last[0].decorator_list:
            return piece
        lines = piece.splitlines()
        start, end = last[0].lineno - 1, last[0].end_lineno or 0
        method = ["class Answers:", "    @staticmethod", *(f"    {line}" for line in lines[start:end])]
        alias = ["", f"{last[0].name} = Answers().{last[0].name}", ""]
        return "\n".join([*lines[:start], *method, *alias, *lines[end:]]) + "\n"

    return work.edited(wrapped)


@deformation
def decorated(work: HandIn) -> HandIn:
    """Every function is timed by a decorator of the student's own that forgets functools.wraps."""

    class Decorate(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
            if not node.decorator_list:
                node.decorator_list = [ast.Name("timed_by_me", ast.Load())]
            return node

        def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
            return node

    return work.edited(lambda piece: rewritten(piece, Decorate())).begun_with(
        "def timed_by_me(function):\n    def wrapper(*args, **kwargs):\n        import time\n"
        "        began = time.time()\n        result = function(*args, **kwargs)\n"
        "        print(f'{time.time() - began:.3f} s')\n        return result\n    return wrapper"
    )


# Half-finished work. What counts as right is what the same work without the unfinished function gets.


def _last_function(work: HandIn) -> tuple[str, int, ast.FunctionDef] | None:
    """The last function at the top of the work that is defined once: its file, its piece, itself."""
    found = [
        (main, number, f)
        for main in work.mains
        for number, piece in enumerate(work.pieces(main))
        for f in functions_in(piece)
    ]
    counts = Counter(f.name for _, _, f in found)
    once = [entry for entry in found if counts[entry[2].name] == 1 and not entry[2].decorator_list]
    return once[-1] if once else None


def _cut(work: HandIn, replacement: list[str], *, keep_the_rest: bool) -> HandIn | None:
    """The last function replaced by other lines; what follows it in its module or cell kept or not."""
    last = _last_function(work)
    if last is None:
        return None
    main, number, function = last
    pieces = work.pieces(main)
    lines = pieces[number].splitlines()
    start, end = function.lineno - 1, function.end_lineno or 0
    rest = lines[end:] if keep_the_rest else []
    head = lines[start : function.body[0].lineno - 1] or [lines[start]]
    filled = [line for part in replacement for line in (head if part == "HEAD" else [part])]
    pieces[number] = "\n".join([*lines[:start], *filled, *rest]) + "\n"
    return work.with_pieces(main, pieces)


@deformation
def cut_in_the_middle(work: HandIn) -> HandIn | None:
    """The file ends in the middle of the last function: the editor was closed too early."""
    return _cut(work, ["HEAD", "    scores = softmax((query @ key.T"], keep_the_rest=False)


@lacks("cut_in_the_middle")
def without_the_end(work: HandIn) -> HandIn | None:
    return _cut(work, [], keep_the_rest=False)


@deformation
def broken_function(work: HandIn) -> HandIn | None:
    """One function is not Python, and others follow it."""
    return _cut(work, ["HEAD", "    for i in range(3)", "        total =+= i", "    retrun total"], keep_the_rest=True)


@deformation
def unfinished_function(work: HandIn) -> HandIn | None:
    """One function has no body yet but a comment."""
    return _cut(work, ["HEAD", "    # TODO"], keep_the_rest=True)


@deformation
def stub(work: HandIn) -> HandIn | None:
    """One function still raises NotImplementedError."""
    return _cut(work, ["HEAD", "    raise NotImplementedError"], keep_the_rest=True)


@lacks("broken_function")
@lacks("unfinished_function")
@lacks("stub")
def without_one_function(work: HandIn) -> HandIn | None:
    return _cut(work, [], keep_the_rest=True)


@deformation
def conflict_marks(work: HandIn) -> HandIn | None:
    """The marks of a merge conflict were left between two functions."""
    if work.is_notebook or any(parsed(piece) is None for main in work.mains for piece in work.pieces(main)):
        return None
    return work.interrupted_by("<<<<<<< HEAD\n=======\n>>>>>>> origin/main\n")
