"""Measure the test suite: how many of a fixed sample of the engine's mutants does `make test` notice?

`python -m bench.engine_mutants sample` draws the sample (seed and shares below) and writes engine_mutants.json: it is
drawn once and kept, so that two states of the suite meet the same mutants. `python -m bench.engine_mutants run OUT
[TREE …]` runs it in copies of the repository, each with its own virtual environment in `.venv`, because examiners
read viva from there; without TREE, it makes one. A tree is changed while it runs.

First, each mutant meets the tests nearest to its module, until one fails (`bench.mutant_server`). Then all survivors
are put into one tree together and meet the whole suite. Each test that fails is traced to its mutant by halving the
set, until the suite is green. A mutant counts as killed only if a test fails, or does not end, with that mutant alone.
"""

import ast
import difflib
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
SAMPLE: Final = HERE / "engine_mutants.json"
SEED: Final = 20261122
SHARES: Final = {
    "compare": 60,
    "grading": 40,
    "examiner": 40,
    "pipeline": 15,
    "replay": 15,
    "formats": 50,
    "records": 40,
    "submissions": 40,
    "sandbox/guest/transport/wire.py": 20,
}
"""The number of mutants for each package of src/viva."""
FAMILIES: Final = re.compile(
    r"core/(ReplaceBinaryOperator|ReplaceComparisonOperator|ReplaceUnaryOperator|ReplaceTrue|ReplaceFalse|ReplaceAnd"
    r"|ReplaceOr|AddNot|NumberReplacer|ReplaceBreak|ReplaceContinue|ZeroIteration)"
)
SUITE: Final = ("-m", "not long and not nightly and not training", "-q", "-p", "no:cacheprovider", "--tb=no")
NOTHING_RAN: Final = 5
"""Status of pytest if all tests of a file are left out."""
WHOLE: Final = ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")


@dataclass(frozen=True)
class Mutant:
    """Lines of one function, and what replaces them."""

    id: int
    file: str
    operator: str
    line: int
    """Where it began when the sample was drawn."""
    before: str
    after: str
    occurrence: int = 0
    """Which of the occurrences of the text `before`."""


def _drawn(path: Path, random_: random.Random, wanted: int) -> Iterator[tuple[str, int, str, str, int]]:
    """Yield different mutants of one file in random order: operator, line, text before and after, occurrence."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    source = path.read_text("utf-8")
    lines = source.splitlines(keepends=True)
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    bodies = {line for f in functions for line in range(f.body[0].lineno, (f.end_lineno or 0) + 1)}
    nodes = list(ast_nodes(get_ast(source)))
    places: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for name in sorted(filter(FAMILIES.match, operator_names())):
        operator = get_operator(name)()
        found = (start[0] for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, line in enumerate(found):
            if line in bodies:
                places[line].append((name, occurrence))
    for line in random_.sample(sorted(places), min(len(places), wanted)):
        name, occurrence = random_.choice(places[line])
        changed = mutate_code(source, get_operator(name)(), occurrence)
        if changed is not None and _differs(changed, source):
            after = changed.splitlines(keepends=True)
            matcher = difflib.SequenceMatcher(None, lines, after, autojunk=False)
            hunks = [h for h in matcher.get_opcodes() if h[0] != "equal"]
            (_, a, b, c, d) = hunks[0]
            text = "".join(lines[a:b])
            if len(hunks) == 1 and not text.lstrip().startswith(("def ", "class ", '"""')):
                yield name, a + 1, text, "".join(after[c:d]), "".join(lines[:a]).count(text)


def _differs(changed: str, source: str) -> bool:
    try:
        return ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


def sample(engine: Path) -> list[Mutant]:
    """Draw the sample: files of a package in proportion to their length, no two mutants of one line."""
    random_ = random.Random(SEED)
    found: list[Mutant] = []
    for package, share in SHARES.items():
        files = [engine / package] if package.endswith(".py") else sorted((engine / package).rglob("*.py"))
        lengths = [len(f.read_text("utf-8").splitlines()) for f in files]
        counts = Counter(random_.choices(files, lengths, k=2 * share))
        pool: list[Mutant] = []
        for file in sorted(counts):
            seen: set[int] = set()
            for name, line, before, after, occurrence in _drawn(file, random_, 2 * counts[file]):
                if line not in seen and len(seen) < counts[file]:
                    seen.add(line)
                    at = str(file.relative_to(engine.parents[1]))
                    pool.append(Mutant(0, at, name, line, before, after, occurrence))
        found += random_.sample(pool, min(share, len(pool)))
    return [Mutant(**asdict(m) | {"id": i}) for i, m in enumerate(found)]


