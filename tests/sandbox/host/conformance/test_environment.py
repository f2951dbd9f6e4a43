"""The environment of a program in a box: its user, its descriptors, the files it sees, and its limits."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.boxed_program import Program, from_tier
from viva.sandbox.errors import BoxDied
from viva.sandbox.guest.lockdown import clean_environment
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier

WHO = """
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
def prctl(option, argument=0):
    return libc.prctl(ctypes.c_int(option), *[ctypes.c_ulong(a) for a in (argument, 0, 0, 0)])
def capabilities():
    header, held = struct.pack("=II", 0x20080522, 0), ctypes.create_string_buffer(24)
    assert libc.capget(header, held) == 0
    return list(held.raw)
def bounding():
    return [number for number in range(64) if prctl(23, number) == 1]
def ambient():
    return [number for number in range(41) if prctl(47, 1) == 1 and prctl(47, number) == 1]
def secure_bits():
    return prctl(27)
"""


@from_tier(Tier.T1)
def test_it_has_no_capability_and_no_way_to_one(program: Program) -> None:
    program.load(WHO)
    assert program.call("capabilities") == [0] * 24
    assert program.call("bounding") == []
    assert program.call("secure_bits") & 0x3 == 0x3  # user 0 never has privileges
    assert program.call("prctl", 39) == 1, "no_new_privs: a set-uid program changes nothing"
    assert program.call("prctl", 21) == 2, "a system call filter stands"


@from_tier(Tier.T1)
def test_box_has_own_user_and_group(program: Program) -> None:
    program.load("import os\ndef who(): return [*os.getresuid(), *os.getresgid()], os.getgroups()")
    ids, groups = program.call("who")
    nested = program.tier is not Tier.T2 or program.box.ready_message.layers["proc"] == "own"
    assert len(set(ids)) == 1 and (60001 <= ids[0] < 61181 if nested else ids[0] == 0)  # 0 of a namespace: nobody
    assert set(groups) <= {65534}  # what a group of the host is called that a user namespace cannot name


@from_tier(Tier.T1)
def test_set_uid_program_gains_nothing(program: Program) -> None:
    """The host's own, where it has any: `su` runs as who starts it."""
    places = [Path("/usr/bin/su"), Path("/bin/su")]
    tool = next((path for path in places if path.exists() and path.stat().st_mode & 0o4000), None)
    if not tool:
        pytest.skip("this host has no set-uid program")
    program.load(
        """
        import subprocess
        def become(tool):
            done = subprocess.run([tool, "-c", "id -u"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            return done.returncode, done.stdout
        """
    )
    how, what = program.attempt("become", str(tool))
    assert how == "raised" or (what[0] != 0 and what[1] == "")


def test_environment_variables(program: Program) -> None:
    program.load("import os\ndef look(): return dict(os.environ)")
    found = program.call("look")
    assert set(found) == set(clean_environment.variables(found["PWD"], found["TMPDIR"]))
    assert found["PYTHONHASHSEED"] == "0" and found["OMP_NUM_THREADS"] == "1" and found["MPLBACKEND"] == "Agg"


def test_own_folders_are_writable(program: Program) -> None:
    program.load(
        """
        import os, tempfile
        def folders(): return [os.getcwd(), os.environ["PWD"], os.environ["HOME"], tempfile.gettempdir()]
        def write(path):
            name = os.path.join(path, "x")
            open(name, "w").write("x")
            status = os.stat(path)
            return status.st_uid == os.getuid(), status.st_mode & 0o077
        """
    )
    work, again, home, temporary = program.call("folders")
    assert os.path.realpath(work) == os.path.realpath(again) and home == temporary
    for folder in (work, temporary):
        assert list(program.call("write", folder)) == [True, 0]


def test_standard_streams(program: Program) -> None:
    program.load(
        """
        import os, stat, sys
        def read(): return sys.stdin.read()
        def pipes(): return [stat.S_ISFIFO(os.fstat(fd).st_mode) for fd in (1, 2)]
        def terminal(): open("/dev/tty")
        """
    )
    assert program.call("read") == ""
    assert program.call("pipes") == [True, True]
    assert "Error" in program.refuses("terminal")


