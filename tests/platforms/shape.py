"""Takes away from Python what Windows or macOS lacks, in this process and in every Python that it starts.

Run as `python shape.py windows|macos -m MODULE ARGUMENT…` or `… FILE ARGUMENT…`. It is neither Windows nor macOS:
the file system and the way in which processes start are those of this machine. It shows what viva asks of the system,
and that it does without: what is gone raises, as it would there.
"""

import os
import runpy
import select
import selectors
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

LINUX_ALONE = {
    os: (
        *("pidfd_open", "memfd_create", "sched_getaffinity", "sched_setaffinity", "eventfd", "O_PATH", "setns"),
        "unshare",
    ),
    signal: ("pidfd_send_signal",),
    select: ("epoll",),
    selectors: ("EpollSelector",),
}
POSIX_ALONE = {
    os: (
        *("fork", "forkpty", "getuid", "geteuid", "getgid", "getegid", "setsid", "killpg", "getpgid", "setuid", "wait"),
        *("O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "fchmod", "fchown", "chown", "wait4"),
        *("pread", "pwrite", "sysconf", "set_blocking", "get_blocking", "mkfifo", "statvfs", "nice", "ttyname"),
        *("posix_spawn", "posix_spawnp", "WIFSIGNALED", "WTERMSIG", "getpgrp", "tcgetpgrp"),
    ),
    signal: (
        *("setitimer", "getitimer", "SIGALRM", "ITIMER_REAL", "SIGKILL", "SIGXCPU", "SIGXFSZ", "SIGHUP", "SIGPIPE"),
        *("SIGSTOP", "SIGCHLD", "SIGQUIT", "pthread_sigmask", "sigwait", "alarm", "pause"),
    ),
    select: ("poll",),
    selectors: ("PollSelector",),
    socket: ("AF_UNIX", "send_fds", "recv_fds", "SOCK_SEQPACKET"),
}
MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog")
_POPEN, _KILL = subprocess.Popen.__init__, 9
_KERNELS_OWN = ("/proc", "/dev/shm", "/sys")


def take(shape: str) -> None:
    """Make this process lack what `shape` lacks."""
    _take_attributes(LINUX_ALONE)
    sys.addaudithook(_without_the_kernels_folders)
    if shape == "windows":
        _windows()
    vars(selectors)["DefaultSelector"] = selectors.SelectSelector
    if shape == "macos":
        os.fork = _refuse("os.fork")  # it is there, and must not be used

    def start(self: Any, arguments: Any, *others: Any, **options: Any) -> None:
        _start(shape, self, arguments, *others, **options)

    _put(subprocess.Popen, "__init__", start)


def _windows() -> None:
    import _socket

    # The standard library of this machine keeps what it needs itself.
    _put(subprocess.Popen, "kill", lambda self: self.send_signal(_KILL))
    _put(socket, "socketpair", _pair_over_loopback)
    del _socket.socketpair
    for module in MODULES:
        sys.modules[module] = None  # type: ignore[assignment]  # importing it raises
    _put(selectors.SelectSelector, "_select", _select_sockets(select.select))
    select.select = _select_sockets(select.select)
    os.supports_dir_fd.clear()
    os.supports_fd.clear()
    os.supports_follow_symlinks.clear()
    for name in ("open", "stat", "unlink", "rmdir", "mkdir", "rename", "readlink"):
        setattr(os, name, _without_dir_fd(getattr(os, name)))
    for name in ("listdir", "scandir", "chdir"):
        setattr(os, name, _by_path_alone(getattr(os, name)))
    really = os.kill
    os.kill = lambda pid, number: really(pid, number) if number else _refuse("os.kill(…, 0): Ctrl-C for all")()
    _take_attributes(POSIX_ALONE)


def _put(owner: Any, name: str, value: Any) -> None:
    """Replace an attribute that types do not allow to be replaced."""
    setattr(owner, name, value)


def _take_attributes(lists: dict[Any, tuple[str, ...]]) -> None:
    for module, names in lists.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)


def _refuse(what: str) -> Callable[..., Any]:
    def refused(*_arguments: Any, **_options: Any) -> Any:
        raise AssertionError(f"{what} is not there")

    return refused


def _without_the_kernels_folders(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in ("open", "os.listdir", "os.scandir") or not isinstance(arguments[0], str):
        return
    if arguments[0].startswith(_KERNELS_OWN):
        raise FileNotFoundError(2, "No such file or directory", arguments[0])


def _without_dir_fd(function: Callable[..., Any]) -> Callable[..., Any]:
    def by_path(*arguments: Any, **options: Any) -> Any:
        if options.pop("dir_fd", None) is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        if function.__name__ == "open" and not isinstance(arguments[0], int) and Path(arguments[0]).is_dir():
            raise PermissionError(13, "Permission denied", str(arguments[0]))
        return function(*arguments, **options)

    return by_path


def _by_path_alone(function: Callable[..., Any]) -> Callable[..., Any]:
    def by_path(path: Any = ".") -> Any:
        if isinstance(path, int):
            raise TypeError("path should be string, bytes, os.PathLike or None, not int")
        return function(path)

    return by_path


def _select_sockets(really: Callable[..., Any]) -> Callable[..., Any]:
    def select_(*arguments: Any) -> Any:
        lists = [part for part in arguments if not isinstance(part, float | int | type(None) | selectors.BaseSelector)]
        for descriptor in (one for part in lists for one in part):
            number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                raise OSError(10038, "An operation was attempted on something that is not a socket")
        return really(*[part for part in arguments if not isinstance(part, selectors.BaseSelector)])

    return select_


def _pair_over_loopback(*_kind: int) -> tuple[socket.socket, socket.socket]:
    """As the standard library makes a pair on Windows."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
    return one, other


def _start(shape: str, process: Any, arguments: Any, *others: Any, **options: Any) -> None:
    """Popen, which starts another Python in the same shape; on Windows it hands over nothing but standard streams."""
    if shape == "windows":
        assert not options.pop("pass_fds", ()), "descriptors are not inherited"
        assert options.get("preexec_fn") is None
        for name in ("start_new_session", "process_group", "creationflags"):
            options.pop(name, None)  # ignored there, or meant for there
    argv = [os.fspath(word) for word in arguments] if not isinstance(arguments, str | bytes) else arguments
    if isinstance(argv, list) and argv[0] == sys.executable:
        flags = [word for word in argv[1:] if word in ("-I", "-s", "-E")]
        rest = [word for word in argv[1:] if word not in flags]
        if rest[0] != "-c":
            argv = [argv[0], *flags, __file__, shape, *rest]
    _POPEN(process, argv, *others, **options)


def main() -> None:
    """Take, then run what the command line says."""
    shape, kind, *rest = sys.argv[1:]
    take(shape)
    if not sys.flags.isolated:
        del sys.path[0]  # this folder
    if kind == "-m":
        name, *arguments = rest
        sys.argv = [name, *arguments]
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        sys.argv = [kind, *rest]
        sys.path.insert(0, str(Path(kind).parent))  # as for every program that is a file
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    main()
