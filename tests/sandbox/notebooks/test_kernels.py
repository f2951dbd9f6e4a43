"""Notebooks run by a stock kernel in a box: the same requests, the same isolation layers."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from viva.model import Limits, Tier
from viva.model.errors import BoxDied, BoxTimeout
from viva.sandbox.host.box import Box
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.levels.detect_levels import detect_tiers

pytestmark = pytest.mark.long
pytest.importorskip("ipykernel", reason="the stock kernel")

CLIENT = ["jupyter_client.manager", "jupyter_client.blocking.client"]
PRELOAD = ["numpy", "IPython", "ipykernel.kernelapp", *CLIENT]
Cells = list[dict[str, Any]]


def best_tier() -> Tier:
    """Of this host, or the one that the caller of this run wants."""
    if wanted := os.environ.get("VIVA_TEST_TIER"):
        return Tier[wanted]
    return next(report.tier for report in detect_tiers() if report.available)


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer.start(best_tier(), preload=PRELOAD) as started:
        yield started


@pytest.fixture
def box(fork_server: ForkServer) -> Iterator[Box]:
    """A box; afterwards the next one of the same fork server must work."""
    with fork_server.spawn(Limits(memory_mib=512)) as box:
        yield box
    with fork_server.spawn(Limits()) as following:
        assert following.ask("names", timeout_s=5) == {"ok": []}


def request(sources: Sequence[str], path: str = "n.ipynb", kernel: str = "python", **fields: Any) -> dict[str, Any]:
    cells = [{"number": n, "source": textwrap.dedent(source).strip("\n")} for n, source in enumerate(sources, 1)]
    limits = {"timeout_s": 60.0, "cell_s": 20.0, "whole_s": 40.0, **fields}
    how = {"op": "load_by_kernel", "mode": "run", "forbid": []}
    return {**how, "path": path, "kernel": kernel, "cells": cells, **limits}


def run(box: Box, *sources: str, **fields: Any) -> Cells:
    reply: Any = box.ask(**request(sources, **fields))
    assert "ok" in reply, reply
    cells: Cells = reply["ok"]["cells"]
    return cells


def call(box: Box, name: str, *args: Any, keep: bool = False) -> Any:
    reply: Any = box.ask("call", timeout_s=10, space="student", name=name, args=list(args), kwargs={}, keep=keep)
    return reply.get("ok", reply)


def texts(cell: dict[str, Any]) -> list[str]:
    return [o["text"] if o["output_type"] == "stream" else o["data"]["text/plain"] for o in cell["outputs"]]


def test_cells_run_and_their_objects_are_reached(box: Box) -> None:
    cells = run(box, "import numpy as np\nx = 3", "def f(y):\n    print('f')\n    return np.zeros(2) + x + y", "f(1)")
    assert [cell["status"] for cell in cells] == ["ok"] * 3 and [cell["number"] for cell in cells] == [1, 2, 3]
    assert sorted(texts(cells[2])) == ["array([4., 4.])", "f\n"]
    assert call(box, "f", 1).tolist() == [4, 4]
    kept = call(box, "f", 2, keep=True)
    assert box.ask("attribute", timeout_s=5, ref=kept.id, name="shape") == {"ok": (2,)}
    assert box.ask("names", timeout_s=5) == {"ok": ["f", "x"]}
    full: Any = box.ask("call", timeout_s=5, space="student", name="f", args=[0], kwargs={}, full=True)
    assert full["ok"]["printed"] == "f\n"


def test_comm_messages_of_widgets(box: Box) -> None:
    cells = run(
        box,
        """
        from comm import create_comm
        heard = []
        channel = create_comm(target_name="a.widget", data={"value": 1})
        channel.on_msg(heard.append)
        channel.send({"value": 2})
        known = get_ipython().kernel.comm_manager.comms
        type(get_ipython()).__name__, type(channel).__module__, channel.comm_id in known
        """,
        """
        # What a page would send when a user moves the slider.
        message = {"content": {"comm_id": channel.comm_id, "data": {"value": 3}}}
        get_ipython().kernel.comm_manager.comm_msg(None, None, message)
        [m["content"]["data"] for m in heard]
        """,
        "%connect_info",
    )
    assert texts(cells[0]) == ["('ZMQInteractiveShell', 'ipykernel.comm.comm', True)"]
    assert texts(cells[1]) == ["[{'value': 3}]"]
    assert '"transport": "ipc"' in texts(cells[2])[0]


def test_error_costs_its_cell(box: Box) -> None:
    cells = run(box, "def g():\n    return 1 / 0", "g()", "import no_such\ndef later():\n    return 5", "f(:", "%nope")
    assert [cell["status"] for cell in cells] == ["ok", "raised", "raised", "raised", "raised"]
    assert cells[1]["raised"]["type"] == "ZeroDivisionError"
    assert cells[1]["raised"]["frames"] == [["cell 2", 1, "<module>", "g()"], ["cell 1", 2, "g", "return 1 / 0"]]
    assert cells[1]["outputs"][0]["ename"] == "ZeroDivisionError"
    assert cells[2]["raised"]["missing_module"] == "no_such"
    assert call(box, "later") == 5


def test_two_notebooks_are_two_programs(box: Box) -> None:
    run(box, "x = 1\ndef f():\n    return x", path="a.ipynb")
    cells = run(box, "x = 2\ndef g():\n    return x", "'f' in globals()", path="b.ipynb")
    assert (call(box, "f"), call(box, "g")) == (1, 2) and texts(cells[1]) == ["False"]


def test_hanging_cell_is_interrupted(box: Box) -> None:
    cells = run(
        box,
        "while True: pass",
        "import time\ntime.sleep(60)",
        "await __import__('asyncio').sleep(60)",
        "x = 1",
        cell_s=1.0,
    )
    assert [cell["status"] for cell in cells] == ["timeout"] * 3 + ["ok"]
    assert cells[0]["raised"]["limit"] == "time" and cells[0]["raised"]["frames"] == [
        ["cell 1", 1, "<module>", "while True: pass"]
    ]
    assert call(box, "x.__add__", 1) == 2


def test_notebook_limit_skips_rest(box: Box) -> None:
    cells = run(box, "import time\ntime.sleep(60)", "x = 1", whole_s=1.0)
    assert [cell["status"] for cell in cells] == ["timeout", "skipped"]


def test_deaf_cell_ends_with_box(box: Box) -> None:
    stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    with pytest.raises(BoxTimeout):
        box.ask(**request([stubborn], cell_s=0.5, timeout_s=4.0))


@pytest.mark.parametrize("end", ["import os\nos._exit(3)", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"])
def test_dead_kernel_ends_box(box: Box, end: str) -> None:
    with pytest.raises(BoxDied):
        box.ask(**request([end]))


def test_exit_ends_its_cell(box: Box) -> None:
    cells = run(box, "exit()", "import sys\nsys.exit(2)", "x = 1\nx")
    assert cells[2]["status"] == "ok" and texts(cells[2]) == ["1"]


def test_memory_limit_ends_cell(box: Box) -> None:
    [cell] = run(box, "import numpy as np\nx = np.ones(2 << 30, dtype='u1')")
    assert cell["status"] == "raised" and cell["raised"]["limit"] == "memory"


def test_killed_client_forges_nothing(box: Box) -> None:
    killing = """
        import os, signal
        # In T0 a box sees every process of the machine: only our own children are meant.
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            for pid in file.read().split():
                os.kill(int(pid), signal.SIGKILL)
    """
    reply: Any = box.ask(**request([killing, "x = 1"]))
    assert "ok" not in reply and "process that speaks to the kernel has ended" in reply["raised"]["message"]


@pytest.mark.skipif(best_tier() < Tier.T1, reason="T0 has no isolation layers")
def test_there_is_no_network(box: Box) -> None:
    [cell] = run(box, "import socket\nsocket.create_connection(('127.0.0.1', 9), 2)")
    assert cell["raised"]["type"] == "OSError" and "not supported" in cell["raised"]["message"]


def test_ordinary_boxes_know_nothing_of_kernels() -> None:
    with ForkServer.start(best_tier(), preload=["numpy", "IPython"]) as fork_server, fork_server.spawn(Limits()) as box:
        data = b"import sys\nheavy = [m for m in ('ipykernel', 'jupyter_client', 'zmq') if m in sys.modules]\n"
        box.ask("put", timeout_s=5, path="s.py", data=data)
        box.ask("load_module", timeout_s=5, path="s.py", mode="run", forbid=[])
        assert box.ask("get", timeout_s=5, space="student", name="heavy") == {"ok": []}


# --- a kernel of another language

SHOUT = '''
"""A language of one statement: what is written is shouted; `?` is an error and `...` never ends."""
import time
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel


class Shout(Kernel):
    implementation, implementation_version, banner = "shout", "1", "shout"
    language_info = {"name": "shout", "mimetype": "text/plain", "file_extension": ".shout"}

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False):
        if code == "...":
            try:
                time.sleep(60)
            except KeyboardInterrupt:
                code = "?"
        if code == "?":
            error = {"ename": "Unheard", "evalue": "say it louder", "traceback": ["Unheard: say it louder"]}
            self.send_response(self.iopub_socket, "error", error)
            return {"status": "error", "execution_count": self.execution_count, **error}
        self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": code.upper()})
        data = {"data": {"text/plain": str(len(code))}, "metadata": {}, "execution_count": self.execution_count}
        self.send_response(self.iopub_socket, "execute_result", data)
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}


IPKernelApp.launch_instance(kernel_class=Shout)
'''


@pytest.fixture(scope="module")
def shouting(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter with the kernel spec `shout` where `jupyter kernelspec install --sys-prefix` puts it."""
    prefix = tmp_path_factory.mktemp("env")
    for folder in (prefix, *prefix.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/tmp") and folder != Path("/"):
            folder.chmod(0o755)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
    python = str(prefix / "bin" / "python")
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    own = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    (own / "behind.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    spec = prefix / "share" / "jupyter" / "kernels" / "shout"
    spec.mkdir(parents=True)
    (spec / "shout.py").write_text(SHOUT)
    argv = [python, str(spec / "shout.py"), "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Shout", "language": "shout"}))
    return python


def test_kernel_of_other_language(shouting: str) -> None:
    with (
        ForkServer.start(best_tier(), preload=["numpy", *CLIENT], python=shouting) as fork_server,
        fork_server.spawn(Limits()) as box,
    ):
        cells = run(box, "hello", "?", "...", "again", kernel="shout", cell_s=3.0)
        assert [cell["status"] for cell in cells] == ["ok", "raised", "timeout", "ok"]
        assert texts(cells[0]) == ["HELLO", "5"] and texts(cells[3]) == ["AGAIN", "5"]
        assert cells[1]["raised"]["type"] == "Unheard" and cells[1]["raised"]["message"] == "say it louder"
        assert box.ask("names", timeout_s=5) == {"ok": []}


def test_missing_kernel_is_named(box: Box) -> None:
    reply: Any = box.ask(**request(["1"], kernel="no_such_kernel"))
    assert "no_such_kernel" in reply["raised"]["message"]
