"""Compare viva with otter-grader, nbgrader, nbconvert and bare pytest: the same class, interleaved in one run.

What one more submission costs viva is the difference between a class of 5·SIZE and one of SIZE, so that no start is in
it (starts differ by a tenth of a second from each other, and more submissions make that small); what one costs with the
start is a whole run over SIZE, divided. The same for nbgrader, which grades a class in one call, with SIZE and SIZE/2:
it is compared by what each of a class of SIZE costs it, its start included, which is paid for every class. The others
start a process for each submission.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench import environment
from bench.measure import BIN, Cost, run
from bench.small_course import name_of, total_of, write
from bench.tools import Nbgrader, NotGraded, Tool, tools_for, versions

REACH = {
    ("modules", False): {"otter run": 80, "nbgrader autograde": 28, "bare pytest": 10},
    ("modules", True): {"otter run": 110, "nbgrader autograde": 65, "bare pytest": 50},
    ("notebooks", False): {"nbconvert --execute": 20},
    ("notebooks", True): {"nbconvert --execute": 20},
}
"""The target for each tool: the factor by which viva uses less CPU."""
_MORE = 4


@dataclass
class Classes:
    """Costs of a tool that grades a class in one call: a small class, and one with `added` more."""

    size: int
    added: int
    small: list[Cost] = field(default_factory=list)
    large: list[Cost] = field(default_factory=list)

    def more(self, what: str) -> float:
        """Return the seconds of `what` that one more submission costs."""
        pairs = zip(self.small, self.large, strict=True)
        return float(statistics.median((getattr(b, what) - getattr(a, what)) / self.added for a, b in pairs))

    def shared(self, what: str, count: int) -> float:
        """Return the seconds of `what` for one submission of the class of `count`, with its share of the start."""
        costs = self.small if count == self.size else self.large
        return float(statistics.median(getattr(cost, what) / count for cost in costs))

    @property
    def peak_mib(self) -> float:
        """Return the memory of the largest process."""
        return max(cost.peak_mib for cost in self.large)


def viva(folder: Path, kind: str, count: int, workers: int = 1) -> Cost:
    """Run `viva grade` once over the first `count` submissions, at least two; raise NotGraded on a wrong total."""
    paths = [f"{kind}/{name_of(student)}" for student in range(count)]
    command = [str(BIN / "viva"), "grade", "--course", "course", "--workers", str(workers), "-o", "results", *paths]
    cost = run(command, cwd=folder)
    for student, path in enumerate(paths):
        result = folder / "results" / path / "results.json"
        found = json.loads(result.read_text())["score"]
        result.unlink()  # the next run must write its own
        if found != total_of(student):
            raise NotGraded(f"viva gave submission {student} {found:g} points instead of {total_of(student)}")
    return cost


def table(size: int, sample: int, rounds: int) -> None:
    """Measure and print; a row that cannot be measured says why."""
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors. {versions()}.")
    print("Milliseconds per submission; memory in MiB of the largest process.\n")
    print("| class | tool | cpu | wall | cpu with start | memory | viva's share of the cpu | to reach |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for torch in (False, True):
        for kind in ("modules", "notebooks"):
            with tempfile.TemporaryDirectory(prefix="bench-") as name:
                for row in rows(Path(name), kind, torch=torch, size=size, sample=sample, rounds=rounds):
                    print(row, flush=True)
    print(f"\nLoad {os.getloadavg()[0]:.1f} at the end.")


def rows(folder: Path, kind: str, *, torch: bool, size: int, sample: int, rounds: int) -> Iterator[str]:
    """Yield the rows of one class."""
    label = f"{kind}, import torch" if torch else kind
    write(folder, size=(1 + _MORE) * size, torch=torch)
    ours, refused = Classes(size, _MORE * size), dict[str, str]()
    each: list[tuple[Tool, list[Cost]]] = [(tool, []) for tool in tools_for(kind)]
    half = max(2, sample // 2)
    whole = Classes(half, half)
    nbgrader = Nbgrader()
    all_tools: list[Nbgrader | Tool] = [nbgrader, *(tool for tool, _ in each)]
    if why := environment.missing():
        refused = {tool.name: why for tool in all_tools}
    for tool in all_tools:
        if tool.name not in refused:
            tool.prepare(folder, range(size), torch=torch)
    viva(folder, kind, 2)  # bytecode is compiled once for all
    for turn in range(rounds):
        ours.small.append(viva(folder, kind, size))
        for tool, costs in each:
            students = range(turn * sample // rounds, (turn + 1) * sample // rounds)
            _unless_refused(tool.name, refused, partial(_extend, costs, tool, folder, students))
        if turn in (0, rounds - 1):  # a class in one call takes long, and its figures vary no more than the others'
            _unless_refused(nbgrader.name, refused, lambda: _both(nbgrader, folder, whole))
        ours.large.append(viva(folder, kind, (1 + _MORE) * size))
    yield f"| {label} | viva | {_figures(ours, size)} | | |"
    reach = REACH[kind, torch]
    for tool, costs in each:
        yield _row(label, tool.name, refused, ours, costs, reach)
    if nbgrader.name in refused:
        yield f"| {label} | {nbgrader.name} | {refused[nbgrader.name]} | | | | | |"
    else:
        share = f"1/{whole.shared('cpu_s', 2 * half) / ours.more('cpu_s'):.0f}"
        goal = _to_reach(reach, nbgrader.name)
        yield f"| {label} | {nbgrader.name} | {_figures(whole, 2 * half)} | {share} | {goal} |"


def _extend(costs: list[Cost], tool: Tool, folder: Path, students: Sequence[int]) -> None:
    costs.extend([tool.grade(folder, student) for student in students])


def _both(nbgrader: Nbgrader, folder: Path, whole: Classes) -> None:
    whole.small.append(nbgrader.grade_class(folder, range(whole.size)))
    whole.large.append(nbgrader.grade_class(folder, range(2 * whole.size)))


def _unless_refused(name: str, refused: dict[str, str], measure: Callable[[], object]) -> None:
    """Measure; a tool that fails or does not grade is left out, with the reason in place of figures."""
    if name in refused:
        return
    print(f"{time.strftime('%H:%M:%S')} {name}", file=sys.stderr, flush=True)  # all of it takes long
    try:
        measure()
    except (NotGraded, RuntimeError, OSError) as error:
        refused[name] = "refused: " + str(error).strip().splitlines()[-1][:200].replace("|", "/")


def _row(
    label: str, name: str, refused: dict[str, str], ours: Classes, costs: list[Cost], reach: dict[str, int]
) -> str:
    if name in refused:
        return f"| {label} | {name} | {refused[name]} | | | | | |"
    cpu, wall = (statistics.median(getattr(cost, what) for cost in costs) for what in ("cpu_s", "wall_s"))
    peak = max(cost.peak_mib for cost in costs)
    share = f"1/{cpu / ours.more('cpu_s'):.0f}"
    figures = f"{cpu * 1e3:.0f} | {wall * 1e3:.0f} | {cpu * 1e3:.0f} | {peak:.0f}"
    return f"| {label} | {name} | {figures} | {share} | {_to_reach(reach, name)} |"


def _figures(classes: Classes, size: int) -> str:
    more, shared = classes.more("cpu_s") * 1e3, classes.shared("cpu_s", size) * 1e3
    return f"{more:.1f} | {classes.more('wall_s') * 1e3:.1f} | {shared:.1f} | {classes.peak_mib:.0f}"


def _to_reach(reach: dict[str, int], name: str) -> str:
    return f"1/{reach[name]}" if name in reach else ""
