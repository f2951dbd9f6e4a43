"""Every stored threshold lies where its stored measurements say that it means something."""

import json
import math
from pathlib import Path

import pytest

from viva.grading.training import Threshold, read_thresholds

ROOT = Path(__file__).parents[2]
FILES = sorted(ROOT.glob("graders/*/thresholds/*.json"))
STORED = [(path, threshold) for path in FILES for threshold in read_thresholds(path).values()]


def names(value: object) -> str:
    return value.name if isinstance(value, Threshold) else value.parts[-3] if isinstance(value, Path) else ""


@pytest.mark.parametrize(("path", "threshold"), STORED, ids=names)
def test_threshold_is_far_from_right_and_wrong(path: Path, threshold: Threshold) -> None:
    """4.3 sample deviations from 20 right runs, 3.3 from 8 of each wrong one, computed from the values.

    Where one of three runs is enough, a few of 100 right ones may miss.
    """
    assert threshold.complaints() == []
    assert threshold.guess or threshold.right, "neither measured nor marked as a guess"
    met = all(map(threshold.met_by, threshold.right))
    assert met or threshold.one_is_enough, "a right run would have to be run again"
    stated = json.loads(path.read_text("utf-8"))["thresholds"][threshold.name].get("distances", {})
    for name, distance in stated.items():
        found = threshold.distances[name]
        assert math.isinf(found) if distance is None else found == pytest.approx(distance, abs=0.01), name


@pytest.mark.parametrize(("path", "threshold"), STORED, ids=names)
def test_threshold_can_be_measured_again(path: Path, threshold: Threshold) -> None:
    assert (ROOT / threshold.script).is_file()
    submissions = ROOT / "fixtures" / path.parts[-3] / "submissions"
    missing = [name for name in threshold.wrong if name.startswith("wrong/") and not (submissions / name).is_dir()]
    assert not missing
