"""The command `viva review` as a user starts it, and a browser's page on it."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.review_class import NAME, ROOT

_ADDRESS = re.compile(r"https?://\S+/\?token=\S+")

PATIENCE_MS = 300_000.0
"""How long a busy machine may take for what a page does at once."""


@dataclass
class Server:
    """A running command."""

    process: "subprocess.Popen[str]"
    address: str
    said: list[str] = field(default_factory=list)

    @property
    def origin(self) -> str:
        """Where its pages are."""
        return self.address.partition("/?")[0]

    def stop(self, number: int = signal.SIGINT) -> int:
        """End it and return its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(30)


@contextlib.contextmanager
def served(state: Path, *arguments: str, what: str = NAME, course: Path = ROOT) -> Iterator[Server]:
    """Start `viva review` and wait for its address.

    Args:
        state: where it remembers its port and key.
    """
    command = [sys.executable, "-m", "viva", "review", what, "--course", str(course), *arguments]
    environment = {**os.environ, "XDG_STATE_HOME": str(state)}
    errors = state / "stderr.txt"
    with errors.open("a") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment, cwd=state, start_new_session=True
        )
    assert process.stdout is not None
    server = Server(process, "")
    try:
        for line in process.stdout:
            server.said.append(line)
            if found := _ADDRESS.search(line):
                server.address = found[0]
                break
        assert server.address, f"no address: {server.said} {errors.read_text()[-2000:]}"
        yield server
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
        process.stdout.close()


@contextlib.contextmanager
def chromium(*options: str) -> Iterator[Any]:
    """Start the distribution's Chromium; if it is missing, skip the tests, but fail in CI."""
    path = shutil.which("chromium")
    if path is None:
        if os.environ.get("VIVA_REQUIRED_TIERS"):
            pytest.fail("chromium is not installed, and this machine must run the tests in a browser")
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        launched = started.chromium.launch(executable_path=path, args=["--no-sandbox", *options])
        yield launched
        launched.close()


def opened(browser: Any, server: Server, path: str = "", **settings: Any) -> Any:
    """Open a page of the review in a new browser context."""
    page = browser.new_context(**settings).new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(server.address)
    page.wait_for_selector("table.questions")
    if path:
        page.goto(server.origin + path)
    return page
