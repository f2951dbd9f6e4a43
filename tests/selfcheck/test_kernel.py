"""`viva.check` in a real kernel, as a notebook's front end speaks to it."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.live_course import LIVE
from tests.support.words_course import RIGHT

pytest.importorskip("ipykernel", reason="the stock kernel")
pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Notebook:
    """Cells sent to a kernel, and what they put out."""

    def __init__(self, manager: Any, client: Any) -> None:
        self.manager, self.client = manager, client

    def run(self, cell: str, timeout_s: float = 60.0) -> list[dict[str, Any]]:
        """The contents of what the cell published, in order; what it printed is one output, however it was sent."""
        outputs: list[dict[str, Any]] = []

        def publish(message: dict[str, Any]) -> None:
            output = {"kind": message["msg_type"], **message["content"]}
            if outputs and output["kind"] == "stream" and outputs[-1].get("name") == output["name"]:
                outputs[-1]["text"] += output["text"]
            else:
                outputs.append(output)

        self.client.execute_interactive(cell, timeout=timeout_s, output_hook=publish)
        return [output for output in outputs if output["kind"] not in ("status", "execute_input")]

    def checked(self, cell: str) -> dict[str, str]:
        """Text and page of the one report that the cell shows."""
        outputs = self.run(cell)
        assert [output["kind"] for output in outputs] == ["execute_result"], outputs
        data: dict[str, str] = outputs[0]["data"]
        return data


@pytest.fixture(scope="module")
def notebook(live_course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    from jupyter_client.manager import start_new_kernel

    folder = tmp_path_factory.mktemp("work")
    (folder / "my work.ipynb").write_text(
        '{"cells": [{"cell_type": "markdown", "metadata": {}, "source": "## 2.2\\nBecause."}], "metadata": {}}'
    )
    told = {
        "VIVA_COURSE": str(live_course),
        "JPY_SESSION_NAME": str(folder / "my work.ipynb"),
        "IPYTHONDIR": str(folder),
    }
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(folder), env={**os.environ, **told})
    started = Notebook(manager, client)
    for cell in ("import viva", RIGHT, LIVE):
        started.run(cell)
    yield started
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    manager.cleanup_resources()
    started.manager = started.client = None
    del client, manager
    gc.collect()  # the client leaves sockets and a loop behind: they are told of here, and not in someone's test


def test_cell_shows_text_and_table(notebook: Notebook) -> None:
    data = notebook.checked("viva.check()")
    assert data.keys() == {"text/plain", "text/html"}
    assert "12 of 12 points, 13 more pending" in data["text/plain"] and "<table" in data["text/html"]
    assert "was not found" not in data["text/plain"] and "my work.ipynb" in data["text/plain"]
    assert "You have not written" not in data["text/plain"]  # the Markdown cell was read


def test_functions_show_nothing_in_notebook(notebook: Notebook) -> None:
    notebook.run("def total(n):\n    print('noise'); display('noise'); return sum(n)")
    assert "noise" not in str(notebook.run('viva.check("1.2")'))


def test_loop_and_interrupt_in_kernel(notebook: Notebook) -> None:
    import threading

    notebook.run("def total(n):\n    while True: pass")
    assert "timeout" in notebook.checked('viva.check("1.2")')["text/plain"]
    notebook.run("import time\ndef total(n):\n    time.sleep(0.5)\n    raise SystemExit")
    interrupt = threading.Timer(0.25, notebook.manager.interrupt_kernel)
    interrupt.start()
    outputs = notebook.run('viva.check("1.2")')
    assert [output.get("ename") for output in outputs] == ["KeyboardInterrupt"]
    notebook.run(RIGHT)
    assert "2 of 2 points" in notebook.checked('viva.check("1.2")')["text/plain"]
