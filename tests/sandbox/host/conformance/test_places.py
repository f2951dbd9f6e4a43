"""Where an interpreter, its environment and the course may lie: visible in the box, or refused in one sentence."""

import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.boxed_program import Program, from_tier
from viva.model import Limits, Tier
from viva.model.errors import BoxUnavailable
from viva.sandbox.guest.lockdown import root_directory
from viva.sandbox.host.fork_server import ForkServer

LATE = "import sys\ndef late():\n    import encodings.idna, json, sqlite3\n    return sys.prefix"


@pytest.fixture
def environment() -> Callable[[Path], Path]:
    """Makes a virtual environment in a folder; its interpreter finds our libraries through a .pth file."""

    def make(folder: Path) -> Path:
        venv.create(folder, symlinks=True)
        packages = next((folder / "lib").glob("python*/site-packages"))
        ours = [path for path in sys.path if path.endswith("-packages")] or [sysconfig.get_path("purelib")]
        (packages / "ours.pth").write_text("\n".join(ours) + "\n")
        return folder / "bin" / "python"

    return make


def test_an_interpreter_below_a_closed_home_works_or_is_refused(
    fork_server: ForkServer, limits: Limits, tmp_path: Path, environment: Callable[[Path], Path]
) -> None:
    """It starts in any box. But a user of the box who may not enter the home misses whatever is imported later."""
    home = tmp_path / "home"
    python = environment(home / "environment")
    home.chmod(0o700)
    if fork_server.tier is Tier.T1:
        with pytest.raises(BoxUnavailable, match=r"/.* cannot be read by the user of the box"):
            ForkServer.start(Tier.T1, preload=[], python=str(python))
        return
    with ForkServer.start(fork_server.tier, preload=[], python=str(python)) as own, own.spawn(limits) as box:
        program = Program(box, own.tier)
        program.load(LATE)
        assert program.call("late") == str(home / "environment")


def test_an_environment_in_a_temporary_folder_is_not_covered(
    fork_server: ForkServer, limits: Limits, open_path: Path, environment: Callable[[Path], Path]
) -> None:
    """Each box has a /tmp of its own, which would hide it."""
    python = environment(open_path / "environment")
    with ForkServer.start(fork_server.tier, preload=["numpy"], python=str(python)) as own, own.spawn(limits) as box:
        program = Program(box, own.tier)
        program.load(LATE + "\ndef listed():\n    import os\n    return os.listdir(os.path.dirname(sys.prefix))")
        assert program.call("late") == str(open_path / "environment")
        if fork_server.tier >= Tier.T2:
            assert program.call("listed") == ["environment"]


@from_tier(Tier.T2)
def test_what_lies_where_the_box_has_its_own_folders_is_refused(fork_server: ForkServer) -> None:
    """A mount point of the box that covered it would make it vanish silently."""
    with pytest.raises(BoxUnavailable, match=r"/proc/\d+ must be visible in the box, but /proc is the box's own; move"):
        ForkServer.start(fork_server.tier, preload=[], readable=[Path("/proc/self")])
    for place in (root_directory.WORK, root_directory.ENGINE):
        assert not Path(place).exists(), "a name that no host uses"
