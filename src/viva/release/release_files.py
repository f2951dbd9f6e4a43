"""What a released folder holds next to the course: the handout, the starter, the data, what to install."""

import itertools
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Final

from viva.config import Assignment
from viva.model.errors import CourseError
from viva.release import ci_templates
from viva.release.source import starter_from
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
that are defined now. `viva pack` makes the archive to hand in. In a repository on GitHub or GitLab, every push runs
the tests.
"""
_FOR_NOTEBOOKS: Final = ("IPython", "matplotlib_inline")


def released_files(assignment: Assignment, starter: dict[str, bytes], viva_from: str = "") -> dict[str, bytes]:
    """Return the files by their path in the folder.

    Args:
        assignment: the released assignment.
        starter: the files of the starter, by their paths.
        viva_from: where students install viva from, as pip understands it; empty for this version from the index.
    """
    handout = assignment.folder / "handout.md"
    text = handout.read_text("utf-8") if handout.is_file() else f"# {assignment.title}\n"
    files = {"README.md": f"{text.rstrip()}\n\n{_HOW_TO_CHECK}".encode()}
    files |= {name: path.read_bytes() for name, path in zip(assignment.data_names, assignment.data, strict=True)}
    files |= {name: text.encode() for name, text in ci_templates.FILES.items()}
    return files | starter | {"requirements.txt": requirements(assignment, viva_from).encode()}


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
    """Check that no notebook and module define the same name: who answers in one often hands in the other as well."""
    defined = {path: defined_names(path, data) for path, data in sorted(files.items()) if path.endswith(CODE)}
    notebooks = [path for path in defined if path.endswith(".ipynb")]
    for notebook, module in itertools.product(notebooks, defined.keys() - set(notebooks)):
        if both := sorted(defined[notebook] & defined[module]):
            raise CourseError(
                f"{assignment.starter}: {notebook} and {module} both ask for `{both[0]}`, so students would not know "
                "where to answer; keep one of them, or write `either: true` under `submission:` in assignment.yaml."
            )


def requirements(assignment: Assignment, viva_from: str = "") -> str:
    """Return what the public tests were recorded with, pinned.

    `agree_on` draws the same examples only with the same version of hypothesis.
    """
    modules = ["viva", "hypothesis", "numpy", *(name.rstrip("?").partition(".")[0] for name in assignment.preload)]
    if assignment.submission.notebook is not None:
        modules += _FOR_NOTEBOOKS
    distributions = metadata.packages_distributions()
    found = {}
    for module in modules:
        for name in distributions.get(module, [module])[:1]:
            try:
                found[name] = metadata.version(name).partition("+")[0]
            except metadata.PackageNotFoundError:  # an optional module that is not installed here
                continue
    lines = {name: f"{name}=={version}" for name, version in found.items()}
    if viva_from:
        lines["viva"] = f"viva @ {viva_from}"
    return "".join(f"{line}\n" for line in lines.values())


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
