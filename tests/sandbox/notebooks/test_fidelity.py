"""A notebook of a few hundred cells, run by the stock kernel outside of viva and by viva's runner in a box.

The outputs must be the same in type, keys and text, but for what is listed here, each with its reason. Part 10 of the
author guide says the same to authors.
"""

import re
from typing import Any, Final

import pytest

from tests.support.fidelity_cells import CELLS
from tests.support.stock_kernel import outputs_of
from tests.support.table_rows import Rows
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.sandbox.limits import Limits

pytestmark = pytest.mark.long
pytest.importorskip("ipykernel", reason="the stock kernel is what we compare with")
pytest.importorskip("nbclient")

Outputs = list[dict[str, Any]]

ALLOWED: Final = {
    "bytes_to_the_buffer": "a kernel's sys.stdout has no buffer; ours has one, so that what writes bytes works",
    "input": "no one is there to answer in either; ours says what to do about it",
    "getpass": "the same",
    "pdb": "a debugger that was left in goes on, so that it does not cost the cell",
    "debug": "what it shows is the place where input() was refused",
}
"""Cells that show something else, and why they may."""

BY_CHANCE: Final = {
    "print_then_descriptor": "a thread of the stock kernel reads the descriptors; our text stands where it was written",
    "os_system": "the same",
    "subprocess_uncaptured": "the same",
    "descriptor": "the same",
    "threads_that_print": "text and displays of two threads",
    "display_from_a_thread": "the same",
    "error_in_a_thread": "the same",
}
"""Cells whose text may stand at another place between the other outputs."""

SAME: Final[list[tuple[str, str]]] = [
    # Each process has addresses of its own.
    (r"0x[0-9a-f]{6,16}", "0x…"),
    # A kernel compiles a cell under the name of a temporary file, we compile it as <cell 7>.py.
    (r"(?:/[\w./-]*)?/ipykernel_\d+/\d+\.py|<cell \d+>.py", "CELL"),
    (r"\((?:\d+\.py|CELL), line (\d+)\)", r"(CELL, line \1)"),
    # The work directory.
    (r"/tmp/tmp\w+/work|/box(?=[/'\n]|$)", "WORK"),
    # The home folder of a box, which tracebacks shorten: the environment may lie below it.
    (r"~(?=/)", "/tmp"),
    # How long something took.
    (r"\d+(?:\.\d+)? (?:ns|μs|us|ms|s)\b", "TIME"),
    (r"(CPU times|Wall time).*", r"\1"),
    # A shell line has a terminal in a stock kernel; a box has none.
    (r"\r\n", "\n"),
    # Who runs the cells is in the traceback of a group of exceptions, and where a text was compiled by the cell.
    (r"File \S*/IPython/core/interactiveshell.py.*\n.*exec\(code_obj.*\n", "RUNNER\n"),
]
"""What is the same though it is written in another way."""


def in_viva(sources: list[str]) -> list[Outputs]:
    """The outputs of a notebook of these cells, run in the best box that this host offers."""
    tier = next(report.tier for report in detect_tiers() if report.available)
    cells = [{"number": n, "source": source} for n, source in enumerate(sources, 1)]
    with (
        ForkServer.start(tier, preload=["numpy", "IPython", "matplotlib.pyplot"]) as fork_server,
        fork_server.spawn(Limits()) as box,
    ):
        how: dict[str, Any] = {"timeout_s": 300.0, "mode": "run", "forbid": [], "path": "n.ipynb"}
        box.ask("begin_notebook", **how)
        replies: Any = [box.ask("next_cell", timeout_s=80.0, cell=cell, cell_s=60.0) for cell in cells]
    outputs = {reply["ok"]["number"]: reply["ok"]["outputs"] for reply in replies}
    for reply in replies:
        outputs |= dict(reply["ok"].get("earlier", []))
    return [*outputs.values()]


def normal(outputs: Outputs, *, by_chance: bool = False) -> Outputs:
    """The outputs with what each run writes in its own way replaced.

    The stock kernel gathers each stream for a fifth of a second, or until something is displayed; so the text of each
    is joined between two displays, and with `by_chance` in the whole cell.
    """
    joined: Outputs = []
    streams: dict[str, dict[str, Any]] = {}
    for output in _replaced(outputs):
        if output["output_type"] != "stream":
            streams = streams if by_chance else {}
            joined.append(output)
        elif output["name"] in streams:
            streams[output["name"]]["text"] += output["text"]
        else:
            streams[output["name"]] = output
            joined.append(output)
    if by_chance:
        joined.sort(key=lambda output: output["output_type"] != "stream")
    for output in joined:
        if output["output_type"] == "stream":  # what a progress bar overwrites is not kept
            output["text"] = re.sub(r"[^\n]*\r(?=[^\r\n])", "", output["text"])
    return _sorted_streams(joined)


def _replaced(value: Any) -> Any:
    """A copy with every text made comparable."""
    if isinstance(value, list):
        items = [_replaced(item) for item in value]
        # How often a function called itself depends on how deep the interpreter already was.
        return [item for n, item in enumerate(items) if n < 3 or item != items[n - 1]]
    if isinstance(value, dict):
        return {key: _replaced(item) for key, item in value.items()}
    for pattern, replacement in SAME if isinstance(value, str) else ():
        value = re.sub(pattern, replacement, value)
    return value


def _sorted_streams(outputs: Outputs) -> Outputs:
    """Neighbouring streams by name: which of two came first is decided by a timer of the stock kernel."""
    found: Outputs = []
    for output in outputs:
        at = len(found)
        while output["output_type"] == "stream" and at and found[at - 1].get("name", "") > output["name"]:
            at -= 1
        found.insert(at, output)
    return found


@pytest.fixture(scope="module")
def whole() -> dict[str, tuple[Outputs, Outputs]]:
    """Both outputs of every cell, by its name."""
    sources = list(CELLS.values())
    return dict(zip(CELLS, zip(outputs_of(sources), in_viva(sources), strict=True), strict=True))


def compare(name: str, stock: Outputs, ours: Outputs) -> None:
    """The same, or different where that is allowed."""
    shown, expected = (normal(outputs, by_chance=name in BY_CHANCE) for outputs in (ours, stock))
    if name in ALLOWED:
        assert shown != expected, f"{name} is the same by now: take it off the list"
    elif shown != expected:
        pytest.fail(f"the stock kernel shows {str(expected)[:2000]}\nand ours {str(shown)[:2000]}")


def test_cell_as_in_stock_kernel(whole: dict[str, tuple[Outputs, Outputs]]) -> None:
    with Rows() as row:
        for name in CELLS:
            with row(name):
                compare(name, *whole[name])


def test_listed_cells_exist() -> None:
    assert set(ALLOWED) | set(BY_CHANCE) <= set(CELLS) and len(CELLS) >= 60
