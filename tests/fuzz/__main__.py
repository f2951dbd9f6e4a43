"""Fuzz the readers of what students submit: `python -m tests.fuzz [TARGET…] --minutes N`, or `TARGET --input FILE`."""

import argparse
import json
import os
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from tests.fuzz.findings import shortened
from tests.fuzz.targets import NAMES, load

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "fuzz"
"""Corpora, which later runs go on with; findings; the log of each target."""
_EXECUTED = re.compile(r"^stat::number_of_executed_units:\s*(\d+)", re.MULTILINE)
_COVERED = re.compile(r"\bcov: (\d+)")
SHORTEST_S = 5


def main() -> int:
    """The exit status: 1 where something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", nargs="*", help=f"of {', '.join(NAMES)}; all of them, if none is named")
    parser.add_argument("--minutes", type=float, default=60.0, help="for all targets together (default: 60)")
    parser.add_argument("--input", type=Path, help="check one input again, and make it shorter")
    given = parser.parse_args()
    if unknown := sorted(set(given.target) - set(NAMES)):
        parser.error(f"{unknown[0]} is no target; there are {', '.join(NAMES)}")
    names = given.target or list(NAMES)
    if given.input:
        return _again(names[0], given.input)
    results = [_fuzz(name, 60 * given.minutes / len(names)) for name in names]
    RESULTS.joinpath("summary.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    found = sum(row["findings"] for row in results)
    print(f"{sum(row['executions'] for row in results):,} inputs, {found} findings in {RESULTS}")
    return 1 if found else 0


def _fuzz(name: str, seconds: float) -> dict[str, Any]:
    """Fuzz one target; what ends its process costs only the rest of that process's time."""
    folder = RESULTS / name
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    end = time.monotonic() + seconds
    with log.open("wb") as file:
        while (left := int(end - time.monotonic())) >= SHORTEST_S or not file.tell():
            command = [sys.executable, "-m", "tests.fuzz.one", name, str(folder), str(max(left, 1))]
            code = subprocess.run(command, cwd=ROOT, stdout=file, stderr=file, env={**os.environ, "PYTHONPATH": "src"})
            if code.returncode == 0:
                break
            file.seek(0, os.SEEK_END)
    text = log.read_text("utf-8", "replace")
    found = [path for path in (folder / "found").glob("*") if path.suffix != ".txt"] if folder.exists() else []
    row = {
        "target": name,
        "seconds": round(seconds),
        "executions": sum(map(int, _EXECUTED.findall(text))),
        "covered": max(map(int, _COVERED.findall(text)), default=0),
        "findings": len(found),
    }
    inputs, edges = f"{row['executions']:,} inputs", f"{row['covered']:,} edges"
    print(f"{name:12}{inputs:>20}{edges:>16}{row['findings']:>4} findings", flush=True)
    return row


def _again(name: str, file: Path) -> int:
    data, error = shortened(load(name), file.read_bytes())
    if error is None:
        print(f"{file}: {name} keeps its promise.")
        return 0
    traceback.print_exception(error)
    print(f"{len(data)} bytes: {data!r}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
