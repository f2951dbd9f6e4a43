"""`submission.preferring(file)` and `.source(file)`: students split files, and write them, as they like."""

from pathlib import Path

import pytest

from tests.support.course_of_texts import Examined, write_course

TESTS = '''
def test_both(submission):
    """The names."""
    own = submission.preferring("second")
    assert (own.where(), own["only_here"]()) == ("second", "first")
    assert "where" in own and "nowhere" not in own
    own.nowhere()


def test_source(submission):
    """The text."""
    assert submission.source("second.py").startswith("# é")
'''
FILES = {
    "first.py": "def where(): return 'first'\ndef only_here(): return 'first'\n",
    "second.py": "# é\ndef where(): return 'second'\n",
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_a_file_comes_first_and_all_others_behind_it(tmp_path: Path, encoding: str) -> None:
    settings = "submission: {module: first.py}\n"  # so that second.py is loaded when it is asked for
    files: dict[str, str | bytes] = {name: text.encode(encoding) for name, text in FILES.items()}
    examined = Examined(write_course(tmp_path, tests=TESTS, key="", settings=settings))
    with examined.process:
        names, source = examined.graded(files).score.entries
    assert "nowhere" in names.message and "not define" in names.message, names.message
    assert source.status.value == "passed", source.message
