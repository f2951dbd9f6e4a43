"""The size of code: files, lines, syntax nodes without docstrings, and branches per statement."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_WITH_DOCSTRING: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES: Final = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.With, ast.comprehension, ast.Match)


@dataclass(frozen=True, slots=True)
class CodeSize:
    """The size of some files."""

    files: int = 0
    lines: int = 0
    nodes: int = 0
    """Nodes of the syntax trees, without docstrings."""
    statements: int = 0
    branches: int = 0
    """`if`, loops, `except`, `with`, `match`, conditional expressions, parts of comprehensions, and `and` and `or`."""

    @property
    def density(self) -> float:
        """Branches per statement."""
        return self.branches / self.statements if self.statements else 0.0

    def __add__(self, other: "CodeSize") -> "CodeSize":
        return CodeSize(
            self.files + other.files,
            self.lines + other.lines,
            self.nodes + other.nodes,
            self.statements + other.statements,
            self.branches + other.branches,
        )

    def exceeds(self, budget: dict[str, float]) -> list[str]:
        """The figures above a budget, each as a sentence; the density is compared in thousandths."""
        figures = {"files": self.files, "lines": self.lines, "nodes": self.nodes, "density": round(self.density, 3)}
        return [f"{name} {figures[name]}, at most {most}" for name, most in budget.items() if figures[name] > most]


def measure_code(paths: Iterable[Path]) -> CodeSize:
    """Measure Python files together."""
    return sum((measure_source(path.read_text("utf-8")) for path in paths), CodeSize())


def format_sizes(sizes: dict[str, CodeSize]) -> str:
    """A table with a row for each part, and one for all."""
    rows = {**sizes, "all": sum(sizes.values(), CodeSize())}
    head = f"{'':16}{'files':>7}{'lines':>9}{'nodes':>9}{'branches per statement':>24}"
    body = [f"{name:16}{size.files:7}{size.lines:9}{size.nodes:9}{size.density:24.3f}" for name, size in rows.items()]
    return "\n".join([head, *body])


def measure_source(source: str) -> CodeSize:
    """Measure the text of one file."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    nodes = list(ast.walk(tree))
    return CodeSize(
        files=1,
        lines=len(source.splitlines()),
        nodes=len(nodes),
        statements=sum(isinstance(node, ast.stmt) for node in nodes),
        branches=sum(_count_branches(node) for node in nodes),
    )


def _count_branches(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return int(isinstance(node, _BRANCHES))
