"""What the distribution is called, and its optional features: what each is for, what it needs, how to install it."""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

from viva.model.errors import UsageError

DISTRIBUTION: Final = "viva-grader"
"""Its name in a package index, where `viva` is a different project."""


@final
@dataclass(frozen=True, slots=True)
class Extra:
    """An optional feature."""

    name: str
    purpose: str
    modules: tuple[str, ...]
    """The modules that it needs, in the order in which they are tried."""

    def missing(self) -> str | None:
        """Return the first module that is not installed; nothing is imported."""
        return next((module for module in self.modules if importlib.util.find_spec(module) is None), None)


_ALL: Final = (
    Extra("notebooks", "plots, magics and the IPython shell in notebooks", ("IPython", "matplotlib", "nbformat")),
    Extra("torch", "assignments that use PyTorch", ("torch", "safetensors")),
    Extra("records", "keep scores in SQLite or PostgreSQL", ("sqlalchemy", "psycopg")),
    Extra(
        "report",
        "class report and feedback pages",
        ("jinja2", "nh3", "markdown_it", "mdit_py_plugins", "pygments", "latex2mathml", "nbconvert"),
    ),
    Extra(
        "review",
        "grade written answers in the browser",
        ("starlette", "uvicorn", "python_multipart", "itsdangerous", "jinja2", "sqlalchemy"),
    ),
    Extra("parquet", "write grades as Parquet", ("pyarrow",)),
    Extra("lms", "send grades to Canvas or Moodle and fetch submissions", ("httpx2",)),
    Extra("cluster", "grade on Dask or SLURM", ("dask", "distributed", "dask_jobqueue")),
    Extra("mutants", "break right answers to test your tests (`viva verify`)", ("cosmic_ray",)),
)
EXTRAS: Final[Mapping[str, Extra]] = {extra.name: extra for extra in _ALL}


class MissingLibrary(UsageError):
    """An optional feature is not installed."""


def install_command(extra: str) -> str:
    """Return the command that installs an extra.

    Raises:
        KeyError: there is no such extra.
    """
    return f"pip install '{DISTRIBUTION}[{EXTRAS[extra].name}]'"


def need(extra: str, what: str) -> None:
    """Check that an extra is installed, before anything else is asked of the user; nothing is imported.

    Args:
        extra: its name.
        what: what needs it, as for `missing_library`.

    Raises:
        MissingLibrary: a module of it is missing.
    """
    if (module := EXTRAS[extra].missing()) is not None:
        raise missing_library(what, module, extra)


def missing_library(what: str, module: str | None, extra: str) -> MissingLibrary:
    """Return the error that says which module is missing and how to install it.

    Args:
        what: what needs it, as the beginning of the sentence, such as "Reports need".
        module: the module's name, as ImportError has it.
        extra: the extra that brings it.
    """
    return MissingLibrary(f"{what} the module `{module or extra}`: {install_command(extra)}")
