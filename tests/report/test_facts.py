"""What is counted over a class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as draw

from tests.support.report_class import entry, large_class, marked
from viva.model import Isolation, Status
from viva.model.gpu import GpuUse
from viva.model.score import Curve
from viva.report.class_page import charts, facts


@given(draw.lists(draw.floats(-5, 200), max_size=60), draw.floats(0.5, 150))
def test_a_histogram_loses_nobody(values: list[float], most: float) -> None:
    bins = facts.histogram(values, most)
    assert sum(n for _, _, n in bins) == len(values)
    assert not bins or (bins[0][0] == 0 and bins[-1][1] == pytest.approx(most))


def test_full_marks_stand_in_the_last_bin() -> None:
    assert [n for _, _, n in facts.histogram([0, 5, 10], 10, bins=2)] == [1, 2]


def test_environments_are_counted_over_submissions_and_not_over_calls() -> None:
    class_ = [marked(f"s{i}", entry("1"), environment=("numpy lacks float", "numpy lacks float")) for i in range(3)]
    class_ += [marked("t", entry("1"), environment=("sacrebleu is not installed",))]
    assert facts.environments(class_) == [("numpy lacks float", 3), ("sacrebleu is not installed", 1)]


def test_faults_of_ours_are_listed_with_what_staff_know() -> None:
    (fault,) = facts.grader_faults([marked("s", entry("1.2", Status.GRADER_ERROR, message="sorry", staff="OSError"))])
    assert (fault.attempt, fault.number, fault.text) == ("s", "1.2", "OSError")


def test_memory_is_of_those_of_whom_it_is_known() -> None:
    used = [GpuUse("H", "1", 100, peak) for peak in (10, 30, None)]
    found = facts.memory_mib([marked(f"s{i}", gpu=gpu) for i, gpu in enumerate([*used, None])])
    assert found is not None and (found.count, found.mean, found.high) == (2, 20, 30)
    assert facts.memory_mib([marked("s")]) is None


def test_isolation_is_counted_by_tier_and_what_it_lacked() -> None:
    weak = Isolation("T1", missing=("Landlock",))
    class_ = [marked("a"), marked("b"), marked("c", isolation=weak)]
    assert facts.isolation(class_) == [("T1", "Landlock", 1), ("T3", "", 2)]


def test_a_band_of_curves_is_made_of_those_that_came_so_far() -> None:
    class_ = [
        marked(f"s{i}", curves=(Curve("t", "loss", values, ((2, 0.5),)),))
        for i, values in enumerate([(4.0, 1.0), (2.0,), (0.0, 3.0)])
    ]
    (band,) = facts.curve_bands([*class_, marked("none", curves=(Curve("t", "loss", ()),))])
    assert band.submissions == 3 and band.thresholds == ((2, 0.5),)
    assert band.rows == ((1, 1.0, 2.0, 3.0, 3), (2, 1.5, 2.0, 2.5, 2))
    drawn = charts.lines(band)
    assert len(drawn.dots) == 2 and drawn.dots[0][0] < drawn.dots[1][0]


@given(draw.lists(draw.integers(0, 30), min_size=1, max_size=20))
def test_columns_are_as_high_as_their_counts(counts: list[int]) -> None:
    drawn = charts.columns([(float(i), i + 1.0, n) for i, n in enumerate(counts)], 0.5)
    heights = [bar.height for bar in drawn.bars]
    seen = [n for n in counts if n]
    assert len(heights) == len(seen)
    if seen:
        assert np.allclose(np.array(heights) / max(heights), np.array(seen) / max(seen), atol=1e-3)
        assert all(bar.y >= 0 and bar.y + bar.height <= charts.HEIGHT for bar in drawn.bars)


def test_stacked_statuses_fill_the_width() -> None:
    for row in facts.test_counts(large_class(30)):
        bars = charts.stacked(row.counts)
        assert sum(bar.width for bar in bars) == pytest.approx(160)
        assert sum(row.counts.values()) == 30
