"""The process next to the worker that talks to a kernel as Jupyter does: it sends cells and collects their outputs.

It is forked before the kernel starts, and it lives in the box as long as the box: its answers are untrusted values,
like everything that comes out of a box. Each message is one line with a JSON object. Requests are `{"cells":
[{"number", "source"}], "cell_s", "whole_s"}`, answers `{"cells": [...]}` as notebooks.py describes them, or `{"failed":
why}`.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NoReturn, Optional

from ..lockdown import descriptors
from ..process.counted_time import CountedTime
from .cell_outputs import Outputs

if TYPE_CHECKING:
    from ..transport.message_types import Cell, CellResult, KernelAnswer, KernelRequest
    from ..values.raised import Raised

READY_S = 20.0
"""Counted seconds for a kernel to start: an interpreter of another language may be slow."""
_LOOK_S = 5.0
"""After how many seconds to look whether a kernel that has not answered yet has used up its time."""
_INTERRUPTS, _INTERRUPT_S = 5, 1.0
"""How often a cell that exceeds its time is interrupted, and how long each interrupt has to take effect."""
_POLL_S = 0.1
NOT_RUN = "the time limit of the notebook had passed"
TOO_LONG = "the time limit has passed"
NO_KERNEL = "the kernel did not answer any more"


def serve(channel: socket.socket, connect: Callable[[], "Kernel"]) -> NoReturn:
    """Run the client of the kernel that `connect` reaches until the other side closes the channel; never returns."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        descriptors.close_all_but([channel.fileno()])
        kernel: Optional[Kernel] = None
        for line in channel.makefile("rb"):
            try:
                kernel = kernel or connect()
                answer: KernelAnswer = {"cells": kernel.run(json.loads(line))}
            except Exception as error:
                answer = {"failed": f"{type(error).__name__}: {error}"[:1000]}
            channel.sendall(json.dumps(answer).encode() + b"\n")
        if kernel is not None:
            kernel.end()
    finally:
        os._exit(0)


class Kernel:
    """A running kernel, reached through a client of jupyter_client."""

    def __init__(
        self, client: Any, clock: CountedTime, interrupt: Callable[[], object], end: Callable[[], object]
    ) -> None:
        """Wait until the kernel answers.

        Args:
            client: a client of jupyter_client.
            clock: counts the time of the kernel's process.
            interrupt: interrupts the kernel.
            end: ends it.

        Raises:
            RuntimeError: It has ended, or does not answer within 20 counted seconds.
        """
        self._client, self._clock, self._interrupt, self.end = client, clock, interrupt, end
        client.start_channels()
        self._wait_until_ready()
        self._answers = True

    def _wait_until_ready(self) -> None:
        until = self._clock.now() + READY_S
        while True:
            try:
                self._client.wait_for_ready(timeout=_LOOK_S)
            except RuntimeError as error:
                if "died" in str(error) or self._clock.now() >= until:
                    raise
            else:
                return

    def run(self, request: KernelRequest) -> List[CellResult]:
        """Run the cells in order."""
        outputs = Outputs()
        until = self._clock.now() + float(request["whole_s"])
        return [self._cell(cell, outputs, float(request["cell_s"]), until) for cell in request["cells"]]

    def _cell(self, cell: Cell, outputs: Outputs, cell_s: float, until: float) -> CellResult:
        outputs.begin()
        began, counted = time.monotonic(), self._clock.now()
        result: CellResult = {
            "number": cell["number"],
            "status": "skipped",
            "raised": None,
            "outputs": [],
            "wall_s": 0.0,
        }
        left_s = min(cell_s, until - counted)
        if left_s <= 0 or not self._answers:
            return {**result, "skipped": NOT_RUN if self._answers else NO_KERNEL}
        sent = self._client.execute(cell["source"], allow_stdin=False, stop_on_error=False)
        in_time = self._collect(sent, outputs, counted + left_s)
        for _ in range(0 if in_time else _INTERRUPTS):
            self._interrupt()
            if self._collect(sent, outputs, self._clock.now() + _INTERRUPT_S):
                break
        else:
            self._answers = in_time
        found = outputs.finished()
        errors = [_raised(output["ename"], output["evalue"]) for output in found if output["output_type"] == "error"]
        raised = _raised("TimeoutError", TOO_LONG, "time") if not in_time else errors[0] if errors else None
        status = "timeout" if not in_time else "raised" if raised else "ok"
        wall_s = time.monotonic() - began
        return {**result, "status": status, "raised": raised, "outputs": found, "wall_s": wall_s, "skipped": ""}

    def _collect(self, sent: str, outputs: Outputs, until: float) -> bool:
        """Collect the kernel's messages about one request; return whether it is idle before `until` (counted time)."""
        while self._clock.now() < until:
            try:
                message = self._client.get_iopub_msg(timeout=_POLL_S)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != sent:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return True
            _add_output(message["msg_type"], message["content"], outputs)
        return False


def _add_output(kind: str, content: Dict[str, Any], outputs: Outputs) -> None:
    if kind == "stream":
        outputs.stream(str(content["name"]), str(content["text"]))
    elif kind == "execute_result":
        outputs.result(content["data"], content["metadata"], content["execution_count"])
    elif kind in ("display_data", "update_display_data"):
        add = outputs.display if kind == "display_data" else outputs.update
        add(content["data"], content["metadata"], (content.get("transient") or {}).get("display_id"))
    elif kind == "error":
        outputs.traceback(str(content["ename"]), str(content["evalue"]), [str(line) for line in content["traceback"]])
    elif kind == "clear_output":
        outputs.clear(wait=bool(content["wait"]))


def _raised(name: str, message: str, limit: Optional[str] = None) -> Raised:
    """Describe an exception as raised.py does; of another language only its name and its message are known."""
    return {
        "type": name[:100],
        "message": message[:1000],
        "frames": [],
        "missing_module": None,
        "lacking": None,
        "limit": limit,
    }
