"""The code with which a submission defines names, for a person to read; it is parsed and never runs."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viva.submissions.code_names import Definition, syntax_trees, with_trees
from viva.submissions.notebook_prose import MAX_CHARACTERS

LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""Where a line ends for Python's parser; `str.splitlines` knows more ends."""


def code_of(names: Sequence[str], texts: Mapping[str, Sequence[str]]) -> str:
    """Return the top-level definitions of some names as one block of Markdown; "" if there are none.

    Args:
        names: functions, classes and variables. Of several definitions in one file, the last one counts.
        texts: the code of each file, in one or several parts, by path.
    """
    paths = [path for path, parts in texts.items() for _ in parts]
    every = [text for parts in texts.values() for text in parts]
    return with_trees(_code_of, every, paths, [*names], returns=str, unreadable="")


def _code_of(texts: Sequence[str], paths: Sequence[str], names: Sequence[str]) -> str:
    """Do the same; each text has the path of its file."""
    defined: dict[str, dict[str, str]] = {}
    for path, text, tree in zip(paths, texts, syntax_trees(texts), strict=True):
        defined.setdefault(path, {}).update(_definitions(text, tree))
    found: dict[str, str] = {}
    for path, code in defined.items():
        parts = [code[name] for name in names if name in code]
        if parts:
            found[path] = "\n\n\n".join(dict.fromkeys(parts))
    if not found:
        return ""
    if len(found) == 1:
        return fenced(*found.values())
    return fenced("\n\n\n".join(f"# {path}\n{code}" for path, code in found.items()))


def fenced(code: str) -> str:
    """Return code as a block of Markdown, which nothing in the code can end."""
    code = code[:MAX_CHARACTERS]
    longest = max((len(ticks) for ticks in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{code}\n{fence}"


def _definitions(text: str, tree: ast.Module | str) -> Iterator[tuple[str, str]]:
    """Yield each name that the top level of a text defines, and the lines that define it."""
    lines = LINE_END.split(text)
    for node in tree.body if isinstance(tree, ast.Module) else ():
        decorators = node.decorator_list if isinstance(node, Definition) else []
        first = min([node.lineno, *(each.lineno for each in decorators)])
        code = "\n".join(lines[first - 1 : node.end_lineno])
        yield from ((name, code) for name in _names(node))


def _names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, Definition):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        parts = (part for target in targets for part in ast.walk(target))
        yield from (part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
