"""`viva review` as a program: one line, one page, restarts, two at once, and its end."""

import contextlib
import io
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import review_program
from tests.support.served_app import PASSWORD, Browser
from tests.support.words_course import write_course
from viva.cli.main import run

pytestmark = pytest.mark.long

PROGRAM = str(Path(review_program.__file__))
ADDRESS = re.compile(r"viva review: (https?)://([^:/]+):(\d+)(/\S*)\n")


class Program:
    """The command, running."""

    def __init__(self, *arguments: object, env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )

    def opens(self) -> tuple[str, Browser]:
        """Return the path that it prints, and a browser for its port."""
        found = ADDRESS.fullmatch(self.line())
        assert found, self.process.communicate()
        return found[4], Browser(int(found[3]))

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """Its exit status, and what it said on standard error."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        said = self.process.communicate(timeout=120)[1]
        return self.process.returncode, said


MADE = "*/*"
"""What a request accepts that is not for a page: it waits until the pages are made."""
STOPPED = (0, "viva review: stopped; every grade is saved.\n")


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`start("essays", …)`: the command in a course with one assignment, `words`, and results of it in `results`."""
    monkeypatch.setenv("VIVA_COURSE", str(write_course(tmp_path / "course")))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(Path(PROGRAM).parents[2]))
    monkeypatch.delenv("VIVA_REVIEW_PASSWORD", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results" / "ada").mkdir(parents=True)
    (tmp_path / "results" / "ada" / "results.json").write_text("{}", "utf-8")
    with contextlib.ExitStack() as all_of_them:

        def begin(*arguments: object, **env: str) -> Program:
            program = Program(*arguments, env=env)
            all_of_them.callback(program.process.communicate)
            all_of_them.callback(program.process.kill)
            return program

        yield begin


def test_start_and_interrupt(start: Any) -> None:
    program = start("results", "--by", "Grace Hopper", "--second", "--question", "1 & 2")
    path, browser = program.opens()
    entered = browser.ask("GET", path)
    assert (entered.status, entered.headers["location"]) == (303, "/q/1%20%26%202")
    assert '"marker":"Grace Hopper","round":2' in browser.ask("GET", "/", accept=MADE).body
    assert browser.ask("GET", "/queue").body == "('results', None, None)"
    assert program.end() == STOPPED


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_it(start: Any, number: int) -> None:
    program = start("results")
    path, browser = program.opens()
    assert browser.ask("GET", path).status == 303
    assert program.end(number) == STOPPED


def test_interrupt_during_a_request(start: Any) -> None:
    program = start("results")
    path, browser = program.opens()
    browser.ask("GET", path)
    got: list[str] = []
    asking = threading.Thread(target=lambda: got.append(browser.ask("GET", "/holds", accept=MADE).body))
    asking.start()
    assert program.line() == "holding\n"
    program.process.send_signal(signal.SIGINT)
    program.process.stdin.write("and well\n")
    program.process.stdin.flush()
    asking.join()
    assert got == ["at last and well\n"]
    assert program.ended() == STOPPED


def test_restart_keeps_open_pages(start: Any) -> None:
    first = start("results")
    path, browser = first.opens()
    browser.ask("GET", path)
    page = browser.ask("GET", "/", accept=MADE).body
    assert first.end() == STOPPED
    again = start("results")
    same, there = again.opens()
    assert (same, there.port) == (path, browser.port)
    assert browser.ask("GET", "/", accept=MADE).body == page  # the form in it stays good as well
    assert browser.ask("POST", "/mark", "points=1", x_csrf_token=json.loads(page)["csrf"]).status == 200
    assert again.end() == STOPPED
    renewed = start("results", "--new-token")
    other, there = renewed.opens()
    assert other != path and there.port == browser.port
    assert browser.ask("GET", "/").status == 403


def test_second_run_names_the_first(start: Any) -> None:
    path, browser = start("results").opens()
    status, said = start("results").ended()
    assert status == 1 and f"runs already at http://127.0.0.1:{browser.port}{path}: open that address" in said
    assert len(said.splitlines()) == 1
    other, beside = start("words", "--records", "sqlite:///r.db").opens()  # another thing to mark
    assert other != path and beside.port != browser.port
    assert browser.ask("GET", path).status == 303


def test_port_taken_by_a_stranger(start: Any) -> None:
    first = start("results")
    path, browser = first.opens()
    browser.ask("GET", path)
    first.end()
    with socket.create_server(("127.0.0.1", browser.port)):
        other, there = start("results").opens()
        assert there.port != browser.port and other != path
        there.cookies = browser.cookies
        name = next(iter(browser.cookies))
        renamed = name.replace(str(browser.port), str(there.port))
        assert there.ask("GET", "/", cookie=f"{renamed}={browser.cookies[name]}").status == 403


def test_unreadable_answers(start: Any) -> None:
    program = start("results", "-a", "unreadable")
    assert program.ended() == (1, "viva: The answers cannot be read.\n")


def test_other_machines_need_the_password(start: Any) -> None:
    program = start("results", "--host", "0.0.0.0", VIVA_REVIEW_PASSWORD=PASSWORD)
    path, browser = program.opens()
    assert path == "/"
    assert browser.ask("GET", "/", host="review.example").headers["location"] == "/login"
    form = browser.ask("GET", "/login").body
    csrf = re.search(r'name="csrf" value="([^"]+)"', form)
    assert csrf
    entered = browser.ask("POST", "/login", f"csrf={csrf[1]}&marker=Ada&password={PASSWORD}")
    assert entered.status == 303 and '"marker":"Ada"' in browser.ask("GET", "/", accept=MADE).body
    status, said = program.end()
    assert status == 0 and "over HTTP, names, answers, grades and the password can be read" in said
    assert PASSWORD not in said


def test_https_starts_a_secure_session(start: Any, tmp_path: Path) -> None:
    files = certificate(tmp_path)
    program = start("results", "--certificate", files[0], "--key", files[1])
    found = ADDRESS.fullmatch(program.line())
    assert found and found[1] == "https"
    context = ssl.create_default_context(cafile=str(files[0]))
    context.check_hostname = False

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), Stay)
    with pytest.raises(urllib.error.HTTPError) as entered:
        opener.open(f"https://127.0.0.1:{found[3]}{found[4]}")
    with entered.value:
        cookie = entered.value.headers["set-cookie"]
    assert cookie.startswith(f"__Host-viva-review-{found[3]}=") and cookie.endswith("; secure")
    assert program.end() == STOPPED


