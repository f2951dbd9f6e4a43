"""Checks what a training log says about its run: whether it learns, misses an epoch, and agrees with the report."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

from viva.plugins.training.audits.accuracies import read_accuracy, unit_of
from viva.plugins.training.audits.finding import Finding, begin, show
from viva.plugins.training.audits.log_rows import LogRow, read_log

FEWEST: Final = 3
"""The fewest losses for which a trend is reported."""
STILL: Final = Fraction(1, 1000)
"""A loss that changes by less than this part of itself counts as constant."""
MOST_EPOCHS: Final = 10_000
_NEAR_GUESSING: Final = 0.005
_LISTED: Final = 12
_DIGITS_OF_A_COPY: Final = Fraction(1, 10**4)


def audit_log(
    log: object,
    *,
    reported: Mapping[str, object] | None = None,
    lr: object = None,
    epochs: object = None,
    by: str = "dev",
    name: str = "the log",
) -> list[Finding]:
    """Return what a log says, and whether it agrees with what is reported about its run.

    Args:
        log: as `read_log` takes it.
        reported: the accuracy that is stated for each split, such as {"dev": 0.7104, "test": 0.6931}.
        lr: the learning rate that is stated.
        epochs: the number of epochs that is stated.
        by: the split by which the best epoch is chosen.
        name: what the sentences call the log.

    Returns:
        "no_log" alone where nothing can be read; else findings about the learning rate ("no_learning_rate",
        "below_stated_rate"), the loss ("loss_no_number", "constant_loss", "loss_not_fallen"), the epochs
        ("epoch_missing", "epoch_repeated", "copied_row") and the accuracies ("not_the_best", "not_in_log").
    """
    rows = read_log(log)
    if not any(row.has_measure for row in rows):
        text = (
            f"{begin(name)} holds no row that could be read; expected a list of rows such as "
            "{epoch: 1, lr: 1e-4, loss: 0.65, dev: 0.6624}, or CSV with these names in its first line."
        )
        return [Finding("no_log", text)]
    findings = [*_rates(rows, lr, name), *_losses(rows, name), *_epochs(rows, epochs, name), *_copies(rows, name)]
    for split, value in (reported or {}).items():
        findings += _against_report(rows, split, value, name, is_chosen=split == by)
    return findings


def _rates(rows: Sequence[LogRow], stated: object, name: str) -> Iterator[Finding]:
    rates = [row.lr for row in rows if row.lr is not None]
    if len(rates) < 2:  # a schedule that falls to zero ends with zero
        return
    highest = max(rates)
    if highest == 0:
        text = f"{begin(name)}: the learning rate is 0 in all {len(rates)} rows, so no step changes a weight."
        yield Finding("no_learning_rate", text)
    elif (wanted := _positive(stated)) is not None and 2 * highest < wanted:
        text = (
            f"{begin(name)}: the learning rate is {show(highest)} at most, {show(highest / wanted * 100)} % of the "
            f"{show(wanted)} that is stated: did the warm-up ever end?"
        )
        yield Finding("below_stated_rate", text)


def _losses(rows: Sequence[LogRow], name: str) -> Iterator[Finding]:
    if bad := next((row for row in rows if row.no_number), None):
        yield Finding("loss_no_number", f"{begin(name)}: the loss is {bad.no_number}{_at(bad)}: training diverged.")
    losses = [row.loss for row in rows if row.loss is not None]
    if len(losses) < FEWEST:
        return
    low, high = min(losses), max(losses)
    part = len(losses) // 3
    first, last = (sum(some, Fraction(0)) / part for some in (losses[:part], losses[-part:]))
    if high - low <= STILL * abs(high):
        between = f"is {show(low)}" if low == high else f"stays between {show(low)} and {show(high)}"
        text = f"{begin(name)}: the loss {between} in all {len(losses)} rows{_guessing(float(high))}."
        yield Finding("constant_loss", text)
    elif last >= first:
        rows_of = "row" if part == 1 else f"{part} rows"
        text = (
            f"{begin(name)}: the loss does not fall: {show(first)} in the first {rows_of}, {show(last)} in the last"
            f"{'' if part == 1 else ' ' + str(part)} (of {len(losses)})."
        )
        yield Finding("loss_not_fallen", text)


def _guessing(loss: float) -> str:
    for classes in range(2, 21):
        if abs(loss - math.log(classes)) < _NEAR_GUESSING:
            return f" (ln {classes} = {math.log(classes):.4g} is what guessing among {classes} classes costs)"
    return ""


def _epochs(rows: Sequence[LogRow], stated: object, name: str) -> Iterator[Finding]:
    written = [row.epoch for row in rows if row.epoch is not None]
    if not written or any(epoch.denominator != 1 or not 0 <= epoch <= MOST_EPOCHS for epoch in written):
        return
    numbers = [int(epoch) for epoch in written]
    have = set(numbers)
    first = 0 if 0 in have else 1
    last = max(have)
    if (count := _positive(stated)) is not None and count.denominator == 1:
        last = max(last, min(int(count), MOST_EPOCHS) + first - 1)
    if missing := [epoch for epoch in range(first, last + 1) if epoch not in have]:
        verb = "Epoch {} is" if len(missing) == 1 else "Epochs {} are"
        said = f", and {show(count)} epochs are stated" if count is not None else ""
        text = f"{verb.format(_listed(missing))} missing: {name} has {_listed(sorted(have))}{said}."
        yield Finding("epoch_missing", text)
    yield from _repeated(numbers, name, has_steps=any(row.step is not None for row in rows))


def _repeated(numbers: Sequence[int], name: str, *, has_steps: bool) -> Iterator[Finding]:
    """Yield an epoch that comes again after a later one, or occurs several times where the others occur once."""
    for before, after in pairwise(numbers):
        if after < before:
            text = f"Epoch {after} comes after epoch {before} in {name}: is it the log of several runs?"
            yield Finding("epoch_repeated", text)
            return
    times = Counter(numbers)
    several = [epoch for epoch, count in times.items() if count > 1]
    if several and not has_steps and 2 * len(several) < len(times):
        yield Finding("epoch_repeated", f"Epoch {several[0]} appears {times[several[0]]} times in {name}.")


def _copies(rows: Sequence[LogRow], name: str) -> Iterator[Finding]:
    seen: dict[tuple[object, ...], LogRow] = {}
    losses = {row.loss for row in rows}
    for row in rows:
        if row.loss is None or not row.accuracies or unit_of(row.loss) > _DIGITS_OF_A_COPY or len(losses) < FEWEST:
            continue
        numbers = (row.loss, tuple(sorted(row.accuracies.items())))
        other = seen.setdefault(numbers, row)
        if other is not row and (other.epoch, other.step) != (row.epoch, row.step):
            text = f"{begin(name)}: two rows have the same loss {show(row.loss)} and the same accuracies"
            yield Finding("copied_row", f"{text} ({_place(other)} and {_place(row)}): was one copied?")
            return


def _against_report(
    rows: Sequence[LogRow], split: str, value: object, name: str, *, is_chosen: bool
) -> Iterator[Finding]:
    """Yield whether the stated accuracy is in the log; for the split that chooses, whether it is the best there."""
    try:
        stated = read_accuracy(value)
    except ValueError:
        return
    logged = [(row.accuracies[split], row) for row in rows if split in row.accuracies]
    if not logged:
        return
    best, best_row = max(logged, key=lambda pair: pair[0])
    rounding = max(unit_of(stated), min(unit_of(accuracy) for accuracy, _ in logged))
    same = [row for accuracy, row in logged if abs(accuracy - stated) < rounding]
    highest = f"the best {split} accuracy in {name} is {show(best)}{_at(best_row)}"
    if not same:
        text = f"{begin(split)}: {show(stated)} is reported but appears nowhere in {name}; {highest}."
        yield Finding("not_in_log", text)
    elif is_chosen and abs(best - stated) >= rounding:
        text = f"{begin(split)}: {show(stated)} is reported{_at(same[0], ', that of ')}; {highest}."
        yield Finding("not_the_best", text)


def _at(row: LogRow, before: str = " at ") -> str:
    place = _place(row)
    return f"{before}{place}" if place != "a row without a number" else ""


def _place(row: LogRow) -> str:
    if row.epoch is not None:
        return f"epoch {show(row.epoch)}"
    return f"step {show(row.step)}" if row.step is not None else "a row without a number"


def _listed(numbers: Sequence[int]) -> str:
    some = ", ".join(map(str, numbers[:_LISTED]))
    return some + (f" and {len(numbers) - _LISTED} more" if len(numbers) > _LISTED else "")


def _positive(stated: object) -> Fraction | None:
    """Return what is stated as a number above zero; None if it is not one."""
    rows = read_log([{"lr": stated}])
    value = rows[0].lr if rows else None
    return value if value is not None and value > 0 else None
