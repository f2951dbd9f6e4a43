"""Two boxes at once: neither reaches the other's memory, processes, files, sockets or shared memory."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.boxed_program import Program, from_tier
from viva.sandbox.guest.lockdown import landlock
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.limits import processes
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier

VICTIM = """
import ctypes, os, socket, struct, tempfile
NUMBER = os.getpid()
ACL = struct.pack("<I" + "HHI" * 4, 2, 1, 6, 2**32 - 1, 4, 6, 2**32 - 1, 16, 6, 2**32 - 1, 32, 6, 2**32 - 1)
secret = b"the other student's answer " + bytes(range(65, 91))
os.environ["ANSWER"] = "42"
listeners = []
def live():
    places = [os.path.join(folder, "secret") for folder in (os.getcwd(), tempfile.gettempdir(), "/dev/shm")]
    for path in places:
        try:
            with open(path, "wb") as file:
                file.write(secret)
            os.chmod(path, 0o600)
        except OSError:
            pass
    for address in (os.path.join(tempfile.gettempdir(), "s"), "\\0viva-test-neighbour"):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen(1)
        listeners.append(listener)
    return os.getpid(), id(secret), places, os.path.join(tempfile.gettempdir(), "s")
def open_up():
    # Files for everybody, in every way that there is, where another box may look.
    libc = ctypes.CDLL(None, use_errno=True)
    os.umask(0)
    made = []
    for number, place in enumerate(("/dev/shm", "/tmp", "/var/tmp", os.getcwd())):
        path = os.path.join(place, f"viva-test-open-{NUMBER}-{number}")
        try:
            with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666), "wb") as file:
                file.write(secret)
        except OSError:
            continue
        made.append(path)
        for attempt in (
            lambda: os.chmod(path, 0o666),
            lambda: libc.chmod(path.encode(), 0o666),
            lambda: libc.fchmod(os.open(path, os.O_RDONLY), 0o604),
            lambda: os.setxattr(path, "system.posix_acl_access", ACL),
        ):
            try:
                attempt()
            except OSError:
                pass
        try:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path + ".sock")
            listener.listen(1)
            listeners.append(listener)
            libc.chmod(path.encode() + b".sock", 0o777)
        except OSError:
            pass
    return made
def well(): return secret[:3]
"""
ATTACKER = """
import ctypes, os, signal, socket
libc = ctypes.CDLL(None, use_errno=True)
def read(path): return open(path, "rb").read()
def memory(pid, address):
    with open(f"/proc/{pid}/mem", "rb") as file:
        file.seek(address)
        return file.read(64)
def connect(address): socket.socket(socket.AF_UNIX).connect(address)
def strike(pids):
    mine, found = {os.getpid(), os.getppid()}, []
    for pid in pids:
        try:
            if pid not in mine:
                os.kill(pid, signal.SIGKILL)
                found.append(pid)
        except OSError:
            pass
    return found
