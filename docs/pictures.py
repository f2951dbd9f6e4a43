"""`make pictures`: make the pictures of `viva report` and `viva review`.

The report is about the assignment's example submissions, the review about a small invented class in
docs/pictures.yaml. Both are graded like any other class; what the markers have done so far, and when, is the same each
time.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import yaml
from PIL import Image

from tests.support.review_server import chromium, opened, served
from viva.config import load_course
from viva.formats.results_json import load_results
from viva.model.hand_grading import FIRST, SECOND
from viva.plugins.records.hand_grading import decision_rows
from viva.plugins.records.store import Records
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue, queue_of_folder

ROOT = Path(__file__).parents[1]
NAME = "translation_and_masks"
QUESTION = "2.1"
EXAMPLES = ROOT / "fixtures" / NAME / "submissions"
MODEL = EXAMPLES / "accepted" / "notebook" / f"{NAME}.ipynb"
FIRST_MARKER, SECOND_MARKER = Marker("Ada", FIRST), Marker("Grace", SECOND)
BETWEEN_S = 75
SHOWN = "chiara"
COMMENT = "All three right. Your code leaves out the scale, though: see the test of 2.1."


def main() -> None:
    """Write docs/report.png, docs/review.png and docs/review-overview.png."""
    os.environ["VIVA_SECRET"] = "the pictures' secret, known to everybody"
    with tempfile.TemporaryDirectory(prefix="pictures-") as name:
        folder = Path(name)
        take_report(folder)
        graded_class(folder)
        mark(folder / "results")
        take(folder)


def take_report(folder: Path) -> None:
    """Grade the example submissions, and take the picture of the report on them."""
    examples = [path for kind in ("accepted", "partial", "wrong") for path in sorted(EXAMPLES.glob(f"{kind}/*"))]
    viva(folder, "grade", *examples, "-a", NAME, "-o", "examples")
    viva(folder, "report", "examples", "-o", "report")
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 960, "height": 1400}, color_scheme="light")
        page.goto((folder / "report" / "report.html").as_uri())
        save(page, "report.png")


def graded_class(folder: Path) -> None:
    """Write the notebooks of the class and grade them into `folder`/results."""
    students = dict(who_wrote_what())
    for number, (student, text) in enumerate(students.items()):
        place = folder / "class" / student
        place.mkdir(parents=True)
        (place / MODEL.name).write_text(json.dumps(notebook(text, scaled=number % 4 != 2)), "utf-8")
    paths = [f"class/{student}" for student in students]
    viva(folder, "grade", *paths, "-a", NAME, "-o", "results")


def viva(folder: Path, *arguments: str | Path) -> None:
    """Run a command in a folder."""
    subprocess.run([sys.executable, "-m", "viva", *arguments, "--course", ROOT], cwd=folder, check=True)


def who_wrote_what() -> Iterator[tuple[str, str]]:
    """Yield each student with the answer."""
    for answer in _class():
        for student, changes in zip(answer["students"], answer.get("changes", [{}]), strict=True):
            text = answer["text"]
            for old, new in changes.items():
                text = text.replace(old, new)
            yield student, text


def notebook(text: str, *, scaled: bool) -> dict[str, Any]:
    """Return a right notebook with another written answer; if its scores are not scaled, a test next to it fails."""
    read = json.loads(MODEL.read_text("utf-8"))
    for cell in read["cells"]:
        source = "".join(cell["source"])
        if source.startswith(f"### {QUESTION} In words"):
            source = f"### {QUESTION} In words\n\n{text}"
        if not scaled:
            source = source.replace(" / math.sqrt(Q.shape[1])", "")
        cell["source"] = source
    return dict(read)


def mark(results: Path) -> None:
    """Make the decisions of both markers so far, one every 75 seconds."""
    course = load_course(ROOT)
    with (
        Records.open("sqlite:///review.db", results) as records,
        queue_of_folder(course, results, results.parent, NAME, records) as queue,
        mock.patch.object(decision_rows, "now", side_effect=_clock()),
    ):
        queue.wait()
        answers = {answer["students"][0]: answer for answer in _class()}
        for marker, key in ((FIRST_MARKER, "first"), (SECOND_MARKER, "second")):
            _mark_as(queue, marker, lambda student, key=key: answers.get(student, {}).get(key))


def _mark_as(queue: ReviewQueue, marker: Marker, wanted: Callable[[str], dict[str, Any] | None]) -> None:
    for answer in queue.answers[QUESTION]:
        says = wanted(Path(answer.submissions[0].attempt.name).name)
        if says is not None:
            judgement = queue.judge(answer, says["items"], Fraction(0), says.get("comment", ""), done=True)
            queue.mark(marker, [(answer, judgement)], action="", seen={})


def take(folder: Path) -> None:
    """Take the pictures: all questions, and an answer that is being graded."""
    results = folder / "results"
    shown = load_results(results / "class" / SHOWN / "results.json").extra_data.content_hash
    with (
        chromium() as browser,
        served(folder, "--by", FIRST_MARKER.name, what=str(results), course=ROOT) as server,
    ):
        page = opened(browser, server, viewport={"width": 1280, "height": 840}, color_scheme="light")
        save(page, "review-overview.png")
        page.goto(f"{server.origin}/q/{QUESTION}/{shown}")
        page.wait_for_selector("#similar a")
        for key in "1345":
            page.keyboard.press(key)
        page.fill("#comment", COMMENT)
        page.keyboard.press("Escape")
        page.wait_for_selector("#saved .total:has-text('4 of 4')")
        save(page, "review.png")


def save(page: Any, name: str) -> None:
    """Save a picture of the window in 256 colours, a third of the bytes with no visible difference."""
    taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    taken.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(ROOT / "docs" / name, optimize=True)


def _class() -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = yaml.safe_load((ROOT / "docs" / "pictures.yaml").read_text("utf-8"))["answers"]
    return read


def _clock() -> Iterator[str]:
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    while True:
        yield at.isoformat(timespec="microseconds")
        at += timedelta(seconds=BETWEEN_S)


if __name__ == "__main__":
    main()
