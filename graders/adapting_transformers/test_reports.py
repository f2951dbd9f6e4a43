"""Questions 3.1.2 to 3.1.4 and the report of 3.2: what was measured, and choosing the best run.

A person grades the reports. Next to them are the runs as they were read, and what the arithmetic of accuracies says.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from viva.grading import agree, needs_review, number, visibility, weight
from viva.model.errors import EXPECTED_ERRORS
from viva.plugins.training.audits import Finding, audit_grid, audit_log, audit_runs, audit_seeds, right_answers

SIZES = {"dev": 3270, "test": 1427}
"""BoolQ's own development set, and the last 1,427 of its 9,427 training rows."""
MAJORITY = Fraction(2033, 3270)
"""The share of "True" in the development set."""
GRID: dict[str, list[float]] = {"lr": [1e-4, 5e-4, 1e-3], "epochs": [7, 9]}
OTHER = " of 3.1.3"
"""The name of a run of the sweep among the other models."""
LOG = "log"
"""The key of a run that may hold its log."""
SHOWN = 20
"""More runs, and more findings, are not read out."""

Run = Mapping[str, Any]


@number("3.1.2")
@weight(2)
def test_full_run(submission: Any) -> None:
    """One full run, its accuracies and its curves."""
    runs = reported(submission, "3.1.2")
    more = unseeded(submission, "base_classification.py")
    needs_review(submission.written["3.1.2"], rubric="3.1.2", findings=findings_about(runs, more))


@number("3.1.3")
@weight(3)
def test_sweep(submission: Any) -> None:
    """Six settings, and what can be said about the best."""
    runs = reported(submission, "3.1.3")
    more = audit_grid(runs, GRID) if runs else []
    needs_review(submission.written["3.1.3"], rubric="3.1.3", findings=findings_about(runs, more))


@number("3.1.4")
@weight(2)
def test_other_models(submission: Any) -> None:
    """Two other models; compared with the runs of the sweep too."""
    runs = reported(submission, "3.1.4")
    sweep = {label + OTHER: run for label, run in reported(submission, "3.1.3").items()}
    both = audit_runs({**runs, **sweep}, SIZES) if runs else []
    across = [f for f in both if f.kind == "repeated" and OTHER in f.text and OTHER not in f.text.split(",")[0]]
    needs_review(submission.written["3.1.4"], rubric="3.1.4", findings=findings_about(runs, across))


@number("3.2")
@weight(2)
def test_ways_of_tuning(submission: Any) -> None:
    """Full, head and prefix tuning compared on the whole data."""
    runs = reported(submission, "3.2")
    more = unseeded(submission, "classification.py")
    needs_review(submission.written["3.2"], rubric="3.2", findings=findings_about(runs, more))


@number("3.1.3")
@weight(3)
def test_select_best(student: Any, key: Any) -> None:
    """The positions of all runs with the highest accuracy in dev; the test accuracy does not count."""
    for name, accuracies in {
        "three runs, the second with the highest dev": [(0.70, 0.74), (0.73, 0.72), (0.62, 0.63)],
        "three runs, two of them with the highest dev": [(0.71, 0.70), (0.64, 0.80), (0.71, 0.72)],
        "four runs that all have the same dev": [(0.62, 0.628), (0.62, 0.624), (0.62, 0.616), (0.62, 0.6)],
        "one run": [(0.5, 0.6)],
        "three runs, of which the best leads by one of 3270 rows": [
            (2302 / 3270, 0.6),
            (2303 / 3270, 0.7),
            (0.6, 0.7),
        ],
        "two runs without a right answer": [(0.0, 0.1), (0.0, 0.2)],
        "two runs that have everything right": [(1.0, 0.1), (1.0, 0.2)],
    }.items():
        check_choice(student, key, results_with(accuracies), name)
    same: list[dict[str, Any]] = [{**run, "model": "tiny"} for run in results_with([(0.7, 0.7), (0.6, 0.6)])]
    repeated = [same[0], same[1], *[dict(same[0]) for _ in range(3)]]
    check_choice(student, key, repeated, "five runs, four of them the same in everything")


