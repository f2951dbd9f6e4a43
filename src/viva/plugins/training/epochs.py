"""Epochs that the examiner counts: on a budget, with progress for those who wait and a curve for the student."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, SupportsFloat, final

from viva.grading.events import current_events
from viva.plugins.training.thresholds import Threshold
from viva.plugins.training.training_curves import draw, finite


@final
class Epoch:
    """One running epoch."""

    __slots__ = ("_of", "number")

    def __init__(self, number: int, of: "Epochs") -> None:
        self.number = number
        """From 1."""
        self._of = of

    def record(self, **measured: SupportsFloat) -> None:
        """Keep what the examiner has measured after this epoch, for the curve and for `Epochs.last`.

        Raises:
            TypeError: a value is not a finite number.
            ValueError: a value is not a finite number.
        """
        self._of._keep({name: finite(value, name) for name, value in measured.items()})

    def tell(self, **values: Any) -> None:
        """Show numbers that the student's program has stated, such as its loss, in the progress line; nothing more.

        What is not a number is left out: the values are untrusted, and no fault of the test.
        """
        for name, value in values.items():
            try:
                self._of._untrusted_values[name] = float(value)
            except (TypeError, ValueError, OverflowError):
                continue


@final
class Epochs:
    """An iteration over epochs; iterate once."""

    def __init__(
        self,
        n: int,
        budget_s: float,
        name: str,
        *,
        curve: bool,
        clock: Callable[[], float],
        until: Mapping[str, Threshold],
    ) -> None:
        self._n, self._budget_s, self._name, self._curve, self._clock = n, budget_s, name, curve, clock
        self._until = until
        self._untrusted_values: dict[str, float] = {}
        self._measured: dict[str, list[float]] = {}
        self.reached = 0
        """Epochs that are complete."""

    def __iter__(self) -> Iterator[Epoch]:
        """Yield epochs until all are done, `until` is met or, after the first, the budget is used up."""
        started = self._clock()
        while self.reached < self._n and not self._meets_thresholds():
            self._untrusted_values.clear()
            yield Epoch(self.reached + 1, self)
            self.reached += 1
            used_s = self._clock() - started
            self._report(used_s)
            if used_s >= self._budget_s and not self.complete:
                stopped(self.reached, self._n, self._budget_s, self._name)
                return
        if self.reached < self._n:
            self._note_why_it_ends()

    @property
    def complete(self) -> bool:
        """Return False if the budget ended the training early."""
        return self.reached == self._n or self._meets_thresholds()

    def _meets_thresholds(self) -> bool:
        """Return whether the values recorded last meet all thresholds that end the training."""
        last = {name: values[-1] for name, values in self._measured.items()}
        return bool(self._until) and all(
            name in last and not threshold.guess and threshold.met_by(last[name])
            for name, threshold in self._until.items()
        )

    def _note_why_it_ends(self) -> None:
        """Tell the student which values ended the training."""
        found = (f"{name} {self.last(name):.3f} is {t.direction} {t.value:g}" for name, t in self._until.items())
        of = f" ({self._name})" if self._name else ""
        current_events().note(f"Training{of} ended after {self.reached} of {self._n} epochs: {', '.join(found)}.")

    def values(self, name: str) -> tuple[float, ...]:
        """Return what was recorded under a name, epoch by epoch."""
        return tuple(self._measured.get(name, ()))

    def last(self, name: str) -> float:
        """Return what was recorded last under a name.

        Raises:
            LookupError: nothing was recorded.
        """
        if not self._measured.get(name):
            raise LookupError(f"no epoch has recorded {name!r}; recorded are: {', '.join(self._measured) or 'none'}.")
        return self._measured[name][-1]

    def _keep(self, measured: dict[str, float]) -> None:
        for name, value in measured.items():
            self._measured.setdefault(name, []).append(value)
            self._draw(name)

    def _draw(self, name: str) -> None:
        if self._curve:
            draw(f"{self._name}, {name}" if self._name else name, self._measured[name])

    def _report(self, used_s: float) -> None:
        """Report one line: which epoch, what the program says of its loss, and how long it may still take."""
        epoch_s = used_s / self.reached
        left_s = min(epoch_s * (self._n - self.reached), max(self._budget_s - used_s, 0.0))
        numbers = {name: values[-1] for name, values in self._measured.items()} | self._untrusted_values
        shown = [] if current_events().hidden else [f"{name} {value:.4g}" for name, value in numbers.items()]
        parts = [self._name, f"epoch {self.reached} of {self._n}", *shown, f"{left_s:.0f} s left"]
        current_events().progress(", ".join(part for part in parts if part))


def epochs(
    n: int,
    *,
    budget_s: float,
    name: str = "",
    curve: bool = True,
    until: Mapping[str, Threshold] | None = None,
    clock: Callable[[], float] | None = None,
) -> Epochs:
    """Yield epochs 1 to n for a `for` loop in the test; each asks the box to train and to predict.

    Args:
        n: how many at most.
        budget_s: seconds of the submission's boxes, as limits count them. The first epoch always runs; no other begins
            when the budget is used up, and what was reached is graded. Give the test a `timeout` that holds the budget
            and one epoch more.
        name: what is trained, for progress and curve: "pretrained". A name used twice draws one curve, the later.
        curve: whether what is recorded is drawn; False for the further seeds of a run that was drawn.
        until: thresholds by the names under which values are recorded. No further epoch begins when the last values
            meet all of them; a guess ends nothing. Judge the best value, so that the verdict is certain then.
        clock: for tests of tests; None for the clock of limits.

    Raises:
        ValueError: no epoch or no budget.
    """
    if n < 1 or budget_s <= 0:
        raise ValueError(f"epochs({n}, budget_s={budget_s:g}): expected at least one epoch and a budget above zero.")
    clock = clock or current_events().clock
    until = {} if until is None or current_events().whole_trainings else until
    return Epochs(n, budget_s, name, curve=curve, clock=clock, until=until)


def stopped(reached: int, n: int, budget_s: float, name: str = "") -> None:
    """Tell the student that a training was ended early; `epochs` does so by itself.

    Use it in tests whose box runs all epochs in one call and measures the time there.
    """
    current_events().note(
        f"Training{f' ({name})' if name else ''} was stopped after {reached} of {n} epochs, when its {budget_s:g} s "
        "were used up; it is graded on what was reached."
    )
