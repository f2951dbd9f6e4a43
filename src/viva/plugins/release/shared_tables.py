"""Tables of inputs at the top of test files: students get the entries that public tests name, and no others."""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

WHOLE: Final = object()
"""A use that does not say which entry of a table it needs."""
WRITTEN: Final = object()
"""A use by a variable: it needs the entries whose keys the code writes somewhere, as in `parametrize`."""
PARTLY: Final = object()
"""A use that needs some entries, which only running the code would show."""
Uses = Mapping[str, list[Any]]
"""By name: constants and slices that select entries, WHOLE, WRITTEN or PARTLY."""


def with_named_entries(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the sources with those entries of their tables alone whose keys or places the code writes.

    A table of which the code uses all entries, or of which it does not say which ones, is left as it is.

    Args:
        sources: the test files and modules that are released together, by their paths.

    Raises:
        SyntaxError: a source is not valid Python.
    """
    trees = {path: ast.parse(source) for path, source in sources.items()}
    uses = _uses(trees.values())
    written = _written_keys(trees.values(), uses)
    for tree in trees.values():
        tree.body = [node for node in tree.body if _is_needed(node, uses, written)]
        for node in tree.body:
            _keep_named(node, uses, written)
    return {path: ast.unparse(tree) + "\n" for path, tree in trees.items()}


def doubtful_tables(sources: Mapping[str, str], others: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the path and name of each table of which it is not certain that students may read all entries.

    These are the tables that tests which are not released need as well, and of which the released code uses entries
    that it computes.

    Args:
        sources: what is released, by path.
        others: what the tests that are not released need, by path.
    """
    trees = {path: ast.parse(source) for path, source in sources.items()}
    uses = _uses(trees.values())
    found = []
    for path, tree in trees.items():
        elsewhere = _tables(ast.parse(others.get(path, "")))
        for name, value in _tables(tree).items():
            computed = PARTLY in uses[name] or (WRITTEN in uses[name] and not isinstance(value, ast.Dict))
            if computed and name in elsewhere:
                found.append((path, name))
    return found


def _tables(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the tables of a file: names at its top to which it assigns more than one flat list, as of words."""
    tables = {}
    for node in tree.body:
        for name, value in _assigned(node):
            if _is_table(value):
                tables[name] = value
    return tables


def _is_table(value: ast.expr) -> bool:
    displays = [node for node in ast.walk(value) if isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.Set)]
    return len(displays) > 1 or any(isinstance(display, ast.Dict) for display in displays)


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        yield node.targets[0].id, node.value
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        yield node.target.id, node.value


def _uses(trees: Iterable[ast.Module]) -> Uses:
    """Return how code uses each name, also as an attribute of the module that defines it."""
    uses: dict[str, list[Any]] = defaultdict(list)
    for tree in trees:
        filled = {id(entry.value) for statement in tree.body for entry in _filled_entries(statement)}
        selected: dict[int, Any] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript):
                selected[id(node.value)] = _selection(node.slice)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
                selected[id(node.func.value)] = _selection(node.args[0]) if node.args else WHOLE
            elif isinstance(node, ast.comprehension | ast.For) and _is_filter(node):
                selected |= {id(part): PARTLY for part in ast.walk(node.iter)}
        for node in ast.walk(tree):
            name = _read_name(node)
            if name and id(node) not in filled:
                uses[name].append(selected.get(id(node), WHOLE))
    return uses


def _is_filter(loop: ast.comprehension | ast.For) -> bool:
    """Return whether a loop has a condition about its items alone: it takes some of them."""
    if isinstance(loop, ast.comprehension):
        conditions = loop.ifs
    else:
        conditions = [statement.test for statement in loop.body if isinstance(statement, ast.If)]
    items = _names_in(loop.target)
    return any(_names_in(condition) <= items for condition in conditions)


def _names_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _filled_entries(node: ast.stmt) -> Iterator[ast.Subscript]:
    """Yield what a statement such as `CASES["a"] = …` assigns to."""
    for target in node.targets if isinstance(node, ast.Assign) else ():
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            yield target


def _is_needed(node: ast.stmt, uses: Uses, written: frozenset[str]) -> bool:
    """Return False for a statement that only fills entries of tables which no code selects."""
    entries = [*_filled_entries(node)]
    for entry in entries:
        selected = uses.get(_read_name(entry.value), ())
        if _is_selected(_selection(entry.slice), selected, written):
            return True
    return not entries


def _read_name(node: ast.AST) -> str:
    """Return the name that a part of the code reads; empty if it reads none."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.alias) and node.asname is not None:
        return node.name
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _selection(node: ast.expr) -> Any:
    """Return the constant or slice that selects an entry, or how it is computed."""
    try:
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if part is None else ast.literal_eval(part) for part in parts))
        return ast.literal_eval(node)
    except ValueError:
        return WRITTEN if isinstance(node, ast.Name) else PARTLY


