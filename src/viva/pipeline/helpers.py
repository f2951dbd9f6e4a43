"""Grade one submission by several examiners at once: helpers take over tests that train, where cores are free.

A helper has its own process, and takes its boxes from the fork server of the main examiner, which has imported the
libraries already. `viva.examiner.training_groups` says which tests those are.
"""

import itertools
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self, TypeVar

from viva.config import Assignment
from viva.model import Entry, Score, system
from viva.model.errors import VivaError
from viva.model.grade_request import Graded, GradeRequest, Part
from viva.pipeline import capacity
from viva.pipeline.process.examiner_process import ExaminerProcess

MOST: Final = 3
"""Helpers of one examiner: submissions seldom have more groups of tests that take long."""
T = TypeVar("T")


@dataclass(slots=True)
class Helpers:
    """What helpers of one examiner need besides the request."""

    most: int = 0
    """How many there may be at once."""
    watch: Callable[[ExaminerProcess], None] = lambda _: None
    """Called with each examiner that is about to start."""

    @classmethod
    def on_free_cores(cls, assignment: Assignment) -> Self:
        """Return the helpers of a command that grades one submission after the other."""
        return cls(capacity.within_memory(len(capacity.cores()), assignment.limits.memory_mib) - 1)


class _Shared:
    """One request that several examiners grade together."""

    def __init__(
        self, request: GradeRequest, on_entry: Callable[[Entry], None], on_progress: Callable[[str], None]
    ) -> None:
        self._request, self._on_entry, self._on_progress = request, on_entry, on_progress
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._over = False
        """Whether every group has been begun."""
        self._helping: list[threading.Thread] = []
        self._error: Exception | None = None
        self.helped: list[Graded] = []
        """What helpers have graded."""
        self.remarks: list[str] = []

    def ask_main(self, main: ExaminerProcess) -> Graded:
        """Let the main examiner do its part, and wait for helpers that have begun theirs."""
        graded = self._ask(main, Part.MAIN, self._next_of_main)
        self._wait_for_helpers()  # if it has ended in the middle, so has the fork server of their boxes
        if self._error is not None:
            raise self._error
        return graded

    def help(self, helper: ExaminerProcess) -> None:
        """Let a helper do its part, in a thread of its own; one that starts too late, or never, has none."""
        with helper:
            try:
                helper.open()
            except VivaError as error:
                if not self._over:
                    self.remarks.append(f"no helper could be started: {error}")
                return
            with self._lock:
                if self._over:
                    return
                self._helping.append(threading.current_thread())
            try:
                self.helped.append(self._ask(helper, Part.HELPER, self._next))
            except Exception as error:  # of those who are told of entries; raised for them in `ask_main`
                self._error = error

    def _ask(self, examiner: ExaminerProcess, part: Part, next_group: Callable[[int], int]) -> Graded:
        """Let one examiner do its part; the main one returns the notebook, if that is asked for."""
        options = replace(self._request.options, notebook=part is Part.MAIN and self._request.options.notebook)
        request = replace(self._request, part=part, options=options)
        return examiner.grade(request, self._entry, self._progress, next_group)

    def _next(self, groups: int) -> int:
        """Return the next group that no one has begun."""
        with self._lock:
            return min(next(self._numbers), groups)

    def _next_of_main(self, groups: int) -> int:
        """Return the next group; if none is left, wait first, because hidden tests come after all groups."""
        at = self._next(groups)
        if at == groups:
            self._wait_for_helpers()
        return at

    def _wait_for_helpers(self) -> None:
        with self._lock:
            self._over = True
        for thread in self._helping:
            thread.join()

    def _entry(self, entry: Entry) -> None:
        with self._lock:
            self._on_entry(entry)

    def _progress(self, text: str) -> None:
        with self._lock:
            self._on_progress(text)


