"""What student code must not reach, tier by tier; each test is one way that hostile code has tried."""

import dataclasses
import os
import secrets
import signal
from pathlib import Path

import pytest

import viva
from tests.support.boxed_program import IS_OPEN, Program, from_tier
from viva.sandbox.errors import BoxDied, BoxUnavailable
from viva.sandbox.guest.lockdown import landlock
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A key file as the examiner keeps it: only its own user may read it."""
    path = tmp_path / "key.py"
    path.write_text("ANSWER = 42")
    path.chmod(0o600)
    return path


@from_tier(Tier.T1)
def test_key_is_unreadable(program: Program, secret: Path) -> None:
    program.load("def read(path): return open(path).read()")
    assert "Error" in program.refuses("read", str(secret))


NEEDS_LANDLOCK = "T1 without Landlock: the result says under `missing` that this is not prevented"


def lacks_landlock(program: Program) -> bool:
    """Whether this box keeps its user apart by permissions alone; then it has said so."""
    if program.tier is not Tier.T1 or landlock.abi():
        return False
    assert any(text.startswith("Landlock (") for text in program.box.ready_message.missing)
    return True


@from_tier(Tier.T1)
def test_public_file_is_unreadable(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "class-list.csv"
    path.write_text("ada,1815")
    path.chmod(0o644)
    for parent in path.parents:
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            mode = parent.stat().st_mode
            if not mode & 0o005:
                parent.chmod(mode | 0o055)
    program.load("def read(path): return open(path).read()")
    if lacks_landlock(program):
        pytest.skip(NEEDS_LANDLOCK)
    assert "Error" in program.refuses("read", str(path))


@from_tier(Tier.T1)
def test_home_and_checkout_are_unlisted(program: Program) -> None:
    program.load("import os\ndef look(path): return os.listdir(path)")
    if lacks_landlock(program):
        pytest.skip(NEEDS_LANDLOCK)
    for folder in ("/home", "/root", str(Path(__file__).parent)):
        if os.access(folder, os.R_OK):
            names = {path.name for path in Path(folder).iterdir()} - {".pyenv", ".venv"}
            how, what = program.attempt("look", folder)
            assert how == "raised" or names.isdisjoint(what)


@from_tier(Tier.T2)
def test_engine_is_invisible(program: Program) -> None:
    program.load(
        """
        import importlib.util, os
        def see(path): return os.path.exists(path)
        def find(): return importlib.util.find_spec("viva.grading") is not None
        """
    )
    assert program.call("see", str(Path(viva.__file__))) is False
    with pytest.raises(Exception, match="ModuleNotFoundError"):
        program.call("find")


def test_only_wire_is_open(program: Program) -> None:
    program.load(IS_OPEN + "def descriptors(): return sorted(fd for fd in range(512) if is_open(fd))")
    found = program.call("descriptors")
    assert found[:3] == [0, 1, 2] and len(found) == 4


@from_tier(Tier.T1)
@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET"])
def test_network_is_off(program: Program, family: str) -> None:
    program.load("import socket\ndef connect(family): socket.socket(getattr(socket, family), socket.SOCK_DGRAM)")
    assert "not supported" in program.refuses("connect", family)


@from_tier(Tier.T1)
def test_abstract_sockets_are_unreachable(program: Program) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0viva-test-examiner")
        listener.listen(1)
        program.load("import socket\ndef connect(): socket.socket(socket.AF_UNIX).connect('\\0viva-test-examiner')")
        if program.tier is Tier.T1 and landlock.abi() < landlock.SCOPE_SINCE:
            assert any("abstract unix sockets" in text for text in program.box.ready_message.missing)
            pytest.skip("T1 before Linux 6.12: the result says under `missing` that this is not prevented")
        assert "Error" in program.refuses("connect")


@from_tier(Tier.T1)
def test_sockets_of_others_are_unlisted(program: Program) -> None:
    import socket

    name = f"viva-test-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        program.load("def look(path): return open(path).read()")
        for path in (
            "/proc/self/net/unix",
            "/proc/thread-self/net/unix",
            "/proc/self/task/{}/net/unix",
            "/proc/net/unix",
        ):
            how, what = program.attempt("look", path.format("1"))
            if not lacks_landlock(program):
                assert how == "raised" or name not in what


def test_box_cannot_connect_to_open_socket(fork_server: ForkServer, limits: Limits, open_path: Path) -> None:
    """Without a network and mounts of its own, only the socket's permissions keep a box from it."""
    import socket

    if fork_server.tier is Tier.T1 and "VIVA_TEST_TIER" not in os.environ:
        pytest.skip("tests beside this one may need boxes of T1; test_other_hosts.py runs it")
    path = str(open_path / "open.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        Path(path).chmod(0o777)
        if fork_server.tier is Tier.T1:
            with pytest.raises(
                BoxUnavailable, match=f"every user may connect to the socket {path}, boxes as well; close"
            ):
                fork_server.spawn(limits)
            fork_server.spawn(dataclasses.replace(limits, fork=False)).close()
            Path(path).chmod(0o700)
        with fork_server.spawn(limits) as box:
            program = Program(box, fork_server.tier)
            program.load("import socket\ndef connect(path): socket.socket(socket.AF_UNIX).connect(path)")
            if fork_server.tier >= Tier.T1:
                assert "Error" in program.refuses("connect", path)


@from_tier(Tier.T1)
def test_examiner_cannot_be_signalled(program: Program) -> None:
    program.load(
        """
        import os
        def send(pid, number): os.kill(pid, number)
        def everyone(): os.kill(-1, 9)
        def parent():
            try:
                os.kill(os.getppid(), 9)
            except OSError:
                pass
            return os.getppid()
        """
    )
    assert "Error" in program.refuses("send", os.getpid(), 0)
    assert "PermissionError" in program.refuses("everyone")
    assert program.call("parent") > 0


def test_examiner_outlives_signalled_group(program: Program) -> None:
    program.load(
        "import os\ndef group(): os.killpg(0, 9)"
        if program.tier == Tier.T0
        else "import os\ndef group(): os.kill(0, 9)"
    )
    with pytest.raises(BoxDied, match=f"signal {signal.SIGKILL.value}"):
        program.call("group")


@from_tier(Tier.T1)
def test_other_processes_do_not_show_in_proc(program: Program) -> None:
    program.load(
        """
        import os
        def look():
            found = []
            for name in os.listdir("/proc"):
                if name.isdigit() and int(name) not in (1, os.getpid()):
                    found.append(name)
            return found
        def read(pid): return open(f"/proc/{pid}/cmdline").read()
        """
    )
    if program.tier >= Tier.T2:
        assert program.call("look") == []
    elif not lacks_landlock(program):
        assert "PermissionError" in program.refuses("look")
    else:
        return  # that they are there, and their command lines, can be seen; test_neighbours.py: no more than that
    assert "Error" in program.refuses("read", os.getpid())


@from_tier(Tier.T1)
@pytest.mark.parametrize(
    "path", ["/", "/usr", "/etc", "/dev", "/box-engine", "site-packages", "/proc/self/oom_score_adj"]
)
def test_nothing_outside_is_writable(program: Program, path: str) -> None:
    program.load(
        """
        import os, numpy
        def write(path):
            if path == "site-packages":
                path = os.path.dirname(os.path.dirname(numpy.__file__))
            if os.path.isdir(path):
                path = os.path.join(path, "planted.pth")
            if not os.path.exists(os.path.dirname(path)):
                raise FileNotFoundError(path)
            with open(path, "w") as file:
                file.write("x")
        """
    )
    assert "Error" in program.refuses("write", path)


def test_files_end_with_their_box(fork_server: ForkServer, limits: Limits) -> None:
    plant = """
        import os, tempfile
        places = [os.getcwd(), tempfile.gettempdir()] + SHARED
        def plant():
            for place in places:
                try:
                    open(os.path.join(place, "PLANTED"), "w").write("from the last student")
                except OSError:
                    pass
        def find():
            return [place for place in places if os.path.exists(os.path.join(place, "PLANTED"))]
        """
    shared = [] if fork_server.tier == Tier.T0 else ["/dev/shm", "/tmp", "/var/tmp"]
    plant = plant.replace("SHARED", repr(shared)).replace("PLANTED", f"planted-{secrets.token_hex(4)}")
    with fork_server.spawn(limits) as first:
        program = Program(first, fork_server.tier)
        program.load(plant)
        program.call("plant")
        assert program.call("find")
        with fork_server.spawn(limits) as meanwhile:
            other = Program(meanwhile, fork_server.tier)
            other.load(plant)
            if fork_server.tier != Tier.T1:  # /dev/shm is one for all there, but another user's files cannot be opened
                assert other.call("find") == []
    with fork_server.spawn(limits) as second:
        program = Program(second, fork_server.tier)
        program.load(plant)
        assert program.call("find") == []


@from_tier(Tier.T1)
def test_without_fork_only_threads(fork_server: ForkServer) -> None:
    with fork_server.spawn(Limits(fork=False)) as box:
        program = Program(box, fork_server.tier)
        program.load(
            """
            import os, subprocess, threading, socket
            def fork(): os.fork()
            def run(): subprocess.run(["/bin/true"])
            def exec(): os.execv("/bin/true", ["true"])
            def connect(): socket.socket(socket.AF_UNIX)
            def thread():
                done = []
                worker = threading.Thread(target=lambda: done.append(1))
                worker.start()
                worker.join()
                return done
            """
        )
        assert "BlockingIOError" in program.refuses("fork")
        assert "Error" in program.refuses("run")
        assert "PermissionError" in program.refuses("exec")
        assert "not supported" in program.refuses("connect")
        assert program.call("thread") == [1]