def _written_keys(trees: Collection[ast.Module], uses: Uses) -> frozenset[str]:
    """Return the texts that code writes anywhere but as keys of tables which it does not use as a whole."""
    own_keys: set[int] = set()
    for tree in trees:
        for node in tree.body:
            own_keys.update(id(entry.slice) for entry in _filled_entries(node))
            for name, value in _assigned(node):
                if isinstance(value, ast.Dict) and WHOLE not in uses.get(name, [WHOLE]):
                    own_keys.update(map(id, value.keys))
    texts = set()
    for tree in trees:
        for inner in ast.walk(tree):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and id(inner) not in own_keys:
                texts.add(inner.value)
    return frozenset(texts)


def _keep_named(node: ast.stmt, uses: Uses, written: frozenset[str]) -> None:
    """Remove the entries of a statement's table that no code selects; those of a list become None."""
    if isinstance(node, ast.ClassDef) and _is_namespace(node):
        members = [part for part in node.body if all(name in uses for name, _ in _assigned(part))]
        node.body = members or [ast.Pass()]
    for name, value in _assigned(node):
        selected = uses.get(name, [WHOLE])
        if WHOLE in selected or PARTLY in selected:
            continue
        if isinstance(value, ast.Dict):
            _keep_keys(value, selected, written)
        elif isinstance(value, ast.List | ast.Tuple) and WRITTEN not in selected:
            wanted = _selected_places(len(value.elts), selected)
            for place in range(len(value.elts)):
                if place not in wanted:
                    value.elts[place] = ast.Constant(None)


def _keep_keys(table: ast.Dict, selected: Sequence[Any], written: frozenset[str]) -> None:
    """Remove the entries of a dict that no code selects; one whose keys are computed stays."""
    if not all(isinstance(key, ast.Constant) for key in table.keys):
        return
    pairs = [*zip(table.keys, table.values, strict=True)]
    table.keys, table.values = [], []
    for key, value in pairs:
        if key is not None and _is_selected(ast.literal_eval(key), selected, written):
            table.keys.append(key)
            table.values.append(value)


def _is_namespace(node: ast.ClassDef) -> bool:
    """Return whether a class only holds values: it has no methods, which may use what no other code names."""
    is_plain = not (node.bases or node.keywords or node.decorator_list)
    return is_plain and all(isinstance(part, ast.Assign | ast.AnnAssign | ast.Expr) for part in node.body)


def _is_selected(key: object, selected: Sequence[Any], written: frozenset[str]) -> bool:
    """Return whether code may select the entry of a key."""
    if WHOLE in selected or PARTLY in selected or key in selected:
        return True
    return WRITTEN in selected and (not isinstance(key, str) or key in written)


def _selected_places(size: int, selected: Sequence[Any]) -> set[int]:
    """Return the places of a list that some of the constants and slices select."""
    places = range(size)
    found: set[int] = set()
    for one in selected:
        if isinstance(one, slice):
            found.update(places[one])
        elif isinstance(one, int) and -size <= one < size:
            found.add(places[one])
    return found