def certificate(folder: Path) -> tuple[Path, Path]:
    """Create a self-signed certificate and its key."""
    public, private = folder / "certificate.pem", folder / "key.pem"
    wanted = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=127.0.0.1", "-days", "2"]
    command = ["openssl", "req", "-x509", *wanted, "-out", str(public), "-keyout", str(private)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return public, private


def test_browser_command_hides_the_token(start: Any, tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    look = tmp_path / "browser"
    look.write_text(
        f'#!/bin/sh\nfile="${{1#file://}}"\n(echo "$1"; stat -c %a "$file"; cat "$file") > {told}\n', "utf-8"
    )
    look.chmod(0o755)
    program = start("results", "--open", BROWSER=f"{look} %s")
    path, browser = program.opens()
    uri, mode, page = told.read_text("utf-8").split("\n", 2)
    assert "token" not in uri and path.removeprefix("/?token=") not in uri and mode == "600"
    assert f"url=http://127.0.0.1:{browser.port}{path}" in page
    file = Path(uri.removeprefix("file://"))
    assert file.exists() and file.parent.stat().st_mode & 0o777 == 0o700
    assert program.end() == STOPPED
    assert not file.parent.exists()


# --- wrong command lines, in this process


@pytest.fixture
def refused(start: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the one sentence that the command prints."""

    def call(*arguments: object) -> str:
        assert run(["review", *map(str, arguments)]) == 1
        said = capsys.readouterr()
        assert said.out == "" and len(said.err.splitlines()) == 1
        return said.err

    return call


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], ["no such folder of results, and no assignment"]),
        (["words"], ["does not say where scores are kept", "--records URL"]),
        (["results", "--export", "a", "--import", "b"], ["one of --export and --import"]),
        (["results", "--by", "x" * 61], ["--by", "1 to 60 characters"]),
        (["results", "--by", "a\x1b[31m"], ["--by", "1 to 60 characters"]),
        (["results", "--port", "0"], ["--port", "0 is not in the range"]),
        (["results", "--host", "0.0.0.0"], ["--host", "at least 10 characters", "VIVA_REVIEW_PASSWORD"]),
        (["results", "--certificate", "c"], ["--certificate and --key belong together"]),
        (["results", "--certificate", "c", "--key", "k"], ["--certificate c: no such file"]),
        (
            ["results", "--certificate", "results/ada/results.json", "--key", "results/ada/results.json"],
            ["cannot be used"],
        ),
    ],
)
def test_wrong_command_line(
    refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: list[str]
) -> None:
    monkeypatch.setenv("VIVA_REVIEW_PASSWORD", "nine char")
    said = refused(*arguments)
    assert all(word in said for word in words), said
    assert not (tmp_path / "state").exists()


def test_password_prompt(refused: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    typed = iter(["correct horse", "correct house", "too short", "too short"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.hidden_prompt_func", lambda prompt: next(typed))
    assert run(["review", "results", "--host", "0.0.0.0"]) == 1
    said = capsys.readouterr()
    assert said.out == "" and "do not match" in said.err and "at least 10 characters" in said.err
    assert "horse" not in said.err and next(typed, None) is None


@pytest.mark.parametrize("module", ["starlette", "uvicorn", "jinja2"])
def test_missing_library(refused: Any, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    real = __import__("importlib.util").util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == module else real(name))
    assert refused("results") == f"viva: `viva review` needs the module `{module}`: pip install 'viva-grader[review]'\n"
