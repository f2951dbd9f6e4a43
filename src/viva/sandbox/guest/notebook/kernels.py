"""`kernel: true`: run notebooks with a stock kernel in the box; imported only if the assignment asks for it.

The kernel for Python is ipykernel's own application in the worker's main thread. So every other operation finds the
student's objects, and widgets get the comm messages that they need. Another process (kernel_client.py) is its client.
They communicate through sockets that are files in the box; there is no network.

Kernels of other languages are programs that the client starts; only the outputs of their cells are known.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import sys
import tempfile
import types
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Union

from ..loading import import_denylist, sources
from ..loading.modules import Loading
from ..loading.namespaces import Namespaces
from ..process import counted_time
from ..values.raised import Raised, describe
from . import kernel_client, shell_lines
from .notebooks import define_the_rest

if TYPE_CHECKING:
    from ..transport.message_types import KernelAnswer, KernelRequest, Request

PYTHON = "python"
_FIRST_PORT = 1
_TICK_S = 0.2
"""Seconds between wake-ups of the kernel's loop: without them, an `await` would delay an interrupt."""


class KernelNotebooks:
    """Loads notebooks into a box with a kernel; has the same interface as `notebooks.Notebooks`."""

    def __init__(self, namespaces: Namespaces, loading: Loading) -> None:
        """Prepare to start kernels.

        Args:
            namespaces: where the namespaces of notebooks are added.
            loading: makes the process look as if the student had started it.

        Raises:
            RuntimeError: This system has no fork.
        """
        if not hasattr(os, "fork"):
            raise RuntimeError("a kernel needs fork and sockets that are files, which this system does not have")
        self._namespaces, self._loading = namespaces, loading
        self._running: Dict[str, Union[_PythonKernel, _OtherKernel]] = {}

    def load(self, request: Request) -> Dict[str, object]:
        """Run the cells in order; returns what `Notebooks.load` returns.

        A cell that exceeds `cell_s`, or exceeds `whole_s` with the cells before it, is interrupted the way a person
        interrupts a kernel. A cell that cannot be interrupted ends with the box.

        Raises:
            RuntimeError: The kernel does not start.
        """
        path, name = str(request["path"]), str(request["kernel"])
        self._loading.prepare(request, path)
        kernel = self._running.get(name) or (_PythonKernel() if name == PYTHON else _OtherKernel(name))
        self._running[name] = kernel
        cells: KernelRequest = {
            "cells": [{"number": int(c["number"]), "source": str(c["source"])} for c in request["cells"]],
            "cell_s": float(request["cell_s"]),
            "whole_s": float(request["whole_s"]),
        }
        namespace = kernel.begin()
        if namespace is not None:
            self._namespaces.add(path, namespace)
        answer = kernel.answer(cells)
        if "failed" in answer:
            raise RuntimeError(f"the kernel could not be used: {answer['failed']}")
        return {"cells": answer["cells"], "forbidden": import_denylist.tried()}


class _OtherKernel:
    """A program that the client starts, according to the kernel spec of this name."""

    def __init__(self, name: str) -> None:
        self._client = _Client(functools.partial(_start_other, name))

    def begin(self) -> Optional[Dict[str, object]]:
        """Return None: the namespace is in another program."""
        return None

    def answer(self, request: KernelRequest) -> KernelAnswer:
        """Return the client's answer."""
        self._client.ask(request)
        while True:
            answer = self._client.read_more()
            if answer is not None:
                return answer