def names(): return os.listdir("/dev/shm")
"""


@pytest.fixture
def victim(fork_server: ForkServer, limits: Limits) -> Iterator[Program]:
    """A box with secrets in all places; it must be well at the end."""
    with fork_server.spawn(limits) as box:
        program = Program(box, fork_server.tier)
        program.load(VICTIM)
        yield program
        assert program.call("well") == b"the"


@pytest.fixture
def attacker(fork_server: ForkServer, limits: Limits, victim: Program) -> Iterator[Program]:
    """A second box."""
    with fork_server.spawn(limits) as box:
        program = Program(box, fork_server.tier)
        program.load(ATTACKER)
        yield program


def pids_of(program: Program, inner: int) -> list[int]:
    """Its processes as this host numbers them, and as it numbers itself."""
    return [*processes.family(program.box.resources.first), inner]


@from_tier(Tier.T1)
def test_neighbour_memory_is_unreadable(victim: Program, attacker: Program) -> None:
    inner, address, _, _ = victim.call("live")
    for pid in pids_of(victim, inner):
        if pid == inner and attacker.tier >= Tier.T2:
            continue  # that number is the attacker's own process
        # Without namespaces it is Landlock that hides the command line.
        open_to_all = () if attacker.tier is Tier.T1 and not landlock.abi() else ("cmdline",)
        for path in ("environ", "maps", "fd/1", "cwd/secret", "root/etc/passwd", *open_to_all):
            assert "Error" in attacker.refuses("read", f"/proc/{pid}/{path}")
        assert "Error" in attacker.refuses("memory", pid, address)


@from_tier(Tier.T1)
def test_files_of_another_box_cannot_be_opened(victim: Program, attacker: Program) -> None:
    _, _, places, _ = victim.call("live")
    for path in places:
        assert "Error" in attacker.refuses("read", path)


@from_tier(Tier.T1)
def test_no_file_is_opened_to_another_box(victim: Program, attacker: Program) -> None:
    """Not even by two programs that agreed on a name: what they write is for their own box."""
    made = victim.call("open_up")
    assert made
    for path in made:
        assert "Error" in attacker.refuses("read", path)
        assert "Error" in attacker.refuses("connect", path + ".sock")


@from_tier(Tier.T1)
def test_no_box_keeps_others_from_being_made(fork_server: ForkServer, limits: Limits) -> None:
    """In T1 sockets are listed before a box is made, one a line, by names that may hold line breaks."""
    with fork_server.spawn(limits) as box:
        program = Program(box, fork_server.tier)
        program.load(
            """
            import os, socket
            held = []
            def bind():
                folder = "a\\n0: 0 0 0 0001 01 0 "
                os.makedirs(folder + "/dev")
                held.append(socket.socket(socket.AF_UNIX))
                held[0].bind(os.path.join(os.getcwd(), folder, "dev/null"))
                held[0].listen(1)
            """
        )
        program.call("bind")
        with fork_server.spawn(limits) as following:
            assert following.alive


@from_tier(Tier.T1)
def test_neighbour_shared_memory_is_unlisted(victim: Program, attacker: Program) -> None:
    victim.call("live")
    if attacker.tier >= Tier.T2:
        assert attacker.call("names") == []
    elif landlock.abi():
        assert "PermissionError" in attacker.refuses("names")


@from_tier(Tier.T1)
def test_sockets_of_another_box_cannot_be_reached(victim: Program, attacker: Program) -> None:
    """By path never; by an abstract name where the tier says that it cannot prevent that."""
    _, _, _, path = victim.call("live")
    assert "Error" in attacker.refuses("connect", path)
    if not any("abstract" in text for text in attacker.box.ready_message.missing):
        assert "Error" in attacker.refuses("connect", "\0viva-test-neighbour")


@from_tier(Tier.T1)
def test_neighbour_cannot_be_signalled(victim: Program, attacker: Program) -> None:
    inner, _, _, _ = victim.call("live")
    hit = attacker.call("strike", [*pids_of(victim, inner), *range(1, 400)])
    assert attacker.tier >= Tier.T2 or hit == []
    assert set(hit) <= {1}  # the first process of its own box, which does not hear it


@from_tier(Tier.T1)
def test_no_box_takes_all_users(fork_server: ForkServer, limits: Limits) -> None:
    """They were once reserved by abstract sockets, under names that a box in the same network namespace could take."""
    source = """
    import os, socket, time
    held = []
    def take(first, last):
        for uid in range(first, last):
            held.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            try:
                held[-1].bind(f"\\0viva-uid-{uid}")
            except OSError:
                held.pop()
    def take_all():
        reader, writer = os.pipe()
        for first in range(60001, 61181, 400):
            if os.fork() == 0:
                take(first, first + 400)
                os.write(writer, b"x")
                time.sleep(60)
            os.read(reader, 1)
        open("/run/viva-uids", "r+")
    """
    # What its sockets may hold counts as memory, and is more than the small boxes of these tests have.
    with fork_server.spawn(replace(limits, memory_mib=1024)) as box:
        program = Program(box, fork_server.tier)
        program.load(source)
        assert "Error" in program.refuses("take_all")
        with fork_server.spawn(limits) as following:
            assert following.alive


@from_tier(Tier.T1)
def test_boxes_have_different_users(fork_server: ForkServer, limits: Limits) -> None:
    """In T2 all are called alike: there each is the only one in a user namespace."""
    with fork_server.spawn(limits) as first, fork_server.spawn(limits) as second:
        programs = [Program(box, fork_server.tier) for box in (first, second)]
        for program in programs:
            program.load(
                "import os\ndef who(): return os.getuid()\ndef where(): return os.readlink('/proc/self/ns/user')"
            )
        if fork_server.tier is not Tier.T2:
            assert len({program.call("who") for program in programs}) == 2
        elif first.ready_message.layers["proc"] == "own":
            assert len({program.call("where") for program in programs}) == 2