@number("3.1.3")
@weight(1)
@visibility("after_published")
def test_select_best_of_random_results(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random results, many of them with ties.

    Try ties, a single run, and runs whose test accuracy would choose differently.
    """
    for trial in range(10):
        rows = rng.integers(60, 70, (int(rng.integers(3, 9)), 2)) / 100
        if trial % 2:
            rows[rng.permutation(len(rows))[:2], 0] = 0.71
        results = results_with([(float(dev), float(test)) for dev, test in rows])
        agree(positions(student.select_best(results), results), key.select_best(results), up_to="order")
    many = results_with([(float(k) / 3270, 0.6) for k in rng.permutation(300) + 2000])
    agree(positions(student.select_best(many), many), key.select_best(many), up_to="order")


def reported(submission: Any, question: str) -> dict[str, Run]:
    """Return the runs that the student states, by a label; one mapping is one run."""
    [runs] = submission.answers.readable([question])
    return {f"run {i}": run for i, run in enumerate((runs or [])[:SHOWN], 1)}


def unseeded(submission: Any, file: str) -> list[Finding]:
    """Return what a submitted program draws without a seed; nothing if it cannot be read: no score depends on it."""
    try:
        return audit_seeds({file: submission.source(file)})
    except EXPECTED_ERRORS:
        return []


def findings_about(runs: Mapping[str, Run], more: list[Finding] | None = None) -> list[str]:
    """The runs as they were read, and what the audit says of them, a line each; what concerns several comes first."""
    if not runs:
        nothing = "No runs were found: state them as a list of mappings with the keys lr, epochs, dev and test."
        return [nothing, *[finding.text for finding in more or []]]
    lines = [f"{label}: {', '.join(as_text(*item) for item in shown(run))}" for label, run in runs.items()]
    audited = [f for f in audit_runs(runs, SIZES, majority={"dev": MAJORITY}) if f.kind not in ("count", "few_digits")]
    alone = {"unreadable", "missing", "no_count", "small_subset", "majority", "not_above_majority"}
    ordered = sorted([*audited, *(more or [])], key=lambda f: f.kind in alone)
    return [*lines, *[finding.text for finding in [*about_logs(runs), *ordered][:SHOWN]]]


def about_logs(runs: Mapping[str, Run]) -> list[Finding]:
    """Return what the logs say that some runs come with, and whether they are the logs of these runs."""
    return [
        finding
        for label, run in runs.items()
        if run.get(LOG) is not None
        for finding in audit_log(
            run[LOG],
            reported={split: run[split] for split in SIZES if split in run},
            lr=run.get("lr"),
            epochs=run.get("epochs"),
            name=f"the log of {label}",
        )
    ]


def shown(run: Run) -> list[tuple[Any, Any]]:
    """Return the first entries of a run, without its log."""
    return [(name, value) for name, value in run.items() if name != LOG][:8]


def as_text(name: Any, value: Any) -> str:
    """One entry of a run, with the count behind an accuracy."""
    try:
        shown = str(value)[:24]
    except ValueError:  # an integer of more digits than Python writes
        shown = "a huge number"
    if isinstance(value, float):
        shown = f"{value:.6g}"
    k = right_answers(value, SIZES[name]) if name in ("dev", "test") else None
    return f"{str(name)[:20]} {shown}" + (f" = {k}/{SIZES[name]}" if k is not None else "")


def check_choice(student: Any, key: Any, results: list[dict[str, Any]], name: str) -> None:
    """The positions of the best of these runs; they are not secret, and a message names known mistakes."""
    accuracies = [(run["dev"], run["test"]) for run in results]
    actual = positions(student.select_best(results), results)
    hints: dict[str, list[int]] = mistakes(accuracies)
    first = [results.index(results[position]) for position in key.select_best(results)]
    hints["`index` finds the first of two equal runs; count with enumerate"] = first
    name = f"select_best for {name} ({', '.join(f'{dev:.6g}' for dev, _ in accuracies)})"
    agree(actual, key.select_best(results), hints=hints, name=name, up_to="order")


def results_with(accuracies: list[tuple[float, float]]) -> list[dict[str, float]]:
    """Runs of different settings with these accuracies in dev and test."""
    settings = [(lr, epochs) for epochs in (7, 9, 12, *range(20, 150)) for lr in (1e-4, 5e-4, 1e-3)]
    return [
        {"lr": lr, "epochs": epochs, "dev": dev, "test": test}
        for (lr, epochs), (dev, test) in zip(settings, accuracies, strict=False)
    ]


def positions(returned: Any, results: list[dict[str, Any]]) -> Any:
    """Return a list of positions; one position alone, and the runs themselves, are understood as well."""
    if isinstance(returned, dict | int):
        returned = [returned]
    if not isinstance(returned, list | tuple | set | frozenset):
        return returned
    free = dict(enumerate(results))  # two equal runs have two positions
    found = []
    for one in returned:
        position = position_of(one, free) if isinstance(one, dict) else one
        if isinstance(one, dict) and isinstance(position, int):
            del free[position]
        found.append(position)
    return found


def position_of(run: dict[Any, Any], results: Mapping[int, dict[str, Any]]) -> Any:
    """Return the position of a run that the student returned instead of it; the run itself if it is not listed."""
    return next((position for position, result in results.items() if run == result), run)


def mistakes(accuracies: list[tuple[float, float]]) -> dict[str, list[int]]:
    """Return what students get wrong, for the same results, so that a message can name it."""
    dev, test = ([row[split] for row in accuracies] for split in (0, 1))
    both = [sum(row) for row in accuracies]
    return {
        "a tie is hidden: only the first of the best is returned": [dev.index(max(dev))],
        "a tie is hidden: only the last of the best is returned": [len(dev) - 1 - dev[::-1].index(max(dev))],
        "the choice was made on test": [i for i, accuracy in enumerate(test) if accuracy == max(test)],
        "ties were broken by test": [max(range(len(dev)), key=lambda i: accuracies[i])],
        "the choice was made on dev and test together": [both.index(max(both))],
        "these are the worst": [i for i, accuracy in enumerate(dev) if accuracy == min(dev)],
    }
