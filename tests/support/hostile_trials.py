"""Tries all programs out in all tiers side by side, in the background, while the tests look at what came of it.

Most of the time goes into waiting for hangs to be ended; one tier after another would take four times as long.
"""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Final

from tests.support.hostile_course import HostileCourse
from tests.support.hostile_hosts import GradingHost, Trial, Unavailable, offered
from tests.support.hostile_programs import Program
from viva.model import Tier
from viva.sandbox.host.box import OUT_OF_MEMORY

LONGEST_S: Final = 300.0
REQUIRED: Final = [Tier[name] for name in os.environ.get("VIVA_REQUIRED_TIERS", "").split()]
"""Tiers that must run; named by the CI, so that none is lost silently."""


class Trials:
    """One thread and one host for each tier; `of` waits for what it is asked for."""

    def __init__(self, wanted: dict[Tier, list[Program]]) -> None:
        self.courses = {tier: HostileCourse() for tier in wanted}
        self.unavailable: dict[Tier, str] = {}
        self.left_behind: dict[Tier, list[str]] = {}
        self._done: dict[tuple[Tier, str], Future[list[Trial]]] = {
            (tier, program.name): Future() for tier, programs in wanted.items() for program in programs
        }
        self._known = {tier: threading.Event() for tier in wanted}
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(tier, programs), name=f"hostile {tier}", daemon=True)
            for tier, programs in wanted.items()
        ]
        for thread in self._threads:
            thread.start()

    def of(self, tier: Tier, program: Program) -> list[Trial]:
        """The trials of one program, one for each of its turns.

        Raises:
            Unavailable: this machine cannot offer the tier.
        """
        return self._done[tier, program.name].result(LONGEST_S)

    def unavailable_or_none(self, tier: Tier) -> str | None:
        """Why the tier cannot run; waits until that is known."""
        self._known[tier].wait(LONGEST_S)
        return self.unavailable.get(tier)

    def close(self) -> None:
        """Stop after the program under way."""
        self._stop.set()
        for thread in self._threads:
            thread.join(LONGEST_S)

    def _run(self, tier: Tier, programs: Sequence[Program]) -> None:
        try:
            if tier not in offered():
                raise Unavailable("this machine cannot offer it, nor play a host that does")
            host = GradingHost(tier, offered()[tier], self.courses[tier])
        except Exception as error:
            self.unavailable[tier] = str(error)
            self._known[tier].set()
            for program in programs:
                self._done[tier, program.name].set_exception(Unavailable(str(error)))
            return
        self._known[tier].set()
        for program in programs:
            if self._stop.is_set():
                break
            self._try_out(host, program)
        self.left_behind[tier] = host.close()

    def _try_out(self, host: GradingHost, program: Program) -> None:
        future = self._done[host.tier, program.name]
        try:
            future.set_result([_undisturbed(host, program, turn) for turn in range(program.turns)])
        except Exception as error:  # raised again in the test of this program
            future.set_exception(error)


def _undisturbed(host: GradingHost, program: Program, turn: int) -> Trial:
    """Try a program out; again if another test ran out of memory meanwhile, as viva itself grades again."""
    for _ in range(3):
        trial = host.try_out(program, turn)
        if not any(OUT_OF_MEMORY in entry.staff_message for entry in trial.result.score.entries):
            break
    return trial
