"""Checks in the source whether data are split and shuffled with a seed; nothing is run.

An unseeded shuffle draws another test split in every run: its accuracies differ by chance and cannot be repeated.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from viva.plugins.training.audits.finding import Finding
from viva.submissions.code_names import syntax_trees, with_trees
from viva.submissions.notebook_cells import NotebookError, read_notebook

_MAGIC: Final = re.compile(r"^([ \t]*)[%!?].*$", re.MULTILINE)
_SHOWN: Final = 60
_MOST_FINDINGS: Final = 10
_MOST_NODES: Final = 40

_EVERYWHERE: Final = frozenset({"python", "numpy", "torch"})
_SEEDERS: Final = {
    "random.seed": frozenset({"python"}),
    "numpy.random.seed": frozenset({"numpy"}),
    "torch.manual_seed": frozenset({"torch"}),
    "torch.random.manual_seed": frozenset({"torch"}),
    "set_seed": _EVERYWHERE,
    "enable_full_determinism": _EVERYWHERE,
    "seed_everything": _EVERYWHERE,
    "fix_seed": _EVERYWHERE,
}
"""Functions that seed global generators, and which; names without a dot count in any module."""
_GENERATOR: Final = "`generator=torch.Generator().manual_seed(42)`"
_DRAWS: Final = {
    "random_split": ("generator", 2, "torch", _GENERATOR),
    "torch.randperm": ("generator", None, "torch", _GENERATOR),
    "train_test_split": ("random_state seed", None, "numpy", "`random_state=42` (of a Dataset `seed=42`)"),
    "sklearn.utils.shuffle": ("random_state", None, "numpy", "`random_state=42`"),
    "random.shuffle": ("", None, "python", "`random.seed(42)` before it"),
    "numpy.random.shuffle": ("", None, "numpy", "`np.random.default_rng(42)` for `np.random`"),
    "numpy.random.permutation": ("", None, "numpy", "`np.random.default_rng(42)` for `np.random`"),
}
"""Functions that draw: the seeding arguments, their position, the global generator otherwise, what to write."""
_FOLDS: Final = ("KFold", "StratifiedKFold", "ShuffleSplit", "StratifiedShuffleSplit")
_METHODS: Final = {"shuffle": ("seed generator", 0, "`seed=42`"), "sample": ("random_state", None, "`random_state=42`")}
"""Methods of data sets and of frames, where the receiver is not a module."""


@dataclass(slots=True)
class _Reading:
    """What one file says."""

    file: str
    aliases: dict[str, str] = field(default_factory=dict)
    """Names under which modules and their functions are known: {"np": "numpy"}."""
    defined: set[str] = field(default_factory=set)
    nodes: list[tuple[str, ast.Call]] = field(default_factory=list)
    """Every call with its place: "line 7", "cell 3"."""

    @property
    def calls(self) -> list[tuple[str, str, ast.Call]]:
        """Return place, dotted name and call, in the order of lines."""
        return [(place, _called(call, self.aliases), call) for place, call in self.nodes]


def audit_seeds(sources: Mapping[str, str]) -> list[Finding]:
    """Return what draws a split or an order of the data without a seed.

    Args:
        sources: the student's files by name, Python or notebooks. A seed that one of them gives to a library's global
            generator counts in all of them.

    Returns:
        "not_seeded" for each such call, with its place and what to write; "no_source" for a file that is not Python.
    """
    unknown = [Finding("no_source", "The code is too large to be read: whether it seeds is not known.")]
    files = [*sources]
    return with_trees(_audit, [*sources.values()], files, returns=list[Finding], unreadable=unknown)


def _audit(texts: Sequence[str], files: Sequence[str]) -> list[Finding]:
    readings = [_read(file, text) for file, text in zip(files, texts, strict=True)]
    seeded = {library for r in readings if r for _, name, call in r.calls for library in _seeds(name, call)}
    findings: list[Finding] = []
    for file, reading in zip(files, readings, strict=True):
        if reading is None:
            findings.append(Finding("no_source", f"{file} cannot be read as Python: whether it seeds is not known."))
            continue
        for place, name, call in reading.calls:
            if advice := _unseeded(name, call, seeded, reading.defined):
                text = (
                    f"{file}, {place}: `{_shown(name, call)}` has no seed, so every run draws again. If it makes the "
                    f"split, its accuracies cannot be repeated; write {advice}."
                )
                findings.append(Finding("not_seeded", text))
    return findings[:_MOST_FINDINGS]


def _read(file: str, text: str) -> _Reading | None:
    """Read a program or a notebook; return None if none of it is Python."""
    pieces = [("", text)]
    if text.lstrip().startswith("{"):
        try:
            pieces = [(f"cell {c.number}", c.source) for c in read_notebook(text.encode("utf-8", "replace")).code]
        except NotebookError:
            return None
    reading = _Reading(file)
    found = syntax_trees([source for _, source in pieces])
    again = iter(syntax_trees([_MAGIC.sub(r"\1pass", text) for text in found if isinstance(text, str)]))
    trees = [next(again) if isinstance(tree, str) else tree for tree in found]
    for (place, _), tree in zip(pieces, trees, strict=True):
        if isinstance(tree, ast.Module):
            _note(reading, place, tree)
    return reading if any(isinstance(tree, ast.Module) for tree in trees) else None


def _note(reading: _Reading, place: str, tree: ast.Module) -> None:
    calls: list[ast.Call] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                reading.aliases[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                reading.aliases[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            reading.defined.add(node.name)
        elif isinstance(node, ast.Call):
            calls.append(node)
    calls.sort(key=lambda call: call.lineno)
    reading.nodes += [(place or f"line {call.lineno}", call) for call in calls]


def _called(call: ast.Call, aliases: Mapping[str, str]) -> str:
    """Return the dotted name of what is called, as its module knows it; ".shuffle" for a method of some object."""
    parts: list[str] = []
    node: ast.expr = call.func
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    names = list(reversed(parts))
    if not isinstance(node, ast.Name):
        return f".{names[-1]}" if names else ""
    if node.id in aliases:
        return ".".join([aliases[node.id], *names])
    return f".{names[-1]}" if names and node.id != "self" else ".".join([node.id, *names])


def _seeds(name: str, call: ast.Call) -> frozenset[str]:
    """Return the global generators that a call seeds."""
    found = next((which for known, which in _SEEDERS.items() if _matches(name, known)), frozenset())
    return found if call.args or call.keywords or found is _EVERYWHERE else frozenset()


def _unseeded(name: str, call: ast.Call, seeded: set[str], defined: set[str]) -> str:
    """Return what to write instead of a call that draws without a seed; "" for any other call."""
    if name.rpartition(".")[2] in defined or any(keyword.arg is None for keyword in call.keywords):
        return ""  # their own function, or arguments that cannot be seen (**settings)
    shuffles = next((keyword.value for keyword in call.keywords if keyword.arg == "shuffle"), None)
    seeds: tuple[str, int | None, str, str] | None
    if name.rpartition(".")[2] in _FOLDS:
        draws = "Shuffle" in name or (shuffles is not None and not _is(shuffles, value=False))
        seeds = ("random_state", None, "numpy", "`random_state=42`") if draws else None
    elif name in (".shuffle", ".sample"):
        # A sample without a share of rows is a distribution's.
        is_frame = name == ".shuffle" or any(keyword.arg == "frac" for keyword in call.keywords)
        arguments, position, advice = _METHODS[name[1:]]
        seeds = (arguments, position, "numpy", advice) if is_frame else None
    else:
        seeds = next((how for known, how in _DRAWS.items() if _matches(name, known)), None)
        seeds = None if shuffles is not None and _is(shuffles, value=False) else seeds
    if seeds is None:
        return ""
    arguments, position, library, advice = seeds
    return "" if library in seeded or _given(call, arguments, position) else advice


def _matches(name: str, known: str) -> bool:
    return name == known or ("." not in known and name.endswith("." + known))


def _given(call: ast.Call, arguments: str, position: int | None) -> bool:
    """Return whether one of the arguments is given and is not None."""
    if position is not None and len(call.args) > position:
        return not _is(call.args[position], value=None)
    return any(k.arg in arguments.split() and not _is(k.value, value=None) for k in call.keywords)


def _is(node: ast.expr, *, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _shown(name: str, call: ast.Call) -> str:
    """Return the call as written, if it is short: writing out a huge one takes long."""
    if sum(1 for _ in islice(ast.walk(call), _MOST_NODES)) == _MOST_NODES:
        return f"{name.lstrip('.')[:_SHOWN]}(…)"
    text = ast.unparse(call)
    return text[:_SHOWN] + "…" * (len(text) > _SHOWN)
