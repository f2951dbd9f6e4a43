"""What a released folder holds next to the course: the handout, the starter, the data, what to install."""

import itertools
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.utils import canonicalize_name

from viva.config import Assignment
from viva.model.errors import CourseError
from viva.plugins.authoring.source import starter_from
from viva.plugins.release import ci_templates
from viva.plugins.release.gradescope.requirements import needed_by
from viva.submissions.file_names import CODE
from viva.submissions.starter_code import defined_names

_HOW_TO_CHECK: Final = """\
## Check your work

```
python -m pip install -r requirements.txt
viva check
```

runs the public tests on your own machine, without a network. `viva check --only 2.1` runs those of one question,
`viva check --watch` all of them whenever you save. In a notebook, `import viva; viva.check("2.1")` asks the functions
that are defined now. `viva pack` makes the archive to submit. In a repository on GitHub or GitLab, every push runs
the tests.
"""
_BY_THE_WHEEL: Final = frozenset({"numpy"})
_LOWEST: Final = {"torch": "2.2", "transformers": "4.57"}
"""The lowest versions that tests show to work, where they are lower than what is installed here."""


def released_files(assignment: Assignment, starter: dict[str, bytes], viva: str) -> dict[str, bytes]:
    """Return the files by their path in the folder.

    Args:
        assignment: the released assignment.
        starter: the files of the starter, by their paths.
        viva: what students install as viva, as pip understands it.
    """
    handout = assignment.folder / "handout.md"
    text = handout.read_text("utf-8") if handout.is_file() else f"# {assignment.title}\n"
    files = {"README.md": f"{text.rstrip()}\n\n{_HOW_TO_CHECK}".encode()}
    files |= {name: path.read_bytes() for name, path in zip(assignment.data_names, assignment.data, strict=True)}
    files |= {name: text.encode() for name, text in ci_templates.FILES.items()}
    return files | starter | {"requirements.txt": requirements(assignment, viva).encode()}


def starter_files(assignment: Assignment) -> dict[str, bytes]:
    """Return the starter's files by path: those of `starter/`, and those made from a source with solutions.

    Raises:
        CourseError: there is no starter, a source cannot be parsed, or a notebook and a module ask for the same answer.
    """
    made = starter_from(assignment)
    found = [p for p in _files(assignment.starter) if "__pycache__" not in p.parts]
    if not found and made is None:
        raise CourseError(f"{assignment.starter}: there is no starter; students need something to begin with.")
    files = {path.relative_to(assignment.starter).as_posix(): path.read_bytes() for path in found} | (made or {})
    if not assignment.submission.either:
        _check_one_place_to_answer(assignment, files)
    return files


def _check_one_place_to_answer(assignment: Assignment, files: Mapping[str, bytes]) -> None:
    """Check that no notebook and module define the same name, because students often submit both."""
    defined = {path: defined_names(path, data) for path, data in sorted(files.items()) if path.endswith(CODE)}
    notebooks = [path for path in defined if path.endswith(".ipynb")]
    for notebook, module in itertools.product(notebooks, defined.keys() - set(notebooks)):
        if both := sorted(defined[notebook] & defined[module]):
            raise CourseError(
                f"{assignment.starter}: {notebook} and {module} both ask for `{both[0]}`, so students would not know "
                "where to answer; keep one of them, or write `either: true` under `submission:` in assignment.yaml."
            )


def requirements(assignment: Assignment, viva: str) -> str:
    """Return what checking needs, in versions of which any later one does too, so that nothing installed moves.

    Only hypothesis is pinned: `agree_on` draws the same examples only with the same version. What viva itself needs,
    such as numpy, its wheel says; of an optional module, any version that the engine works with will do. What another
    one brings is left out: some versions of torch need one version of sympy.

    Args:
        assignment: the released assignment.
        viva: where viva is, as pip understands it: a wheel, or an address.
    """
    distributions = metadata.packages_distributions()
    wanted: dict[str, str] = {}
    for module in assignment.preload:
        # None for an optional module that is not installed here.
        for name in distributions.get(module.rstrip("?").partition(".")[0], [])[:1]:
            verified = "" if module.endswith("?") else metadata.version(name).partition("+")[0]
            lowest = _LOWEST.get(name, verified)
            wanted.setdefault(name, f"{name}>={lowest}" if lowest else name)
    brought = _BY_THE_WHEEL | {canonicalize_name(needed) for name in wanted for needed in needed_by(name)}
    lines = [viva, f"hypothesis=={metadata.version('hypothesis')}"]
    lines += [line for name, line in wanted.items() if canonicalize_name(name) not in brought]
    return "".join(f"{line}\n" for line in lines)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