@dataclass
class Tree:
    """A copy of the repository whose engine is changed and restored."""

    root: Path
    _clock: float = field(default_factory=time.time)
    _changed: dict[Path, str] = field(default_factory=dict)

    def holds(self, mutant: Mutant) -> bool:
        """Return whether the line of a mutant is still there."""
        path = self.root / mutant.file
        return path.is_file() and path.read_text("utf-8").count(mutant.before) > mutant.occurrence

    def apply(self, mutants: Iterable[Mutant]) -> None:
        """Put the tree into the state with exactly these mutants."""
        texts: dict[Path, str] = {}
        by_file: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in mutants:
            by_file[mutant.file].append(mutant)
        for file, of_file in by_file.items():
            path = self.root / file
            text = self._changed.get(path) or path.read_text("utf-8")
            spans = []
            for m in of_file:
                start = -1
                for _ in range(m.occurrence + 1):
                    start = text.index(m.before, start + 1)
                spans.append((start, m))
            self._changed.setdefault(path, text)
            for start, m in sorted(spans, key=lambda s: -s[0]):
                text = text[:start] + m.after + text[start + len(m.before) :]
            texts[path] = text
        for path, original in list(self._changed.items()):
            self._write(path, texts.get(path, original))
            if path not in texts:
                del self._changed[path]

    def _write(self, path: Path, text: str) -> None:
        # A compiled file is current if seconds and size are: each state gets a separate second.
        self._clock += 2
        path.write_text(text, "utf-8")
        os.utime(path, (self._clock, self._clock))

    def test(self, arguments: Sequence[str], timeout_s: float) -> tuple[bool | None, dict[str, float], list[str]]:
        """Run tests; return whether all passed (None if they did not end), seconds by test, and the failed tests."""
        with tempfile.NamedTemporaryFile(suffix=".xml") as report:
            told = [f"--junitxml={report.name}", "-o", "junit_family=xunit1"]
            process = subprocess.Popen(
                [".venv/bin/python", "-m", "pytest", *SUITE, *told, *arguments],
                cwd=self.root,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                status = process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return None, {}, []
            seconds, failed = _read_report(Path(report.name))
        return status in (0, NOTHING_RAN), seconds, failed


def _read_report(path: Path) -> tuple[dict[str, float], list[str]]:
    seconds: dict[str, float] = defaultdict(float)
    failed = []
    try:
        cases = list(ET.parse(path).iter("testcase"))
    except ET.ParseError:
        return {}, []
    for case in cases:
        file = case.get("file") or ""
        seconds[f"{file}::{case.get('name')}"] += float(case.get("time") or 0)
        if case.find("failure") is not None or case.find("error") is not None:
            name = case.get("name") or ""
            collected = name != file.removesuffix(".py").replace("/", ".")
            failed.append(f"{file}::{name}" if collected else file)
    return dict(seconds), failed


@cache
def _imports(path: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(Path(path).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def ranked(tree: Tree, mutant: Mutant, seconds: dict[str, float]) -> list[str]:
    """Return the test files that may notice a mutant: of its module, its folder, its package; quick ones first."""
    module = mutant.file.removeprefix("src/").removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    above, top = module.rpartition(".")[0], ".".join(module.split(".")[:2])
    folders = mutant.file.removeprefix("src/viva/").split("/")[:-1]

    def distance(file: str) -> int:
        def imported(package: str) -> bool:
            return any(f == package or f.startswith(package + ".") for f in _imports(str(tree.root / file)))

        near = (imported(module), folders[-1] in file.split("/"), imported(above), folders[0] in file.split("/"))
        return next((step for step, true in enumerate((*near, imported(top))) if true), 5)

    return [file for far, _, file in sorted((distance(f), s, f) for f, s in seconds.items()) if far < 5]


def _near(tree: Tree, mutants: list[Mutant], tests: dict[str, float]) -> dict[int, str]:
    """Return which mutants the nearest tests notice, and by which test; each mutant gets a fork of one session."""
    seconds: dict[str, float] = defaultdict(float)
    for test, s in tests.items():
        if (tree.root / (file := test.partition("::")[0])).is_file():
            seconds[file] += s
    ranks = {m.id: ranked(tree, m, seconds) for m in mutants}
    files = sorted({file for files in ranks.values() for file in files})
    beside = tree.root.with_name(f"{tree.root.name}.mutants")  # tests read every text of the tree
    beside.mkdir(exist_ok=True)
    task, told, log_file = beside / "in.json", beside / "out.jsonl", beside / "log"
    task.write_text(json.dumps({"mutants": [asdict(m) for m in mutants], "ranks": ranks, "seconds": tests}), "utf-8")
    told.write_text("", "utf-8")
    command = [".venv/bin/python", "-m", "pytest", *SUITE, "-p", "bench.mutant_server", *files]
    given = os.environ | {"MUTANTS_IN": str(task), "MUTANTS_OUT": str(told)}
    with log_file.open("w") as log:
        subprocess.run(command, cwd=tree.root, env=given, stdout=log, stderr=log, stdin=subprocess.DEVNULL, check=False)
    rows = [json.loads(line) for line in told.read_text("utf-8").splitlines()]
    assert len(rows) == len(mutants), f"the session ended early: see {log_file}"
    return {id_: verdict for id_, verdict, *_ in rows if verdict}


def run(trees: list[Tree], out: Path) -> None:
    """Run the sample and write the verdicts, as they come, to `out`."""
    for tree in trees:  # an interrupted run leaves mutants in the tree
        subprocess.run(["git", "checkout", "--quiet", "--", "src"], cwd=tree.root, check=True)
    drawn = [Mutant(**m) for m in json.loads(SAMPLE.read_text("utf-8"))]
    mutants = [m for m in drawn if trees[0].holds(m)]
    if len(mutants) < len(drawn):
        gone = ", ".join(str(m.id) for m in drawn if m not in mutants)
        print(f"not tried, because their lines are gone (write the new ones into {SAMPLE.name}): {gone}", flush=True)
    state = json.loads(out.read_text("utf-8")) if out.exists() else {"seconds": {}, "killed": {}, "near": []}

    def save() -> None:
        out.write_text(json.dumps(state, indent=1), "utf-8")
        print(f"{len(state['killed'])} of {len(mutants)} killed", flush=True)

    if not state["seconds"]:
        green, state["seconds"], failed = trees[0].test(WHOLE, 3600)
        assert green, f"the suite must be green before it is measured: {failed}"
        save()
    if untried := [m for m in mutants if m.id not in state["near"]]:
        with ThreadPoolExecutor(len(trees)) as pool:
            parts = [untried[i :: len(trees)] for i in range(len(trees))]
            for found in pool.map(_near, trees, parts, itertools.repeat(state["seconds"])):
                state["killed"] |= {str(id_): test for id_, test in found.items()}
        state["near"] = [m.id for m in mutants]
        save()
    alive = [m for m in mutants if str(m.id) not in state["killed"]]
    while alive:
        trees[0].apply(alive)
        passed, _, failed = trees[0].test(WHOLE, 3600)
        if passed:
            break
        found = _trace(trees[0], alive, failed)
        if not found:
            print("failures that no mutant causes alone:", failed, flush=True)
            break
        state["killed"] |= {str(id_): test for id_, test in found.items()}
        alive = [m for m in alive if m.id not in found]
        save()
    trees[0].apply([])
    by_package = Counter(_package(m) for m in mutants)
    killed = Counter(_package(m) for m in mutants if str(m.id) in state["killed"])
    for package, count in by_package.items():
        print(f"{package}: {killed[package]} of {count}")
    print(f"killed: {killed.total()} of {len(mutants)} ({killed.total() / len(mutants):.1%})")


def _package(mutant: Mutant) -> str:
    return next(p for p in SHARES if mutant.file.startswith(f"src/viva/{p}"))


def _trace(tree: Tree, alive: list[Mutant], failed: list[str]) -> dict[int, str]:
    """Return which mutants alone make tests fail, by halving; a test file is repeated until it passes without them."""
    found: dict[int, str] = {}
    for test in dict.fromkeys(t.split("::")[0] for t in failed):
        first = next(t for t in failed if t.startswith(test))
        rest = [m for m in alive if m.id not in found]

        def fails(some: list[Mutant], first: str = first) -> bool:
            tree.apply(some)
            return not tree.test([first], 240)[0]

        if fails([]):
            print(f"{first} fails without any mutant", flush=True)
            continue
        while rest and fails(rest):
            suspects = rest
            while len(suspects) > 1:
                half = suspects[: len(suspects) // 2]
                other = suspects[len(half) :]
                suspects = half if fails(half) else other if fails(other) else []
            if not suspects or not fails(suspects):
                break
            found[suspects[0].id] = first
            print(f"killed {suspects[0].id} by {first}", flush=True)
            rest = [m for m in rest if m.id != suspects[0].id]
    return found


def _own_tree(folder: Path) -> Tree:
    """Clone the repository and install what its tests need."""
    subprocess.run(["git", "clone", "--quiet", HERE.parent, folder], check=True)
    subprocess.run(["make", "--quiet", ".venv/.installed-dev"], cwd=folder, check=True)
    return Tree(folder.resolve())


def main(arguments: Sequence[str]) -> None:
    """Draw the sample, or run it."""
    if arguments[0] == "sample":
        drawn = sample(HERE.parent / "src" / "viva")
        SAMPLE.write_text(json.dumps([asdict(m) for m in drawn], indent=1, ensure_ascii=False) + "\n", "utf-8")
        return
    out = Path(arguments[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    run([Tree(Path(p).resolve()) for p in arguments[2:]] or [_own_tree(out.with_suffix(""))], out)


if __name__ == "__main__":
    main(sys.argv[1:])