def test_signals_are_fresh(program: Program) -> None:
    program.load(
        """
        import os, signal
        def mask(): return [int(n) for n in signal.pthread_sigmask(signal.SIG_BLOCK, [])]
        def ignored(): return [int(n) for n in signal.valid_signals() if signal.getsignal(n) == signal.SIG_IGN]
        def leads(): return os.getsid(0) == os.getpid() and os.getpgrp() == os.getpid()
        """
    )
    assert program.call("mask") == []
    assert set(program.call("ignored")) <= {13, 25}  # Python's own: SIGPIPE and SIGXFSZ
    assert program.tier == Tier.T0 or program.call("leads")


LIMITS = """
import resource
def limits(): return {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if "RLIMIT_" in name}
def lift(name):
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (hard + 1, hard + 1))
"""


def test_every_resource_limit_is_set(program: Program, limits: Limits) -> None:
    program.load(LIMITS)
    found = {name: tuple(pair) for name, pair in program.call("limits").items()}
    assert found["RLIMIT_CORE"] == (0, 0) and found["RLIMIT_MSGQUEUE"] == (0, 0)
    assert found["RLIMIT_NOFILE"] == (512, 512)
    assert found["RLIMIT_MEMLOCK"][1] <= 8 << 20
    assert found["RLIMIT_FSIZE"] == (limits.disk_mib << 20,) * 2
    assert found["RLIMIT_CPU"][1] == 2 * limits.submission_s + 1
    assert limits.memory_mib << 20 <= found["RLIMIT_DATA"][1] < (limits.memory_mib + 512) << 20
    assert found["RLIMIT_AS"][1] < 1 << 40


