"""`make bench-review`: how long `viva review` takes to show its first page, and any page, for a class of 2,000.

The command runs as a user starts it, in a separate process; pages are requested as by a browser, one after another,
over loopback. A page is everything that the server sends for an address; parts that a page loads later are rows too.
"""

import argparse
import hashlib
import http.cookiejar
import os
import random
import re
import statistics
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from bench.measure import BIN
from viva.config import load_course
from viva.config.rubric import Rubric
from viva.config.rubric_file import load_rubric
from viva.model import Attempt, Case, Entry, Isolation, Score, Status, Student
from viva.model.hand_grading import Judgement, Place
from viva.model.reason import Reason
from viva.plugins.records import hand_grading
from viva.plugins.records.conditions import Conditions
from viva.plugins.records.store import Records
from viva.plugins.review.rubric_points import judge

ROOT = Path(__file__).parents[1]
NAME = "translation_and_masks"
QUESTION = "2.1"
WORDS = """
    attention weights softmax scale variance gradient mask token encoder decoder sentence key query value linear kernel
    memory parallel position sharp alignment bleu brevity precision vanish sum long short because so
""".split()  # noqa: SIM905  # wrapped words are easier to read than a list


def main() -> None:
    """Print a row for each page."""
    parser = argparse.ArgumentParser(prog="python -m bench.review", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="submissions")
    parser.add_argument("--rounds", type=int, default=30, help="times that each page is asked for")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'records.db'}"
        hashes = _class(url, folder, options.count)
        print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {time.strftime('%Y-%m-%d')}.\n")
        starts = [_start(folder, url) for _ in range(5)]
        print(f"First page after the command, a class of {options.count}, median of {len(starts)}:")
        print(f"  something to read {statistics.median(s[0] for s in starts):.2f} s (to reach: 1 s), ", end="")
        print(f"the whole class {statistics.median(s[1] for s in starts):.2f} s\n")
        _pages(folder, url, hashes, options.rounds)


