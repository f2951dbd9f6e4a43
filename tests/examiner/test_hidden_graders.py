"""The course may lie below a folder that boxes read: its graders stay out of their sight all the same."""

import dataclasses
import sys
import venv
from pathlib import Path

from tests.support.course_of_texts import NAME, best_tier, write_course
from viva.model import Tier
from viva.pipeline.process.main import Boxes
from viva.pipeline.process.settings import BoxOptions

READ = """
import os
def see(path): return os.path.isfile(path)
"""


def test_a_course_below_the_interpreters_own_folders_keeps_its_key(tmp_path: Path) -> None:
    """Everything in `share` of a Python that boxes use can be read there, but for this."""
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True)
    packages = next((environment / "lib").glob("python*/site-packages"))
    (packages / "ours.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")) + "\n")
    course = write_course(environment / "share" / "course", tests="def test_it(student): pass\n", key="ANSWER = 42\n")
    corpus = environment / "share" / "corpus.txt"
    corpus.write_text("mot")
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == 0 and path.is_relative_to("/tmp") and path != Path("/tmp"):
            path.chmod(0o755)
    assignment = dataclasses.replace(course.assignment(NAME), python=environment / "bin" / "python")
    boxes = Boxes(assignment, BoxOptions(best_tier(), ready=1))
    try:
        with boxes.pool().take() as box:
            box.ask("put", timeout_s=5, path="solution.py", data=READ.encode())
            box.ask("load_module", timeout_s=10, path="solution.py", mode="run", forbid=[])
            fields = {"space": "student", "name": "see", "kwargs": {}, "keep": False, "full": False}
            assert box.ask("call", timeout_s=10, args=[str(corpus)], **fields)["ok"] is True
            key = str(course.assignment(NAME).graders / "key.py")
            hidden = box.ask("call", timeout_s=10, args=[key], **fields)["ok"] is False
            assert hidden or best_tier() < Tier.T2
    finally:
        boxes.close()
