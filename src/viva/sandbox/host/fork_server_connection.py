"""A fork server of this examiner: starts it, and ends it."""

import os
import shutil
import signal
import socket
import subprocess
import time
from typing import Any, Final

import viva.sandbox.guest.transport.control as control
from viva.model.errors import BoxUnavailable
from viva.sandbox.guest.process.counted_time import Countdown
from viva.sandbox.host.captured_output import CapturedOutput
from viva.sandbox.host.fork_server_channel import START_S, ForkServerChannel
from viva.sandbox.host.launch import START, environment
from viva.sandbox.host.levels.canary import Canary
from viva.sandbox.host.limits import processes
from viva.sandbox.host.reactor import Reactor

_END_S: Final = 20.0
_KEPT_KIB: Final = 64


class ForkServerConnection(ForkServerChannel):
    """One running fork server; viva/sandbox/guest/process/supervisor.py is the other side."""

    def __init__(self, settings: dict[str, object], python: str, reactor: Reactor, canary: Canary) -> None:
        """Start the program and wait until its libraries are imported; `ready` then holds its first message.

        Args:
            settings: the fields of `Settings` in viva/sandbox/guest/transport/message_types.py, but for the canary.
            python: the interpreter that runs it.
            reactor: watches the connection.
            canary: made after the program has started, which removes it if this process is killed.

        Raises:
            BoxUnavailable: The interpreter cannot be executed.
            OSError: The canary cannot be made.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        super().__init__(ours, reactor)
        lifeline, self._lifeline = os.pipe()
        reading, writing = os.pipe()
        self._output = CapturedOutput(reading, _KEPT_KIB)
        try:
            self._process = _execute(python, theirs.fileno(), lifeline, writing, canary.folder)
        except OSError as error:
            os.close(self._lifeline)
            self._free()
            raise BoxUnavailable(f"{python} cannot be started: {error.strerror}") from error
        finally:
            theirs.close()
            os.close(lifeline)
            os.close(writing)
        reactor.watch(self._output, self._output.drain)
        try:
            self.ready = self._send_settings({**settings, "canary": canary.make()})
        except OSError:
            self.close()
            raise

    def _send_settings(self, settings: dict[str, object]) -> dict[str, Any]:
        left_s = Countdown(processes.clock_of(lambda: self.pid, time.monotonic), START_S).left_s
        self._channel.settimeout(START_S)
        try:
            control.send(self._channel, settings)
        except OSError as error:
            return {"failed": f"the fork server did not start ({error})"}
        return self.greeting(left_s)

    @property
    def pid(self) -> int:
        """Return the pid of the process that supervises the fork server."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Return whether it can still make boxes."""
        return super().alive and self._process.poll() is None

    def last_line(self) -> str:
        """Return the last line that the fork server itself printed, in brackets; empty if it printed nothing."""
        lines = self._output.bytes().decode(errors="replace").strip().splitlines()
        return f" [{lines[-1][:300]}]" if lines else ""

    def close(self) -> None:
        """End every box and the fork server, and wait until all of them have gone."""
        if self._closed:
            return
        self._hang_up()
        os.close(self._lifeline)
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        self._reactor.forget(self._output)
        self._forget()
        self._free()
        if self.ready.get("base"):
            shutil.rmtree(self.ready["base"], ignore_errors=True)  # already gone, unless the supervisor was killed

    def _free(self) -> None:
        self._channel.close()
        self._output.close()


def _execute(python: str, channel: int, lifeline: int, output: int, canary: str) -> subprocess.Popen[bytes]:
    """Start the supervisor of the fork server in its own session, so that Ctrl-C reaches only this process."""
    return subprocess.Popen(  # noqa: S603  # the operator chose the interpreter; the arguments are numbers and paths of viva
        [python, "-s", str(START), "serve", str(channel), str(lifeline), canary],
        env=environment(),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=[channel, lifeline],
        start_new_session=True,
    )