class _PythonKernel:
    """ipykernel in this process."""

    def __init__(self) -> None:
        folder = tempfile.mkdtemp(prefix="kernel-")
        connection: Dict[str, object] = {
            "transport": "ipc",
            "ip": os.path.join(folder, "k"),
            "key": "",
            "signature_scheme": "hmac-sha256",
            "kernel_name": "python3",
        }
        for number, channel in enumerate(("shell", "iopub", "stdin", "control", "hb"), _FIRST_PORT):
            connection[f"{channel}_port"] = number
        file = os.path.join(folder, "connection.json")
        with open(file, "w") as written:
            json.dump(connection, written)
        self._client = _Client(functools.partial(_connect, file, os.getpid()))  # forked while there is one thread
        self._raised: Dict[int, Raised] = {}
        self._app, self._streams = _application(file)
        self._shell: Any = self._app.shell
        self._shell.events.register("post_run_cell", self._remember)
        self._shell.compile.get_code_name = self._name_of_cell
        self._shell.system = lambda line: shell_lines.run(self._shell, line)
        self._used = False

    def begin(self) -> Dict[str, object]:
        """Return the namespace of the next notebook: two notebooks are two programs."""
        if self._used:
            module = types.ModuleType("__main__")
            sys.modules["__main__"] = module
            self._shell.user_module, self._shell.user_ns = module, vars(module)
            self._shell.init_user_ns()
            self._shell.execution_count = 1
        self._used = True
        self._raised.clear()
        namespace: Dict[str, object] = self._shell.user_ns
        return namespace

    def answer(self, request: KernelRequest) -> KernelAnswer:
        """Run the kernel's loop until the client has run all cells; return the client's answer."""
        loop = self._app.kernel.io_loop
        answers: List[KernelAnswer] = []

        def receive(*_event: object) -> None:
            answer = self._client.read_more()
            if answer is not None:
                answers.append(answer)
                loop.stop()

        def tick() -> None:
            if not answers:
                loop.call_later(_TICK_S, tick)

        outer = sys.stdout, sys.stderr, sys.displayhook, signal.getsignal(signal.SIGINT)
        sys.stdout, sys.stderr, sys.displayhook = self._streams
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        loop.add_handler(self._client.fileno(), receive, loop.READ)
        try:
            self._client.ask(request)
            tick()
            while not answers:
                loop.start()  # `exit()` stops the loop; later cells still run
        finally:
            loop.remove_handler(self._client.fileno())
            sys.stdout, sys.stderr, sys.displayhook = outer[:3]
            signal.signal(signal.SIGINT, outer[3])
        [answer] = answers
        for cell in answer.get("cells", ()):
            raised = self._raised.get(cell["number"])
            if raised is not None and cell["status"] == "timeout":
                assert cell["raised"] is not None  # the client says so of every cell that it interrupted
                cell["raised"] = {**cell["raised"], "frames": raised["frames"]}
            elif raised is not None:
                cell["status"], cell["raised"] = "raised", raised
        return answer

    def _remember(self, result: Any) -> None:
        error = None if result is None else result.error_before_exec or result.error_in_exec
        if error is not None and type(result.execution_count) is int:
            number = result.execution_count
            self._raised[number] = describe(error)
            define_the_rest(self._shell.user_ns, number, str(result.info.raw_cell), error)

    def _name_of_cell(self, raw: str, _transformed: str, number: int) -> str:
        return sources.remember_cell(number, raw)


class _Client:
    """The worker's end of the connection to the client's process."""

    def __init__(self, connect: Callable[[], kernel_client.Kernel]) -> None:
        self._channel, theirs = socket.socketpair()
        if os.fork() == 0:
            self._channel.close()
            kernel_client.serve(theirs, connect)
        theirs.close()
        self._read = b""

    def fileno(self) -> int:
        """Return the descriptor, for an event loop."""
        return self._channel.fileno()

    def ask(self, request: KernelRequest) -> None:
        """Send a request; it may exceed the buffer of the socket, because the client always reads."""
        self._channel.sendall(json.dumps(request).encode() + b"\n")

    def read_more(self) -> Optional[KernelAnswer]:
        """Read what has arrived; return the answer once it is complete."""
        data = self._channel.recv(1 << 20)
        if not data:
            return {"failed": "the process that speaks to the kernel has ended"}
        self._read += data
        if not data.endswith(b"\n"):
            return None
        line, self._read = self._read, b""
        answer: KernelAnswer = json.loads(line)
        return answer


def _application(file: str) -> Any:
    """Start the kernel; return it, and its replacements of the standard streams and the display hook."""
    from ipykernel.kernelapp import IPKernelApp

    outer = sys.stdout, sys.stderr, sys.displayhook
    app: Any = IPKernelApp.instance()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that it cannot open a port for its own forks
        app.initialize(["-f", file, "--HistoryManager.hist_file=:memory:", "--log-level=CRITICAL"])
    app.kernel.start()
    streams = sys.stdout, sys.stderr, sys.displayhook
    sys.stdout, sys.stderr, sys.displayhook = outer
    return app, streams


def _connect(file: str, worker: int) -> kernel_client.Kernel:
    """Connect to the kernel in the worker; runs in the client's process."""
    from jupyter_client.blocking.client import BlockingKernelClient

    client = BlockingKernelClient(connection_file=file)
    client.load_connection_file()
    clock = counted_time.of_process(worker)
    return kernel_client.Kernel(client, clock, lambda: os.kill(worker, signal.SIGINT), lambda: None)


def _start_other(name: str) -> kernel_client.Kernel:
    """Start a kernel of another language; runs in the client's process."""
    from jupyter_client.manager import KernelManager

    folder = tempfile.mkdtemp(prefix="kernel-")
    file = os.path.join(folder, "connection.json")
    manager = KernelManager(kernel_name=name, transport="ipc", ip=os.path.join(folder, "k"), connection_file=file)
    manager.start_kernel()
    client = manager.blocking_client()
    process: Any = manager.provisioner
    clock = counted_time.of_process(process.pid)
    return kernel_client.Kernel(client, clock, manager.interrupt_kernel, lambda: manager.shutdown_kernel(now=True))
