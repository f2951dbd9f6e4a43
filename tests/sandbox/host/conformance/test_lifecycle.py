"""The fork server and the pool: starting, refusing to start, where its interpreter may lie, leaving nothing behind."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy
import pytest

from tests.support.boxed_program import Program, from_tier
from tests.support.wait_until import wait_until
from viva.sandbox.errors import BoxDied, BoxUnavailable
from viva.sandbox.guest.lockdown import landlock, root_directory
from viva.sandbox.host.box_pool import Pool
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.limits import processes
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier


@pytest.fixture
def own_fork_server(fork_server: ForkServer) -> ForkServer:
    """A fork server of the same tier that the test may ruin; the test closes it."""
    return ForkServer.start(fork_server.tier, preload=["numpy"])


def test_boxes_end_with_killed_fork_server(own_fork_server: ForkServer, limits: Limits) -> None:
    with own_fork_server:
        box = own_fork_server.spawn(limits)
        program = Program(box, own_fork_server.tier)
        program.load("def f(): return 1")
        os.kill(own_fork_server.pid, signal.SIGKILL)
        assert box.resources.ended.wait(10)
        with pytest.raises(BoxUnavailable, match="fork server has ended"):  # which the student cannot help
            program.call("f")
        box.close()
        with pytest.raises(BoxUnavailable, match="fork server has ended"):
            own_fork_server.spawn(limits)


def test_closed_fork_server_ends_boxes(own_fork_server: ForkServer, limits: Limits) -> None:
    box = own_fork_server.spawn(limits)
    own_fork_server.close()
    with pytest.raises(BoxDied):
        box.ask("names", timeout_s=1)
    box.close()
    assert not own_fork_server.alive


def test_nothing_outlives_killed_examiner(fork_server: ForkServer, tmp_path: Path) -> None:
    """SIGKILL leaves it no time to tidy up: the lifeline closes and the supervisor cleans up."""
    script = tmp_path / "examiner.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys, time
            from viva.sandbox.host.box_pool import Pool
            from viva.sandbox.host.fork_server import ForkServer
            from viva.sandbox.limits import Limits
            from viva.sandbox.tier import Tier
            fork_server = ForkServer.start(Tier({int(fork_server.tier)}), preload=[])
            pool = Pool(fork_server, Limits(), ready=2)
            boxes = [pool.take() for _ in range(2)]
            print("ready", flush=True)
            time.sleep(100)
            """
        )
    )
    script.chmod(0o644)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as examiner:
        assert examiner.stdout is not None
        assert examiner.stdout.readline() == b"ready\n"
        mine = processes.family(examiner.pid)[1:]
        assert len(mine) >= 6  # the supervisor, the fork server, two boxes with two processes each
        examiner.kill()
    wait_until(lambda: not living(mine))
    assert [name for name in folders_of_viva() if name.startswith(f"viva-examiner-{examiner.pid}-")] == []


def living(pids: list[int]) -> list[int]:
    """Those that run, and are not zombies."""
    return [pid for pid in pids if processes.tasks([pid]) and "Z" not in state_of(pid)]


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def folders_of_viva() -> list[str]:
    """Names of what viva has lying about on this host; others may come and go meanwhile."""
    names = []
    for place in ("/dev/shm", tempfile.gettempdir()):
        names += next(os.walk(place), ("", [], []))[1]
    for _, folders, _ in os.walk("/sys/fs/cgroup"):
        names += folders
    return [name for name in names if name.startswith("viva-")]


def test_descriptors_do_not_pile_up(fork_server: ForkServer, limits: Limits) -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    def once() -> None:
        with ForkServer.start(fork_server.tier, preload=[]) as own, Pool(own, limits, ready=1) as pool:
            pool.take().close()

    once()
    before = count()
    once()
    once()
    assert count() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [({"preload": ["no_such_module"]}, "no_such_module"), ({"python": "/no/such/python"}, "/no/such/python")],
)
def test_what_does_not_exist_is_named(fork_server: ForkServer, options: dict[str, Any], words: str) -> None:
    with pytest.raises(BoxUnavailable, match=words):
        ForkServer.start(fork_server.tier, **{"preload": [], **options})


@pytest.fixture(scope="session")
def other_python() -> Iterator[Path]:
    """A virtual environment below /tmp with a library that starts a thread; a .pth file names ours.

    Not below pytest's own folder, which the next session that starts on this machine closes to other users.
    """
    folder = Path(tempfile.mkdtemp())
    venv.create(folder, symlinks=True)
    packages = next((folder / "lib").glob("python*/site-packages"))
    (packages / "threaded_library.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(3600,), daemon=True).start()\n"
    )
    places = {str(Path(str(library.__file__)).parents[1]) for library in (numpy, msgpack)}
    (packages / "numpy_and_msgpack.pth").write_text("\n".join(sorted(places)) + "\n")
    open_to_all(folder)
    yield folder / "bin" / "python"
    shutil.rmtree(folder)