@from_tier(Tier.T1)
@pytest.mark.parametrize("name", ["RLIMIT_NOFILE", "RLIMIT_DATA", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NPROC"])
def test_no_resource_limit_can_be_lifted(program: Program, name: str) -> None:
    program.load(LIMITS)
    if name == "RLIMIT_NPROC" and program.box.ready_message.layers["processes"] == "watched":
        pytest.skip("processes are counted from outside here")
    assert "Error" in program.refuses("lift", name)


@from_tier(Tier.T2)
def test_processes_of_own_box_alone(program: Program) -> None:
    program.load("import os\ndef look(): return [os.getpid(), os.getppid(), os.path.isdir('/proc/1')]")
    me, parent, shown = program.call("look")
    assert me < 10 and parent == 1
    assert shown == (program.box.ready_message.layers["proc"] == "own")


@from_tier(Tier.T2)
def test_root_directory_is_read_only(program: Program) -> None:
    program.load(
        """
        import os
        def top(): return sorted(os.listdir("/"))
        def devices(): return sorted(os.listdir("/dev"))
        def host(): return os.uname().nodename
        def frozen(path): return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
        """
    )
    found = set(program.call("top"))
    assert {"box", "box-engine", "dev", "etc", "proc", "tmp", "usr"} <= found
    assert found.isdisjoint({"boot", "mnt", "media"}) or sys.prefix.startswith(("/mnt", "/media"))
    assert program.call("devices") == [
        "fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero",
    ]  # fmt: skip
    assert program.call("host") == "box"
    assert [program.call("frozen", path) for path in ("/", "/usr/lib", "/box-engine")] == [True] * 3


@from_tier(Tier.T2)
def test_users_and_hosts_are_not_named(program: Program) -> None:
    program.load("def read(path): return open(path).read()")
    assert program.call("read", "/etc/passwd").count("\n") == 2
    assert program.call("read", "/etc/hosts").count("\n") == 1
    for path in ("/etc/shadow", "/etc/hostname", "/etc/machine-id", "/etc/resolv.conf"):
        assert "FileNotFoundError" in program.refuses("read", path)


@from_tier(Tier.T1)
@pytest.mark.parametrize(
    "path", ["/proc/1/environ", "/proc/1/mem", "/proc/kcore", "/proc/kmsg", "/proc/sys/kernel/hostname"]
)
def test_proc_of_host_is_refused(program: Program, path: str) -> None:
    program.load("def write(path): open(path, 'r+b').write(b'x')\ndef read(path): return open(path, 'rb').read(1)")
    assert "Error" in program.refuses("write", path)
    if "hostname" not in path:
        assert "Error" in program.refuses("read", path)


LATE = """
numpy.random numpy.testing numpy.linalg encodings.idna json sqlite3 ssl
ctypes decimal unicodedata unittest zoneinfo
"""


def test_what_libraries_import_late_is_there(program: Program) -> None:
    """The interpreter may lie below a home folder of mode 0700: a box that starts may still miss what comes later."""
    program.load("import importlib\ndef late(name): return importlib.import_module(name).__name__")
    for name in LATE.split():
        assert program.call("late", name) == name


def test_interpreter_and_libpython(program: Program) -> None:
    """A run path that leads through a closed folder makes the loader take another libpython, silently."""
    program.load(
        """
        import sys, sysconfig
        def which(): return [sys.executable, sys.version, sys.prefix, sys.base_prefix]
        def mapped():
            try:
                maps = open("/proc/self/maps").read()
            except OSError:
                return []
            return sorted({line.split()[-1] for line in maps.splitlines() if "libpython" in line})
        """
    )
    assert program.call("which") == [sys.executable, sys.version, sys.prefix, sys.base_prefix]
    mine = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libpython" in line}
    assert set(program.call("mapped")) <= {*mine, *map(os.path.realpath, mine)}


def test_random_numbers_start_alike_in_every_box(fork_server: ForkServer, limits: Limits) -> None:
    source = "import random, numpy\ndef draw(): return [random.random(), float(numpy.random.rand()), hash('viva')]"
    drawn = []
    for seed in (1, 1, 2):
        with fork_server.spawn(limits, seed=seed) as box:
            program = Program(box, fork_server.tier)
            program.load(source)
            drawn.append(program.call("draw"))
    assert drawn[0] == drawn[1] and drawn[0][:2] != drawn[2][:2] and drawn[0][2] == drawn[2][2]


INTERRUPT_80 = """
import ctypes, mmap
def old_calls():
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))  # mov eax, getpid; int 0x80; ret
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""


@from_tier(Tier.T1)
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the 32-bit ABI exists on x86-64 only")
def test_32_bit_abi_is_killed(program: Program) -> None:
    """SIGSYS by the filter; SIGSEGV where the kernel has no such entry at all."""
    program.load(INTERRUPT_80)
    with pytest.raises(BoxDied, match=r"SIGSYS|SIGSEGV"):
        program.call("old_calls")


def test_files_are_put(program: Program) -> None:
    """Where no file may be for others, its mode is changed as far as that goes; nothing fails for it."""
    program.load(
        """
        import os, pathlib, shutil, subprocess, tarfile, tempfile
        def work():
            old = os.umask(0o022)
            os.umask(old)
            pathlib.Path("one").write_text("1")
            os.chmod("one", 0o644)
            shutil.copy("one", "two")
            shutil.copy2("two", "three")
            os.makedirs("folder/inner", mode=0o755)
            shutil.copytree("folder", "other")
            with tarfile.open("all.tar", "w") as archive:
                archive.add("one")
                archive.add("folder")
            with tarfile.open("all.tar") as archive:
                archive.extractall("unpacked", filter="data")
            script = pathlib.Path("script")
            script.write_text("#!/bin/sh\\necho ran")
            script.chmod(0o755)
            with tempfile.NamedTemporaryFile() as file:
                os.fchmod(file.fileno(), 0o640)
            # As Jupyter's kernels and fontconfig do, in processes of their own.
            subprocess.run("mkdir -m 755 own && chmod 755 own && chmod 644 one && umask 022", shell=True, check=True)
            return [
                pathlib.Path("unpacked/one").read_text(),
                os.statvfs(".").f_flag & os.ST_NOEXEC  # as Docker's /dev/shm is, where T1 keeps its folders
                or subprocess.run(["./script"], capture_output=True, text=True).stdout == "ran\\n",
                os.stat("one").st_mode & 0o700,
            ]
        """
    )
    text, ran, mode = program.call("work")
    assert (text, mode) == ("1", 0o600) and ran
