"""A pytest plugin for `bench.engine_mutants`: tests are collected once, and each mutant gets a fork of the session.

A fork puts the mutant's code into the functions that are already loaded; the changed file on the disk reaches every
process that its tests start. Environment: MUTANTS_IN names a JSON file with `mutants` (fields of `Mutant`), `ranks`
(mutant to test files, nearest first) and `seconds` (test to its duration); MUTANTS_OUT gets a line for each mutant.
"""

import contextlib
import gc
import json
import os
import select
import signal
import time
import warnings
from pathlib import Path
from types import CodeType, FunctionType
from typing import Final

import pytest

from bench.engine_mutants import Mutant, Tree

BUDGET_S: Final = 15.0
"""How long the tests that a mutant meets take together, by their durations without it."""
LONGEST_S: Final = 3.0
"""The duration of the longest of them."""
TIMEOUT_S: Final = 90.0


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Fork for each mutant instead of running the tests."""
    task = json.loads(Path(os.environ["MUTANTS_IN"]).read_text("utf-8"))
    tree = Tree(Path.cwd())
    by_file: dict[str, list[pytest.Item]] = {}
    for item in session.items:
        by_file.setdefault(item.nodeid.partition("::")[0], []).append(item)
    with Path(os.environ["MUTANTS_OUT"]).open("a", encoding="utf-8") as out:
        for fields in task["mutants"]:
            mutant = Mutant(**fields)
            items: list[pytest.Item] = []
            total = 0.0
            for file in task["ranks"][str(mutant.id)]:
                for item in by_file.get(file, []):
                    lasts = task["seconds"].get(item.nodeid, 0.0)
                    if lasts <= LONGEST_S and total + lasts <= BUDGET_S:
                        items.append(item)
                        total += lasts
            started = time.monotonic()
            verdict = _try(session, tree, mutant, items)
            took = round(time.monotonic() - started, 1)
            out.write(json.dumps([mutant.id, verdict, len(items), took]) + "\n")
            out.flush()
    return True


def _try(session: pytest.Session, tree: Tree, mutant: Mutant, items: list[pytest.Item]) -> str:
    """Return the test that fails with the mutant; "" if all pass."""
    tree.apply([mutant])
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.close(reader)
        _run(session, tree.root / mutant.file, items, writer)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], TIMEOUT_S)
    outcome = os.read(reader, 65536).decode() if ready else "did not end"
    os.close(reader)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    tree.apply([])
    return {"": "crashed", "passed": ""}.get(outcome, outcome)


def _run(session: pytest.Session, path: Path, items: list[pytest.Item], writer: int) -> None:
    try:
        _take_in(path)
        session.items = items
        for index, item in enumerate(items):
            following = items[index + 1] if index + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                os.write(writer, item.nodeid.encode())
                os._exit(1)
        os.write(writer, b"passed")
    except BaseException as error:
        os.write(writer, f"crashed: {type(error).__name__}".encode())
    os._exit(0)


def _take_in(path: Path) -> None:
    """Give the functions of a loaded file the code that the file has now."""
    new: dict[tuple[str, int], CodeType] = {}

    def gather(code: CodeType) -> None:
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                new.setdefault((constant.co_qualname, constant.co_firstlineno), constant)
                gather(constant)

    with warnings.catch_warnings(action="ignore"):
        gather(compile(path.read_text("utf-8"), str(path), "exec"))
    gc.unfreeze()  # what conftest.py has frozen would not be listed
    names = {str(path), str(path.resolve())}
    # `type`, because asking a lazy object for its class may run its code.
    functions = [o for o in gc.get_objects() if type(o) is FunctionType and o.__code__.co_filename in names]
    for function in functions:
        old = function.__code__
        found = new.get((old.co_qualname, old.co_firstlineno)) or next(
            (code for (name, _), code in new.items() if name == old.co_qualname), None
        )
        if found is not None and len(found.co_freevars) == len(old.co_freevars):
            function.__code__ = found
