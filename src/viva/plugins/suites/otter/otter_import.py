"""Otter: what `otter assign` makes (dist/, autograder/, autograder.zip), or the master notebook itself."""

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from viva.model.errors import UsageError
from viva.plugins.suites.importing.bundle import read_bundle, read_named_files, read_zip, select_below
from viva.plugins.suites.importing.new_course import ImportedAssignment, make_folder_name
from viva.plugins.suites.importing.student_notebook import read_cell_source, read_cells
from viva.plugins.suites.otter.otter_grading import CONFIG
from viva.plugins.suites.otter.otter_master import Master, is_master, read_master
from viva.submissions.code_imports import preloads

_IMPORTED: Final = ("seed", "seed_variable", "points_possible", "show_hidden", "lang", "grade_from_log", "plugins",
                 "score_threshold")  # fmt: skip
"""Settings of otter that are imported, or refused."""
_WITHOUT_EFFECT: Final = ("assignment_name", "autograder_dir", "logo", "miniconda_path", "print_score", "print_summary",
                 "log_level", "zips", "force_public_test_summary", "course_id", "assignment_id", "token")  # fmt: skip
"""Settings that make no difference to a total; a token is never copied."""
_NOT_DATA: Final = ("run_autograder", "run_otter.py", "setup.sh", "environment.yml", "requirements.txt", CONFIG)


def import_otter(path: Path) -> list[ImportedAssignment]:
    """Return the assignment of an otter folder, archive or master notebook.

    Raises:
        UsageError: there is none, or it uses what cannot be imported.
    """
    files = read_bundle(path)
    name = make_folder_name(path.resolve().name.removesuffix(".zip").removesuffix(".ipynb"))
    masters = [p for p in files if p.endswith(".ipynb") and is_master(files[p])]
    root = _root(files)
    if root is None and len(masters) == 1:
        return [_of_master(name, masters[0], files, path)]
    if root is None:
        raise UsageError(
            f"{path} holds neither tests/*.py of otter's (an autograder's folder or zip) nor one master notebook "
            f"(with `# ASSIGNMENT CONFIG`); it holds {len(masters)} of these."
        )
    own = _with_archive(select_below(files, root), path)
    tests = {p: d for p, d in select_below(own, "tests").items() if p.endswith(".py") and "/" not in p}
    notebooks = {p: d for p, d in own.items() if p.endswith(".ipynb") and "/" not in p}
    inside = select_below(own, "files")
    beside = {p: d for p, d in own.items() if not p.startswith(("tests/", "files/")) and _is_data(p, inside)}
    imported = _assignment(name, tests, _config(own.get(CONFIG), path), inside or beside)
    student = root[: -len("autograder")] + "student" if root.endswith("autograder") else "student"
    imported.starter = {p: d for p, d in select_below(files, student).items() if p.endswith(".ipynb") and "/" not in p}
    imported.accepted = notebooks
    imported.notes += _needs(own)
    _set_notebook(imported, [*imported.starter, *notebooks])
    return [imported]


def _of_master(name: str, file: str, files: Mapping[str, bytes], path: Path) -> ImportedAssignment:
    is_file = path.suffix == ".ipynb"  # the files that it names are next to it
    place = path if is_file else path / file
    data = select_below(files, file.rpartition("/")[0])

    def read_file(name: str) -> bytes | None:
        return (read_named_files(path.parent, [name]) if is_file else data).get(name)

    master: Master = read_master(files[file], str(place), read_file)
    if is_file:
        data = read_named_files(path.parent, master.files)
    wanted = {p: d for p, d in data.items() if any(_is_named(p, name) for name in master.files)}
    imported = _assignment(name, master.tests, master.config, wanted)
    shown = PurePosixPath(file).name
    imported.starter, imported.accepted = {shown: master.student}, {shown: master.solution}
    imported.rubric = master.rubric
    imported.master = place if place.is_file() else None  # an archive is not followed
    imported.notes += master.notes
    lost = [name for name in master.files if not any(_is_named(p, name) for p in data)]
    imported.notes += [f"{name} is named in the master notebook, and is not there." for name in lost]
    _set_notebook(imported, [shown])
    return imported


def _assignment(
    name: str, tests: Mapping[str, bytes], config: dict[str, object], data: Mapping[str, bytes]
) -> ImportedAssignment:
    imported_settings = {key: config[key] for key in _IMPORTED if config.get(key) not in (None, [], False)}
    imported = ImportedAssignment(name, {"title": name, "suite": "otter"}, {f"tests/{p}": d for p, d in tests.items()})
    if imported_settings:
        imported.graders[CONFIG] = (json.dumps(imported_settings, indent=2) + "\n").encode()
    other = sorted(key for key in config if key not in (*_IMPORTED, *_WITHOUT_EFFECT) and config[key])
    if other:
        imported.notes.append(f"Settings of otter that mean nothing here: {', '.join(other)}.")
    texts = [d.decode("utf-8", "replace") for d in tests.values()]
    imported.settings["preload"] = preloads(texts)
    imported.add_data(data)
    return imported


def _is_named(path: str, name: str) -> bool:
    """Return whether a file is the named one, or lies in the folder of that name."""
    name = PurePosixPath(name).as_posix()
    return path == name or path.startswith(f"{name}/") or fnmatchcase(path, name)


def _set_notebook(imported: ImportedAssignment, names: list[str]) -> None:
    only = len(set(names)) == 1
    imported.settings["submission"] = {"notebook": names[0] if only else "*.ipynb", "module": None}
    sources = [
        read_cell_source(cell)
        for data in imported.accepted.values()
        for cell in read_cells(data, names[0])
        if cell.get("cell_type") == "code"
    ]
    imported.settings["preload"] = sorted({*imported.settings["preload"], *preloads(sources)})


def _root(files: Mapping[str, bytes]) -> str | None:
    """Return the autograder's folder, which holds tests/ or an archive; folders for students do not count."""
    places = {str(PurePosixPath(p).parent.parent) for p in files if p.endswith(".py") and "/tests/" in f"/{p}"}
    places |= {str(PurePosixPath(p).parent) for p in files if p.endswith(".zip") and "autograder" in p}
    teachers = [p for p in places if PurePosixPath(p).name != "student"]
    best = min(teachers, key=lambda p: (PurePosixPath(p).name != "autograder", p.count("/"), p), default=None)
    return None if best is None else "" if best == "." else best


def _with_archive(files: dict[str, bytes], path: Path) -> dict[str, bytes]:
    """Return the folder's files, overridden by those of its archive, because otter grades with the archive."""
    archives = sorted(p for p in files if p.endswith(".zip") and "autograder" in p and "/" not in p)
    if len(archives) > 1:
        raise UsageError(f"{path} holds several autograder archives ({', '.join(archives)}); give one of them.")
    kept = {p: d for p, d in files.items() if not p.endswith(".zip")}
    return kept | read_zip(files[archives[0]], archives[0]) if archives else kept


def _config(data: bytes | None, path: Path) -> dict[str, object]:
    if data is None:
        return {}
    try:
        config = json.loads(data)
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        raise UsageError(f"{path}: {CONFIG} is not a JSON object: expected otter's settings.")
    return config


def _is_data(path: str, packed: Mapping[str, bytes]) -> bool:
    return path not in _NOT_DATA and not path.endswith((".ipynb", ".zip")) and path not in packed


def _needs(files: Mapping[str, bytes]) -> list[str]:
    there = [name for name in ("requirements.txt", "environment.yml") if files.get(name, b"").strip()]
    return [f"{name} is not installed: what it lists must be there where you grade." for name in there]
