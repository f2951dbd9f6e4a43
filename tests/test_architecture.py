"""Packages import only packages below them, the core imports no plugin, and none is larger than its budget."""

import ast
import functools
import graphlib
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.code_size import CodeSize, format_sizes, measure_code, measure_source
from tests.support.table_rows import Rows
from viva.hooks import OWN

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "src" / "viva"
# From top to bottom; a package may import itself and the packages after it.
PLUGINS = [
    f"plugins.{name}"
    for name in (
        "review",
        "cohorts",
        "report",
        "release",
        "authoring",
        "selfcheck",
        "verify",
        "suites",
        "cluster",
        "records",
        "ci",
        "training",
    )
]
CORE = [
    "cli",
    "pipeline",
    "examiner",
    "grading",
    "compare",
    "proxies",
    "submissions",
    "formats",
    "config",
    "model",
    "sandbox",
    "sandbox.guest",
]
PACKAGES = [*PLUGINS, *CORE]
# The only modules of the box that the examiner's side speaks with: both ends of one wire, to the worker, to the fork
# server, and to a process that cannot inherit a connection; the table of the types that cross; and which files count.
SHARED_WITH_OUTSIDE = {
    "viva.sandbox.guest.loading.archives",
    "viva.sandbox.guest.loading.student_files",
    "viva.sandbox.guest.process.counted_time",
    *(
        f"viva.sandbox.guest.transport.{name}"
        for name in (
            *("control", "library_types", "loopback", "message_types", "optional_layers", "value_types", "wire"),
        )
    ),
}
# What the rest of viva may import of the sandbox's trusted side; `api` has what a program outside of viva needs.
SANDBOX_USED_OUTSIDE = {
    "viva.sandbox",
    *(f"viva.sandbox.{name}" for name in ("api", "errors", "folder_locks", "gpu", "limits", "reply", "system", "tier")),
    *(f"viva.sandbox.host.{name}" for name in ("box", "box_pool", "fork_server", "ready_message")),
    *(f"viva.sandbox.host.{name}" for name in ("gpu", "gpu.check_all", "gpu.gpu_boxes", "gpu.gpus")),
    *(f"viva.sandbox.host.{name}" for name in ("levels.detect_levels", "limits", "limits.host_memory")),
    *(f"viva.sandbox.host.limits.{name}" for name in ("processes", "uids")),
}
# A live notebook is asked in its own process: there the kernel does what the box's worker does.
SERVED_BY_A_LIVE_KERNEL = {
    *(f"viva.sandbox.guest.process.{name}" for name in ("alarm", "seeding", "worker")),
    *(f"viva.sandbox.guest.loading.{name}" for name in ("workdir_files", "sources", "namespaces")),
}
INSIDE_MAY_USE = {
    *("numpy", "msgpack", "torch", "pandas", "IPython", "traitlets", "matplotlib", "matplotlib_inline"),
}


def package_of(module: str) -> str | None:
    name = module.removeprefix("viva.")
    found = [package for package in PACKAGES if name == package or name.startswith(package + ".")]
    return max(found, key=len, default=None)


