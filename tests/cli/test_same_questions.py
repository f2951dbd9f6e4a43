"""The same code, in whatever file, is asked the same; another secret or version asks something else."""

import json
import re
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, SETTINGS_FILE, hand_in, hand_in_notebook

STATEFUL = f"""{KEEPS_CASE}


calls = []
_total = total
def total(n):
    calls.append(1)
    return _total(n) + len(calls) - 1
"""
"""Wrong, and another answer to each call of a box."""


def test_notebook_cell_and_module_get_the_same(viva: Viva, tmp_path: Path) -> None:
    hand_in(tmp_path / "class" / "module", STATEFUL)
    hand_in_notebook(tmp_path / "class" / "cells", *STATEFUL.split("\n\n\n"))
    hand_in_notebook(tmp_path / "class" / "one_cell", STATEFUL)
    viva("grade", tmp_path / "class", "-o", "graded")
    tests = [json.loads(path.read_bytes())["tests"] for path in sorted(Path("graded").rglob("results.json"))]
    rows = [[(t["extra_data"]["test_id"], t["extra_data"]["status"], t.get("score"), t["output"]) for t in each]
            for each in tests]  # fmt: skip
    assert len(rows) == 3 and rows[0] == rows[1] == rows[2]
    assert {"passed", "failed"} <= {status for _, status, *_ in rows[0]}


@pytest.mark.long
def test_secret_and_version_change_questions(viva: Viva, own_course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    yaml = own_course / SETTINGS_FILE
    hand_in(own_course.parent / "right")
    asked = []
    for secret, version in [("first secret of ours", 1), ("second secret of ours", 1), ("first secret of ours", 2)] * 2:
        monkeypatch.setenv("VIVA_SECRET", secret)
        yaml.write_text(re.sub(r"version: \d", f"version: {version}", yaml.read_text("utf-8")), "utf-8")
        ran = viva("explain", "right", "test_random_texts")
        asked.append([line for line in ran.out.splitlines() if line.startswith("  word_counts(")])
        assert len(asked[-1]) == 4
    assert asked[:3] == asked[3:]
    assert asked[0] != asked[1] != asked[2] != asked[0]
