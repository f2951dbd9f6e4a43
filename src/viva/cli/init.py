"""`viva init DIR`: make a new course that can be verified at once."""

import secrets
import shlex
import shutil
from importlib import resources
from pathlib import Path

import click

from viva.model.errors import UsageError


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def command(folder: Path) -> int:
    """Make a course with one small assignment in DIR, which must be empty or new."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty; give a new folder, so that nothing of yours is overwritten.")
    with resources.as_file(resources.files("viva.cli") / "templates" / "course") as template:
        shutil.copytree(template, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "gitignore").rename(folder / ".gitignore")  # the package leaves out files whose names begin with a dot
    (folder / ".secret").write_text(secrets.token_hex(32) + "\n", "utf-8")
    (folder / ".secret").chmod(0o600)
    click.echo(f"{folder}: a course with one assignment, `first_steps`. Next:")
    click.echo(f"  cd {shlex.quote(str(folder))}")
    click.echo("  viva verify                                        the graders prove themselves")
    click.echo("  viva check assignments/first_steps/starter         what a student sees")
    return 0
