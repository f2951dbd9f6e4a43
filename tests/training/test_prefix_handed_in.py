"""The prefix that is trained at home and submitted: what is taken, what is refused, and with what words."""

import dataclasses
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from fixtures.adapting_transformers.data import make_prefixes
from tests.support.course_of_texts import SECRET, best_tier
from viva.config import load_course
from viva.model import Entry, File, Status, Submission
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.submissions import open_submission
from viva.submissions.examples import lay_out
from viva.verify.expected_verdicts import key_submission

ROOT = Path(__file__).parents[2]
SUBMISSIONS = ROOT / "fixtures" / "adapting_transformers" / "submissions"
FILE = make_prefixes.FILE
ACCEPTED = sorted(f"accepted/{path.name}" for path in (SUBMISSIONS / "accepted").iterdir())
RIGHT = (SUBMISSIONS / "accepted" / "plain_loops" / FILE).read_bytes()
REFUSED = {
    "wrong/prefix_of_random_numbers": "questions rightly; expected 576. Was it trained on our questions",
    "wrong/prefix_in_a_pickle": "pickled files are never opened, because opening one runs code: submit a checkpoint "
    'by `safetensors.torch.save_file(model.state_dict(), "model.safetensors")`',
    "wrong/by_hand": f"No file {FILE} was found: submit your weights under this name, next to your code.",
}


@pytest.fixture(scope="module")
def examiner() -> Iterator[ExaminerProcess]:
    course = load_course(ROOT)
    with ExaminerProcess(
        course, course.assignment("adapting_transformers"), SECRET, BoxOptions(best_tier())
    ) as process:
        yield process


STAND_INS = {
    "datasets.py": "def load_dataset(*_): raise RuntimeError\n",
    "evaluate.py": """
class Accuracy:
    def add_batch(self, predictions, references): self.rows = predictions == references
    def compute(self): return {"accuracy": float(self.rows.float().mean())}
load = lambda name: Accuracy()
""",
}
"""Libraries that students have at home."""


@pytest.mark.training
@pytest.mark.parametrize("name", ["accepted/plain_loops", "accepted/torch_einsum"])
def test_what_is_trained_at_home_gets_its_points(examiner: ExaminerProcess, name: str, tmp_path: Path) -> None:
    """The script that students get, in a folder of their own; prefix_length as a global and as an argument."""
    lay_out(SUBMISSIONS / name, tmp_path)
    for file, text in STAND_INS.items():
        (tmp_path / file).write_text(text, "utf-8")
    script = make_prefixes.HERE / "at_home.py"
    chosen = ["--device", "cpu", "--prefix_length", "6"]
    subprocess.run([sys.executable, script, *chosen], cwd=tmp_path, check=True, capture_output=True, timeout=300)
    data = (tmp_path / FILE).read_bytes()
    assert {array.size for array in load(data).values()} >= {6 * 32, 2 * 32, 2}  # all else, where nothing is frozen
    found = entry(examiner, with_file(data, name))
    assert found.status is Status.PASSED, found.message


def submission(name: str) -> Submission:
    return open_submission(SUBMISSIONS / name, name)


def with_file(data: bytes, name: str = "accepted/plain_loops") -> Submission:
    one = submission(name)
    files = tuple(File(f.path, data) if f.path == FILE else f for f in one.files)
    return dataclasses.replace(one, files=files, content_hash=hashlib.sha256(data).hexdigest())


def entry(examiner: ExaminerProcess, one: Submission) -> Entry:
    (found,) = examiner.grade(GradeRequest(one, GradeOptions(only=("test_handed_in_prefix",)))).score.entries
    return found


def test_the_files_are_those_of_the_script() -> None:
    stated = json.loads(make_prefixes.HASHES.read_text("utf-8"))
    assert stated == make_prefixes.digests()
    assert {name.rpartition("/")[0] for name in stated} >= {*ACCEPTED, "adapting_transformers/handed_in"}


def test_what_nobody_trained_is_made_again() -> None:
    again = save(make_prefixes.not_trained(load(RIGHT)))
    assert again == (SUBMISSIONS / make_prefixes.NOT_TRAINED / FILE).read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("name", [*ACCEPTED, "key"])
def test_right_files_get_their_points(examiner: ExaminerProcess, name: str) -> None:
    course = load_course(ROOT)
    key = key_submission(course, course.assignment("adapting_transformers"))
    found = entry(examiner, key if name == "key" else submission(name))
    assert found.status is Status.PASSED and found.earned == 2, found.message


@pytest.mark.long
@pytest.mark.parametrize("name", REFUSED)
def test_others_do_not_and_say_why(examiner: ExaminerProcess, name: str) -> None:
    found = entry(examiner, submission(name))
    assert found.status is Status.FAILED and found.earned == 0, f"{found.status}: {found.message}"
    assert REFUSED[name] in found.message


def changed(shapes: dict[str, tuple[int, ...]]) -> bytes:
    """The right file with other shapes; a side of 0 leaves the array out."""
    arrays = {**load(RIGHT), **{name: np.ones(shape, np.float32) for name, shape in shapes.items()}}
    return save({name: array for name, array in arrays.items() if array.size})


def header(claimed: int, text: bytes = b'{"a": 1}') -> bytes:
    return claimed.to_bytes(8, "little") + text


BROKEN = {
    "a header that is said to be huge": (header(1 << 60), "says that its header has"),
    "a header that is huge": (
        header(3 << 20, b"{" + b" " * (3 << 20)),
        "has a header of 3 MiB; expected at most 2 MiB",
    ),
    "an array that claims more than there is": (
        header(68, b'{"head.weight":{"dtype":"F32","shape":[9,9],"data_offsets":[0,4]}}  ') + bytes(4),
        "of shape (9, 9), 324 bytes, in 4 bytes",
    ),
    "no head": (changed({"head.weight": (0,)}), "lacks 'head.weight', which your model of type 'prefix' has"),
    "other names": (save({"p": np.ones(3, np.float32)}), "it holds 'p': save prefix and head by the names of"),
    "a head of three classes": (
        changed({"head.weight": (3, 32)}),
        "in your model with prefix_length = 8 it has (2, 32)",
    ),
    "a prefix that is too long": (
        changed({"prefix.weight": (34, 32)}),
        "expected vectors of 32 numbers, 1 to 33 of them",
    ),
    "a prefix of a larger model": (changed({"prefix.weight": (1, 768)}), "in your model with prefix_length = 24"),
    "numbers that are none": (changed({"head.bias": (2,)}).replace(b"\0\0\x80?", b"\0\0\xc0\x7f"), "holds NaN in"),
}


@pytest.mark.long
@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_refused_in_a_sentence(examiner: ExaminerProcess, what: str) -> None:
    data, words = BROKEN[what]
    found = entry(examiner, with_file(data))
    assert found.status is Status.FAILED and words in found.message, found.message
    assert found.message.startswith(FILE) and "\n" not in found.message


@pytest.mark.long
def test_wrapped_names(examiner: ExaminerProcess) -> None:
    """As from a model that was trained on several cards, or that freezes nothing."""
    arrays = {f"module.{name}": array for name, array in load(RIGHT).items()}
    whole = {**arrays, "module.encoder.pooler.dense.bias": np.ones(32, np.float32)}
    assert entry(examiner, with_file(save(whole))).status is Status.PASSED
