"""What commands import, in a fresh process: whoever asks for help pays for no plugin."""

import subprocess
import sys

import pytest


def imported(*arguments: str) -> list[str]:
    """The modules that a command has imported, besides those of the standard library."""
    program = (
        "import contextlib, io, sys\nfrom viva.cli.main import run\n"
        f"with contextlib.redirect_stdout(io.StringIO()):\n    assert run({list(arguments)!r}) == 0\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_help_imports_no_command() -> None:
    modules = imported("--help")
    assert "viva.plugins.records.hooks" in modules
    assert not [name for name in modules if ".commands." in name or name.split(".")[0] in ("sqlalchemy", "numpy")]


@pytest.mark.parametrize("command", ["grade", "explain"])
def test_commands_of_the_core_import_no_plugin(command: str) -> None:
    assert not [name for name in imported(command, "--help") if name.startswith(("viva.plugins", "sqlalchemy"))]


def test_check_imports_its_own_plugin_alone() -> None:
    modules = [name for name in imported("check", "--help") if name.startswith("viva.plugins.")]
    others = [name for name in modules if ".selfcheck" not in name and len(name.split(".")) > 3]
    assert {name.split(".")[3] for name in others} == {"hooks"}