def module_name(path: Path) -> str:
    parts = path.relative_to(ENGINE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def tree_of(source: str) -> ast.Module:
    return ast.parse(source)


@functools.cache
def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(tree_of(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
    return found


FILES = sorted(p for p in ENGINE.rglob("*.py"))
INSIDE = sorted((ENGINE / "sandbox" / "guest").rglob("*.py"))


def test_imports_point_downwards() -> None:
    with Rows() as row:
        for path in FILES:
            with row(str(path.relative_to(ENGINE))):
                here = package_of(module_name(path))
                if here is None:
                    continue
                for imported in imports_of(path):
                    there = package_of(imported) if imported.startswith("viva.") else None
                    if there is None:
                        continue
                    if there == "sandbox.guest" and here != "sandbox.guest":
                        allowed = SHARED_WITH_OUTSIDE | (
                            SERVED_BY_A_LIVE_KERNEL if here == "plugins.selfcheck" else set()
                        )
                        assert imported in allowed, f"{imported} belongs to the box alone"
                        continue
                    assert PACKAGES.index(there) >= PACKAGES.index(here), f"{here} must not import {imported}"
                    if there == "sandbox" and here != "sandbox":
                        assert imported in SANDBOX_USED_OUTSIDE, f"{imported} is internal to the sandbox"


def test_core_imports_no_plugin() -> None:
    """Imports inside functions and for type checkers count; `viva.hooks` names plugins as texts."""
    with Rows() as row:
        for path in FILES:
            if not path.is_relative_to(ENGINE / "plugins"):
                with row(str(path.relative_to(ENGINE))):
                    assert not [name for name in imports_of(path) if name.startswith("viva.plugins")]


def test_plugins_are_registered() -> None:
    registered = set(PLUGINS) - {"plugins.training"}  # authors import it; it adds nothing to the program
    assert {f"viva.{name}.hooks" for name in registered} == set(OWN)


WRITES = re.compile(r"write_atomically|\.write_(text|bytes)\(|open\([^)]*[\"'][wax]|\bshutil\.(copy|move)")


def test_commands_write_no_file_themselves() -> None:
    """The packages that make a file's content write it."""
    with Rows() as row:
        for path in (*(ENGINE / "cli").rglob("*.py"), *ENGINE.glob("plugins/*/commands/*.py")):
            with row(str(path.relative_to(ENGINE))):
                assert not WRITES.search(path.read_text("utf-8"))
    assert any(WRITES.search(path.read_text("utf-8")) for path in (ENGINE / "pipeline").glob("*.py"))


def test_sandbox_imports_only_what_every_interpreter_has() -> None:
    with Rows() as row:
        for path in INSIDE:
            with row(path.name):
                allowed = INSIDE_MAY_USE | set(sys.stdlib_module_names)
                strangers = {name.split(".")[0] for name in imports_of(path)} - allowed
                assert not strangers, f"{path.name} imports {strangers}"


def test_every_file_of_the_engine_lies_in_a_package() -> None:
    homeless = [str(p.relative_to(ENGINE)) for p in FILES if package_of(module_name(p)) is None]
    assert homeless == ["__init__.py", "__main__.py", "hooks.py", "plugins/__init__.py"]


def test_the_architecture_page_names_every_package() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    missing = [package for package in PACKAGES if f"`{package.replace('.', '/')}/`" not in page]
    assert not missing


@pytest.mark.parametrize("name", ["reference", "key", "graders"])
def test_helpers_in_the_box_hold_no_answers(name: str) -> None:
    paths = [*ROOT.glob("graders/*/inside.py"), *ROOT.glob("graders/*/inside/**/*.py")]
    assert paths
    for path in paths:
        assert not any(name in imported.split(".") for imported in imports_of(path)), f"{path} imports {name}"


def test_no_modules_import_each_other() -> None:
    """Imports inside functions count; imports for type checkers alone do not."""
    files = {module_name(path): path for path in FILES if "templates" not in path.parts}
    graph = import_graph({name: path.read_text("utf-8") for name, path in files.items()}, packages_of(files))
    assert circle_in(graph) == []


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ("import viva.one", ["viva.one", "viva.two"]),
        ("from viva.one import name", ["viva.one", "viva.two"]),
        ("from viva import one", ["viva.one", "viva.two"]),
        ("from . import one", ["viva.one", "viva.two"]),
        ("from .one import name", ["viva.one", "viva.two"]),
        ("def ask():\n    from viva.one import name", ["viva.one", "viva.two"]),
        ("if TYPE_CHECKING:\n    from viva.one import name", []),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import viva.one", ["viva.one", "viva.two"]),
        ("import viva.three", []),
    ],
)
def test_a_circle_is_found_in_every_form(other: str, found: list[str]) -> None:
    sources = {"viva": "", "viva.one": "import viva.two", "viva.two": other, "viva.three": ""}
    assert circle_in(import_graph(sources, {"viva"})) == found


def packages_of(files: Mapping[str, Path]) -> set[str]:
    return {name for name, path in files.items() if path.name == "__init__.py"}


def circle_in(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules of one circle, sorted; empty where there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return sorted(set(error.args[1]))
    return []


def import_graph(sources: Mapping[str, str], packages: set[str]) -> dict[str, set[str]]:
    """For each module the modules among `sources` that it imports, at once or later, when it runs."""
    graph = {}
    for module, source in sources.items():
        package = module if module in packages else module.rpartition(".")[0]
        named = {name for node in run_imports(tree_of(source)) for name in names_in(node, package)}
        # `from package import name` is about the module of that name, or else about the package.
        found = {name if name in sources else name.rpartition(".")[0] for name in named}
        graph[module] = {name for name in found if name in sources and name != module}
    return graph


def run_imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports below a node that are carried out when the program runs."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    of_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    for child in node.orelse if of_types and isinstance(node, ast.If) else ast.iter_child_nodes(node):
        yield from run_imports(child)


def names_in(node: ast.Import | ast.ImportFrom, package: str) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    base = node.module or ""
    if node.level:
        parts = package.split(".")
        base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
    return {f"{base}.{alias.name}" for alias in node.names}


def test_the_development_page_names_files_that_exist() -> None:
    page = (ROOT / "docs" / "development.md").read_text("utf-8")
    paths = set(re.findall(r"`((?:src|tests|docs)/[\w./-]+)`", page))
    assert paths
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_packages_stay_within_their_budgets() -> None:
    """`[tool.viva.size]` of pyproject.toml is lowered with the code; `pytest -s` shows the table."""
    budgets = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["viva"]["size"]
    sizes = sizes_of_packages()
    print(f"\n{format_sizes(sizes)}")
    assert budgets.keys() == {*sizes, "all"}
    with Rows() as row:
        for name, size in [*sizes.items(), ("all", sum(sizes.values(), CodeSize()))]:
            with row(name):
                assert not size.exceeds(budgets[name])


def sizes_of_packages() -> dict[str, CodeSize]:
    names = [package_of(module_name(path)) or "top" for path in FILES]
    order = [*PACKAGES, "top"]
    return {name: measure_code(p for p, n in zip(FILES, names, strict=True) if n == name) for name in order}


def test_code_size_counts_branches_and_no_docstrings() -> None:
    source = '"""Text."""\nif a and b or c:\n    x = [y for y in z if y]\n'
    assert measure_source(source) == CodeSize(files=1, lines=3, nodes=25, statements=2, branches=4)