def test_library_with_threads_is_not_forked(fork_server: ForkServer, limits: Limits, other_python: Path) -> None:
    """It cannot be forked warm: the thread would not come along. Found out by counting, not by a list of names."""
    preload = ["numpy", "threaded_library"]
    with ForkServer.start(fork_server.tier, preload=preload, python=str(other_python)) as own, own.spawn(limits) as box:
        program = Program(box, own.tier)
        program.load("import sys, threading\ndef look(): return [sys.prefix, threading.active_count()]")
        assert program.call("look") == [str(other_python.parents[1]), 2]
        if fork_server.tier >= Tier.T1:
            assert not box.ready_message.open_probes and "seccomp" in box.ready_message.layers


def test_fresh_interpreters_can_be_asked_for(fork_server: ForkServer, limits: Limits) -> None:
    with ForkServer.start(fork_server.tier, preload=["numpy"], fresh=True) as own, own.spawn(limits) as box:
        program = Program(box, own.tier)
        program.load("import sys\ndef loaded(): return 'numpy' in sys.modules")
        assert program.call("loaded") is True
        assert "numpy" in box.ready_message.versions


def open_to_all(path: Path) -> None:
    """What was made privately; isolation layers, not luck, must keep the box's user out."""
    for each in (path, *path.rglob("*")):
        if not each.is_symlink():
            each.chmod(each.stat().st_mode | 0o055 if each.is_dir() else each.stat().st_mode | 0o044)


def test_readable_folders_are_read_only(fork_server: ForkServer, limits: Limits, open_path: Path) -> None:
    corpus = open_path / "corpus"
    corpus.mkdir()
    (corpus / "text").write_text("hello")
    open_to_all(open_path)
    with ForkServer.start(fork_server.tier, preload=[], readable=[corpus]) as own, own.spawn(limits) as box:
        program = Program(box, own.tier)
        program.load("def read(path): return open(path).read()\ndef write(path): open(path, 'w').write('x')")
        assert program.call("read", str(corpus / "text")) == "hello"
        if fork_server.tier >= Tier.T1:
            assert "Error" in program.refuses("write", str(corpus / "text"))


@from_tier(Tier.T1)
def test_hidden_folder_in_readable_one(fork_server: ForkServer, limits: Limits, open_path: Path) -> None:
    course = open_path / "course"
    (course / "graders").mkdir(parents=True)
    (course / "data").mkdir()
    (course / "graders" / "key.py").write_text("42")
    (course / "data" / "text").write_text("hello")
    open_to_all(open_path)
    options: dict[str, Any] = {"readable": [course], "hidden": [course / "graders"]}
    if fork_server.tier is Tier.T1 and not landlock.abi():
        with pytest.raises(BoxUnavailable, match=r"graders must be hidden from boxes, but .* no Landlock; close it"):
            ForkServer.start(fork_server.tier, preload=[], **options)
        (course / "graders").chmod(0o700)
    with ForkServer.start(fork_server.tier, preload=[], **options) as own, own.spawn(limits) as box:
        program = Program(box, own.tier)
        program.load("def read(path): return open(path).read()")
        assert program.call("read", str(course / "data" / "text")) == "hello"
        assert "Error" in program.refuses("read", str(course / "graders" / "key.py"))


def ready_in(pool: Pool, count: int) -> list[Any]:
    """The boxes that wait in a pool, once there are so many."""
    wait_until(lambda: len(pool._ready) >= count)
    return list(pool._ready)


def test_pool_boxes_hold_data(fork_server: ForkServer, limits: Limits) -> None:
    with Pool(fork_server, limits, ready=2, data=[("data/words.txt", b"mot"), ("a.bin", b"\0")]) as pool:
        waiting = ready_in(pool, 2)
        with pool.take() as box, pool.take() as second:
            assert [box, second] == waiting
            for taken in (box, second):
                program = Program(taken, fork_server.tier)
                program.load("def read(path): return open(path, 'rb').read()")
                assert program.call("read", "data/words.txt") == b"mot"
                assert program.call("read", "a.bin") == b"\0"


def test_pool_skips_dead_boxes(fork_server: ForkServer, limits: Limits) -> None:
    with Pool(fork_server, limits, ready=1) as pool:
        (waiting,) = ready_in(pool, 1)
        waiting.kill()
        with pool.take() as box:
            assert box is not waiting and box.alive


def test_pool_without_fork_server(own_fork_server: ForkServer, limits: Limits) -> None:
    own_fork_server.close()
    with Pool(own_fork_server, limits, ready=1) as pool, pytest.raises(BoxUnavailable, match="closed"):
        pool.take()


def test_pools_share_fork_server(fork_server: ForkServer, limits: Limits) -> None:
    with Pool(fork_server, limits, ready=1) as small, Pool(fork_server, Limits(), ready=1) as large:
        for pool in (small, large, small, large):
            with pool.take() as box:
                assert box.alive


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


def test_interpreter_below_closed_home(
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


def test_environment_in_temporary_folder(
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
def test_paths_of_own_folders_are_refused(fork_server: ForkServer) -> None:
    """A mount point of the box that covered it would make it vanish silently."""
    with pytest.raises(BoxUnavailable, match=r"/proc/\d+ must be visible in the box, but /proc is the box's own; move"):
        ForkServer.start(fork_server.tier, preload=[], readable=[Path("/proc/self")])
    for place in (root_directory.WORK, root_directory.ENGINE):
        assert not Path(place).exists(), "a name that no host uses"
