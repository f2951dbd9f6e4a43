"""An assignment as the rest of the engine sees it: checked, with paths that exist."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatch
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, Literal

from pydantic import PlainValidator

from viva.config.policy import Exceptions, Policy
from viva.config.policy_file import read_exceptions
from viva.config.rubric import Rubric
from viva.config.rubric_file import load_rubric
from viva.config.yaml_types import SPAN_SCHEMA, Text, UniqueTuple, read_seconds
from viva.model import Limits, Tier
from viva.model.answer_form import AnswerForm

EXCEPTIONS_YAML: Final = "exceptions.yaml"
"""The file next to assignment.yaml that says who was ill and who has copied. No release contains it."""
SOURCES: Final = ("source.ipynb", "source.py")
"""Names of the solved notebook or module next to assignment.yaml, from which the starter is made."""
TESTS: Final = "tests.py"
"""The tests next to it, where the answer key is made from the source as well."""


@dataclass(frozen=True, slots=True)
class SubmissionFiles:
    """What a student submits: patterns of file names."""

    notebook: Text | None = "*.ipynb"
    """The notebook's name, or a pattern such as `hw1*.ipynb`; null if the assignment has none."""
    module: Text | None = "solution.py"
    """The name of the Python module; null if the assignment has none."""
    either: bool = False
    """Whether the starter offers both, so that students choose where to answer."""

    def asks_for(self, path: str) -> bool:
        """Return whether a file has a name that the assignment asks for."""
        name = PurePosixPath(path).name
        return name == self.module or (self.notebook is not None and fnmatch(name, self.notebook))


@dataclass(frozen=True, slots=True)
class Gradescope:
    """How the assignment is graded on Gradescope."""

    timeout: Annotated[float, PlainValidator(read_seconds(120, 2400, "10m")), SPAN_SCHEMA] = 600.0
    """Time after which Gradescope ends the autograder, as set on its page; viva ends earlier. Default: 10m."""
    hidden: Literal["after_published", "after_due_date", "hidden"] = "after_published"
    """The visibility that hidden tests get on Gradescope."""
    training: bool = True
    """Whether tests that train are run there; otherwise they are not graded yet."""
    files: UniqueTuple[Text] = ()
    """Further files of the course that the graders read, by their paths in it."""


@dataclass(frozen=True, slots=True)
class Release:
    """What a released folder holds of the visible tests, and what an autograder does."""

    withhold: UniqueTuple[Text] = ()
    """Tests, by number, function or id, that are not released though students see their messages."""
    answers: bool = False
    """Whether tests are released that look answers up in the key (`key.answers[…]`), and these answers with them."""
    gradescope: Gradescope = field(default_factory=Gradescope)
    """How the assignment is graded on Gradescope."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One assignment of a course."""

    name: str
    """The name of its folders: letters, digits, `_`, `-`, `.`."""
    folder: Path
    """assignments/<name>: assignment.yaml, handout, starter, rubric."""
    title: str
    version: int
    """In every score's signature; a new version draws other random inputs."""
    submission: SubmissionFiles
    load: str
    """"run", or "definitions" for notebooks that would download and train for hours."""
    device: str
    """"as_written", or "cpu" where code that names cuda or mps is to run on the CPU of the box."""
    points: Fraction | None
    """What the tests must add up to; None where assignment.yaml does not say."""
    preload: tuple[str, ...]
    """Modules imported once, before any submission; one with `?` at its end is optional."""
    limits: Limits
    data: tuple[Path, ...]
    """Files that the submission may read: existing regular files."""
    data_names: tuple[str, ...]
    """The same files by the relative path that the student's code opens: `data/corpus.txt`."""
    forbid: tuple[str, ...]
    """Modules and names that a submission may not import."""
    due: datetime | None
    """With a time zone."""
    min_tier: Tier | None
    """The weakest isolation that grading accepts, from the assignment or the course; None where neither sets it."""
    python: Path | None
    """The interpreter of the box; None for viva's own."""
    graders: Path
    """graders/<name>: test_*.py, key.py, inside.py or inside/; may not exist yet."""
    starter: Path
    """assignments/<name>/starter; may not exist."""
    release: Release
    """What students get of the tests."""
    answers: Mapping[str, AnswerForm] = field(default_factory=dict)
    """The form of each answer by hand, by its number."""
    dropped: Mapping[str, str] = field(default_factory=dict)
    """Questions or tests that count no longer: "give" everybody their points, or "remove" them."""
    suite: str | None = None
    """"unittest", "nbgrader" or "otter" where graders/<name> holds an existing suite of that tool.

    Such a suite runs with the submission, in its box.
    """
    master: Path | None = None
    """The master notebook or source folder of the suite, from which its files are made; may not be there."""
    declared: Policy | None = None
    """The policy as `policy:` declares it; `policy()` returns the one that applies."""

    @property
    def data_folder(self) -> Path | None:
        """Return the folder from which `data_names` can be opened; None where there are no data."""
        return self.data[0].parents[len(Path(self.data_names[0]).parts) - 1] if self.data else None

    @property
    def handed_out_names(self) -> frozenset[str]:
        """Return the names of the files that students get or are asked for, as far as they are known."""
        given = self.graders / "source" if self.suite else self.starter
        names = [path.name for path in given.iterdir()] if given.is_dir() else []
        wanted = (self.submission.module, self.submission.notebook)
        return frozenset([*names, *filter(None, wanted)])

    @property
    def hidden(self) -> list[Path]:
        """Return the folders that no program of a student may read: the graders, and one with a solved notebook."""
        folders = [self.graders.parent]
        if any((self.folder / name).is_file() for name in (*SOURCES, TESTS)):
            folders.append(self.folder)
        if self.master is not None:
            folders.append(self.master)
        return folders

    def policy(self) -> Policy:
        """Return how points become grades: as declared, or with nothing taken off."""
        return self.declared or Policy(due=self.due, maximum=self.points)

    def exceptions(self) -> Exceptions:
        """Return the extensions, excuses and points that people have decided on.

        Raises:
            CourseError: exceptions.yaml is wrong.
        """
        return read_exceptions(self.folder / EXCEPTIONS_YAML)

    def rubric(self) -> Rubric:
        """Return how written answers are graded.

        Raises:
            CourseError: rubric.yaml is wrong.
        """
        return load_rubric(self.folder / "rubric.yaml")
