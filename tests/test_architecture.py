"""ARCHITECTURE.md's arrows: a room imports only rooms below it, and the box imports nothing of viva."""

import ast
import sys
from pathlib import Path

import pytest
from rows import Rows

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "src" / "viva"
# From top to bottom; a room may import itself and the rooms after it.
ROOMS = [
    "cli",
    "release",
    "selfcheck",
    "migrate",
    "review",
    "report",
    "verify",
    "batch",
    "records",
    "marks",
    "grading",
    "examine",
    "box.outside",
    "intake",
    "course",
    "formats",
    "box.inside",
    "model",
]
# The only modules of the box that the examiner's side speaks with: both ends of one wire, to the worker, to the fork
# server, and to a process that cannot inherit a connection.
SHARED_WITH_OUTSIDE = {f"viva.box.inside.{name}" for name in ("wire", "control", "loopback")}
# A live notebook is asked in its own process: there the kernel does what the box's worker does.
SERVED_BY_A_LIVE_KERNEL = {
    f"viva.box.inside.{name}" for name in ("alarm", "files", "seeding", "sources", "spaces", "worker")
}
INSIDE_MAY_USE = {
    *("numpy", "msgpack", "torch", "IPython", "traitlets", "matplotlib", "matplotlib_inline"),
    *("ipykernel", "jupyter_client"),  # where the assignment asks for a kernel
}


def room_of(module: str) -> str | None:
    name = module.removeprefix("viva.")
    return next((room for room in ROOMS if name == room or name.startswith(room + ".")), None)


def module_name(path: Path) -> str:
    parts = path.relative_to(ENGINE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
    return found


FILES = sorted(p for p in ENGINE.rglob("*.py"))
INSIDE = sorted((ENGINE / "box" / "inside").rglob("*.py"))


def test_imports_point_downwards() -> None:
    with Rows() as row:
        for path in FILES:
            with row(str(path.relative_to(ENGINE))):
                here = room_of(module_name(path))
                if here is None:
                    continue
                for imported in imports_of(path):
                    there = room_of(imported) if imported.startswith("viva.") else None
                    if there is None:
                        continue
                    if there == "box.inside" and here != "box.inside":
                        allowed = SHARED_WITH_OUTSIDE | (SERVED_BY_A_LIVE_KERNEL if here == "selfcheck" else set())
                        assert imported in allowed, f"{imported} belongs to the box alone"
                        continue
                    assert ROOMS.index(there) >= ROOMS.index(here), f"{here} must not import {imported}"


def test_the_inside_of_the_box_needs_only_what_every_interpreter_has() -> None:
    with Rows() as row:
        for path in INSIDE:
            with row(path.name):
                allowed = INSIDE_MAY_USE | set(sys.stdlib_module_names)
                strangers = {name.split(".")[0] for name in imports_of(path)} - allowed
                assert not strangers, f"{path.name} imports {strangers}"


def test_every_file_of_the_engine_lies_in_a_room() -> None:
    homeless = [str(p.relative_to(ENGINE)) for p in FILES if room_of(module_name(p)) is None]
    assert homeless == ["__init__.py", "box/__init__.py"]


def test_the_architecture_page_names_every_room() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    missing = [room for room in ROOMS if f"`{room.replace('.', '/')}/`" not in page]
    assert not missing


@pytest.mark.parametrize("name", ["reference", "key", "graders"])
def test_helpers_in_the_box_hold_no_answers(name: str) -> None:
    paths = [*ROOT.glob("graders/*/inside.py"), *ROOT.glob("graders/*/inside/**/*.py")]
    assert paths
    for path in paths:
        assert not any(name in imported.split(".") for imported in imports_of(path)), f"{path} imports {name}"