def grade_with_helpers(
    main: ExaminerProcess,
    request: GradeRequest,
    helpers: Helpers,
    on_entry: Callable[[Entry], None] = lambda _: None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Graded:
    """Grade one submission as `ExaminerProcess.grade` does; the examiner must be open.

    Args:
        main: the examiner; it does all that no helper does.
        request: what to grade, and how.
        helpers: how many may help.
        on_entry: called with each entry as soon as it is known, by one thread at a time.
        on_progress: called with a line about a slow test, by one thread at a time.
    """
    count = min(helpers.most, _most_useful(main, request))
    if not count:
        return main.grade(request, on_entry, on_progress)
    shared = _Shared(request, on_entry, on_progress)
    started = [main.helper() for _ in range(count)]
    threads = [threading.Thread(target=shared.help, args=(helper,), daemon=True) for helper in started]
    try:
        for helper, thread in zip(started, threads, strict=True):
            helpers.watch(helper)
            thread.start()
        graded = shared.ask_main(main)
    finally:
        for helper in started:
            helper.stop()  # one that has not begun yet, or for which no one waits any more
        for thread in threads:
            thread.join()
    return _joined(graded, shared.helped, [test.test_id for test in main.tests], shared.remarks)


def _most_useful(main: ExaminerProcess, request: GradeRequest) -> int:
    """Return how many helpers would have something to do; none where something is asked for that is in one place."""
    options = request.options
    in_one_place = options.questions or options.key_recording or options.until_loss
    runs = options.training and not (request.submission.problem or request.replayed)
    if in_one_place or not (runs and _can_join(main)):
        return 0
    chosen = [test for test in main.tests if options.selects_entry(test)]
    training = sum(map(_may_be_shared, chosen))
    return min(MOST, training - (training == len(chosen)))


def _can_join(main: ExaminerProcess) -> bool:
    """Return whether a second examiner can take boxes from the same fork server."""
    boxes = main.settings.boxes
    alone = boxes.gpus.devices or boxes.core is not None or boxes.replay_only or main.assignment.suite is not None
    return system.FORKS_SAFELY and system.INHERITS_DESCRIPTORS and not alone


def _may_be_shared(test: Entry) -> bool:
    """Return whether a test may be in a group; see `viva.examiner.training_groups`."""
    return test.needs == ("training",) and test.visibility == "visible"


def _joined(main: Graded, helped: Sequence[Graded], order: Sequence[str], remarks: Sequence[str]) -> Graded:
    """Return the results of all parts as one."""
    parts = [main, *helped]
    scores = [part.score for part in parts]
    return replace(
        main,
        score=_joined_scores(scores, order),
        trained={name: done for part in parts for name, done in part.trained.items()},
        call_log=_joined_logs([part.call_log for part in parts]),
        remarks=[*_united(part.remarks for part in parts), *remarks],
        finished=all(part.finished for part in parts),
        ended=any(part.ended for part in parts),
    )


def _joined_scores(scores: Sequence[Score], order: Sequence[str]) -> Score:
    """Return one score: each test's entry is the one that is furthest decided."""
    entries: dict[str, Entry] = {}
    for entry in (entry for score in scores for entry in score.entries):
        before = entries.get(entry.test_id)
        if before is None or entry.status.merge_rank < before.status.merge_rank:
            entries[entry.test_id] = entry
    first = scores[0]
    asked = [score for score in scores if score.isolation.tier != "none"] or [first]
    return replace(
        first,
        entries=tuple(entries[test_id] for test_id in order if test_id in entries),
        notes=_united(score.notes for score in scores),
        isolation=asked[0].isolation,
        signature=asked[0].signature,
        leaderboard=tuple(leader for score in scores for leader in score.leaderboard),
        choice=next((score.choice for score in scores if score.choice), ""),
        environment=_united(score.environment for score in scores),
        wall_s=max(score.wall_s for score in scores),
        curves=tuple(
            curve for test_id in order for score in scores for curve in score.curves if curve.test_id == test_id
        ),
    )


def _joined_logs(logs: Sequence[bytes]) -> bytes:
    """Return one call log; empty if one is, because it was not asked for or was too large."""
    if not all(logs):
        return b""

    from viva.replay.call_log import CallLog

    first, *others = map(CallLog.from_bytes, logs)
    for other in others:
        first.add(other)
    return first.to_bytes()


def _united(parts: Iterable[Iterable[T]]) -> tuple[T, ...]:
    """Return what is in any of them, each once, in the order in which it comes first."""
    return tuple(dict.fromkeys(each for part in parts for each in part))
