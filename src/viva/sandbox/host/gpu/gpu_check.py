"""Check a GPU before student code gets it, in boxes of its own: the program is sandbox/guest/gpu_check.py."""

import secrets
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Final, Protocol

from viva.sandbox.errors import BoxError, BoxUnavailable
from viva.sandbox.guest.transport.message_types import CallObject, LoadModule, Put, Request
from viva.sandbox.host.box import Box
from viva.sandbox.host.launch import START

_PROGRAM: Final = START.with_name("gpu_check.py")
_STEP_S: Final = 120.0
"""Seconds; without the persistence daemon the driver starts the GPU again for each program."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is checked."""

    function: str
    """Its name in the program."""
    name: str
    """What is checked, as a phrase."""
    advice: str
    """What to do if it fails, as a sentence."""


STEPS: Final = (
    Step(
        "start",
        "CUDA starts",
        "Install a torch that was built for CUDA, and a driver at least as new as that CUDA. Raise `memory_mib` if the "
        "memory of the sandbox was too small. No module of `preload` may start CUDA when it is imported.",
    ),
    Step("multiply", "a product is the CPU's", "Set no TF32 or half precision for the whole machine; test the card."),
    Step("repeat", "sums are repeatable", "Use a torch whose CUDA has deterministic algorithms; test the card."),
    Step("limits", "memory is limited", "Look at the limits in `viva doctor`; grade on a machine that limits memory."),
)
UNREADABLE: Final = Step(
    "find",
    "earlier memory is unreadable",
    "Do not grade on this machine: its driver hands out memory that it has not cleared.",
)


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one step has shown."""

    step: Step
    problem: str
    """A clause that says what is wrong; empty if nothing is."""
    tried: bool = True
    """False if an earlier step failed, or there is no torch to try it with."""

    @property
    def sentence(self) -> str:
        """Return what is wrong and what to do."""
        return f"{self.problem}. {self.step.advice}"


class BoxMaker(Protocol):
    """Makes a box with the GPU that is checked."""

    def __call__(self, *, deterministic: bool) -> Box:
        """Make a box in which torch uses deterministic algorithms, or may use others."""
        ...


def check(make_box: BoxMaker, memory_mib: int) -> list[StepResult]:
    """Check a GPU that the caller has leased, in two boxes, one after the other.

    Args:
        make_box: makes a box with the GPU.
        memory_mib: the memory limit of these boxes.

    Returns:
        One result for each step; none was tried if torch is not installed for the interpreter of the boxes.

    Raises:
        BoxUnavailable: a box cannot be made.
    """
    mark = secrets.randbits(62)
    with closing(make_box(deterministic=True)) as box:
        program = _Program(box)
        if program.lacks_torch():
            return [StepResult(step, "", tried=False) for step in (*STEPS, UNREADABLE)]
        results = list(_steps(program, memory_mib))
        if any(result.problem for result in results):
            return [*results, StepResult(UNREADABLE, "", tried=False)]
        if problem := program.problem("leave", mark):
            return [*results, StepResult(UNREADABLE, problem)]
    with closing(make_box(deterministic=False)) as box:
        return [*results, StepResult(UNREADABLE, _Program(box).problem("find", mark))]


def _steps(program: "_Program", memory_mib: int) -> Iterator[StepResult]:
    """Take the steps of the first box, up to the first that fails."""
    failed = False
    for step in STEPS:
        arguments = [memory_mib] if step.function == "limits" else []
        problem = "" if failed else program.problem(step.function, *arguments)
        yield StepResult(step, problem, tried=not failed)
        failed = failed or bool(problem)


class _Program:
    """The program in a box, loaded when it is first called."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._loaded = False

    def lacks_torch(self) -> bool:
        """Return whether torch is not installed for the box; False if that cannot be found out."""
        try:
            return self._call("has_torch") is False
        except _Failed:
            return False

    def problem(self, function: str, *arguments: int) -> str:
        """Return what a function finds wrong, or how its call failed; empty if nothing is wrong."""
        try:
            value = self._call(function, *arguments)
        except _Failed as error:
            return str(error)
        return value if isinstance(value, str) else "" if isinstance(value, int) else "the check gave no answer"

    def _call(self, function: str, *arguments: int) -> object:
        if not self._loaded:
            self._send(Put("gpu_check.py", _PROGRAM.read_bytes()))
            self._send(LoadModule("gpu_check.py"))
            self._loaded = True
        return self._send(CallObject(list(arguments), {}, space="student", name=function))

    def _send(self, request: Request) -> object:
        """Send one request.

        Raises:
            _Failed: it raised, or the box ended; the text says how.
            BoxUnavailable: this machine ended the box.
        """
        try:
            reply = self._box.send(request, timeout_s=_STEP_S)
        except BoxUnavailable:
            raise
        except BoxError as error:
            raise _Failed(f"the sandbox of the check ended: {error}") from error
        if reply.raised is not None:
            raise _Failed(f"the check raised {reply.raised.get('type')}: {reply.raised.get('message')}")
        return reply.value


class _Failed(Exception):
    """A call of the program did not end as it should."""