def _class(url: str, folder: Path, count: int) -> list[str]:
    """Make the records of a class whose first question is half graded; return the content hashes."""
    rubric = load_rubric(load_course(ROOT).assignment(NAME).folder / "rubric.yaml")
    hashes = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(count)]
    conditions = Conditions(
        "bench", seed="", only=None, visible_only=False, training=True, gpu=False, isolation=Isolation("T3")
    )
    with Records.open(url, folder) as records:
        people = [
            (Attempt(f"s{n:05}", Path(f"s{n:05}"), (Student(f"id{n}", f"Name {n}"),)), hash_)
            for n, hash_ in enumerate(hashes)
        ]
        for number, attempt_id in enumerate(records.add_attempts(NAME, people)):
            score = _score(rubric, hashes[number], number)
            records.add_score(attempt_id, score, conditions, Reason("bench"))
        for question in rubric.questions:
            decisions: list[tuple[Place, Judgement]] = []
            for number, hash_ in enumerate(hashes[: count // 2]):
                chosen = [item.id for item in question.items[: number % 2 + 1] if not item.group]
                judgement = judge(question, chosen, Fraction(0), f"Comment {number % 40}.", question.points, done=True)
                decisions.append((Place(hash_, question.number), judgement))
            hand_grading.append(records, NAME, f"bench {question.number}", decisions, Reason("Grace"))
    return hashes


def _score(rubric: Rubric, content_hash: str, number: int) -> Score:
    draw = random.Random(number)
    entries = [
        Entry(
            f"test_{n}.py::test", f"Question {n} is answered.", f"9.{n}", "visible", Status.PASSED, Fraction(1),
            Fraction(1), (Case("", Status.PASSED, Fraction(1), Fraction(1), ""),),
        )
        for n in range(50)
    ]  # fmt: skip
    for question in rubric.questions:
        text = " ".join(draw.choices(WORDS, k=150)) if number % 8 else " ".join(WORDS)
        waiting = Case("", Status.NEEDS_REVIEW, Fraction(0), question.points, "")
        entries.append(
            Entry(
                f"test_written.py::test_{question.number}", question.title, question.number, "visible",
                Status.NEEDS_REVIEW, Fraction(0), question.points, (waiting,), written=f"{text} $\\sqrt{{d_k}}$.",
                rubric=question.number,
            )
        )  # fmt: skip
    return Score(f"s{number}", content_hash, NAME, 1, tuple(entries), isolation=Isolation("T3"))


class _Browser:
    """Requests pages with a session."""

    def __init__(self, address: str) -> None:
        jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        self._opener.addheaders = [("Accept", "text/html")]
        self.origin = address.partition("/?")[0]
        self.first = self._opener.open(address, timeout=60).read().decode()

    def get(self, path: str) -> str:
        return str(self._opener.open(self.origin + path, timeout=60).read().decode())

    def post(self, path: str, **fields: str) -> str:
        request = urllib.request.Request(self.origin + path, urllib.parse.urlencode(fields).encode())
        request.add_header("HX-Request", "true")
        return str(self._opener.open(request, timeout=60).read().decode())


def _command(folder: Path, url: str) -> "subprocess.Popen[str]":
    command = [str(BIN / "viva"), "review", NAME, "--course", str(ROOT), "--records", url, "--by", "Ada"]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder)


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+token=\S+", line):
            return found[0]
    raise SystemExit("the command printed no address")


def _start(folder: Path, url: str) -> tuple[float, float]:
    """Return the seconds from the command to the first page, and to the page with the whole class."""
    began = time.perf_counter()
    process = _command(folder, url)
    try:
        browser = _Browser(_address(process))
        first = time.perf_counter() - began
        page = browser.first
        while 'table class="questions"' not in page:
            time.sleep(0.02)
            page = browser.get("/")
        return first, time.perf_counter() - began
    finally:
        process.terminate()
        process.wait(30)


def _pages(folder: Path, url: str, hashes: list[str], rounds: int) -> None:
    process = _command(folder, url)
    try:
        browser = _Browser(_address(process))
        answers = [f"/q/{QUESTION}/{hash_}" for hash_ in random.Random(0).sample(hashes, rounds)]
        browser.get(f"/q/{QUESTION}")
        csrf = re.search(r'name="csrf" value="([^"]+)"', browser.get(answers[0]))
        assert csrf is not None
        print("| page | median | slowest |\n|---|---|---|")
        one = answers[0]
        paths: list[tuple[str, Callable[[int], str]]] = [
            ("every question", lambda n: browser.get("/")),
            ("the next answer", lambda n: browser.get(f"/q/{QUESTION}")),
            ("an answer", lambda n: browser.get(answers[n])),
            ("similar answers of it", lambda n: browser.get(f"{answers[n]}/similar")),
            ("its history", lambda n: browser.get(f"{answers[n]}/history")),
            ("a mark is kept", lambda n: _mark(browser, answers[n], csrf[1], n)),
            ("all answers, a page", lambda n: browser.get(f"/q/{QUESTION}/all?page={n % 5 + 1}")),
            ("agreement", lambda n: browser.get("/agreement")),
            ("differing marks", lambda n: browser.get("/differing")),
            ("find a student", lambda n: browser.get(f"/students?find=id{n}")),
            ("decide", lambda n: browser.get(one.replace("/q/", "/decide/"))),
            ("all marks as CSV", lambda n: browser.get("/marks.csv") if n < 3 else ""),
        ]
        for what, ask in paths:
            times = []
            for number in range(rounds):
                began = time.perf_counter()
                if ask(number):
                    times.append(1000 * (time.perf_counter() - began))
            print(f"| {what} | {statistics.median(times):.0f} ms | {max(times):.0f} ms |", flush=True)
    finally:
        process.terminate()
        process.wait(30)


def _mark(browser: _Browser, path: str, csrf: str, number: int) -> str:
    page = browser.get(path)
    seen = re.search(r'name="seen" value="(\d+)"', page)
    assert seen is not None
    return browser.post(path, csrf=csrf, seen=seen[1], comment=f"Note {number}.", done="yes", action=f"bench-{number}")


if __name__ == "__main__":
    main()
