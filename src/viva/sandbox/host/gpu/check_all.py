"""Check all GPUs of this machine, one after the other: `viva doctor --gpu`."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from viva.sandbox.errors import BoxUnavailable, GpuUnavailable
from viva.sandbox.gpu import Gpu, GpuSet
from viva.sandbox.host.gpu.gpu_boxes import GpuBoxes
from viva.sandbox.host.gpu.gpu_check import StepResult
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier


@dataclass(frozen=True, slots=True)
class CheckedGpu:
    """What the check of one GPU has shown."""

    gpu: Gpu
    steps: tuple[StepResult, ...] = ()
    failure: str = ""
    """Why it could not be checked, as a sentence; empty if it was."""

    @property
    def is_sound(self) -> bool:
        """Return whether every step was tried, and none failed."""
        return not self.failure and all(step.tried and not step.problem for step in self.steps)

    def lines(self) -> Iterator[str]:
        """Yield a line for each step, and one if the GPU could not be checked."""
        for step in self.steps:
            if step.problem:
                yield f"✗ {step.step.name}: {step.sentence}"
            else:
                yield f"✓ {step.step.name}" if step.tried else f"– {step.step.name}: not tried"
        if self.failure:
            yield f"✗ {self.failure}"


def check_all(
    tier: Tier,
    gpus: GpuSet,
    limits: Limits,
    *,
    python: str = sys.executable,
    preload: Sequence[str] = ("torch?",),
    on_wait: Callable[[str], None] = lambda _: None,
) -> Iterator[CheckedGpu]:
    """Yield what the check of each GPU shows.

    Args:
        tier: the isolation level of the boxes.
        gpus: the GPUs.
        limits: the limits of the boxes.
        python: the interpreter of the boxes.
        preload: modules to import beforehand.
        on_wait: called with a line about every second while others hold a GPU.
    """
    for gpu in gpus.devices:
        try:
            boxes = GpuBoxes.start(tier, limits, replace(gpus, devices=(gpu,)), preload=preload, python=python)
        except BoxUnavailable as error:
            yield CheckedGpu(gpu, failure=f"No sandbox could be made: {error}.")
            continue
        try:
            steps = tuple(boxes.check(gpu, on_wait))
            lacks_torch = not any(step.tried for step in steps)
            yield CheckedGpu(gpu, steps, f"torch is not installed for {python}; install it there." * lacks_torch)
        except GpuUnavailable as error:
            yield CheckedGpu(gpu, failure=f"Not checked: {error.reason}.")
        except BoxUnavailable as error:
            yield CheckedGpu(gpu, failure=f"No sandbox could be made: {error}.")
        finally:
            boxes.close()
