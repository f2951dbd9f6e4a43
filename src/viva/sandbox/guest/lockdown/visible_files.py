"""What is visible in a box: the system's programs and libraries, and this interpreter. Nothing else."""

from __future__ import annotations

import os
import site
import stat
import sys
import sysconfig
from collections import deque
from typing import Callable, Dict, Iterable, List, Set

_SYSTEM = """
/usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/share /usr/include
/usr/local/bin /usr/local/lib /usr/local/lib64 /usr/local/share
/bin /sbin /lib /lib32 /lib64 /nix/store
/etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/localtime /etc/fonts /etc/alternatives /etc/mime.types
/sys/devices/system/cpu
"""
_PREFIX_PARTS = ("bin", "lib", "lib32", "lib64", "libexec", "include", "share", "etc", "ssl", "pyvenv.cfg")
"""A prefix itself is not visible: it may hold more (a course in the folder of its virtual environment)."""
_SITE_PACKAGES = ("site-packages", "dist-packages")
_MOST_LINKS = 40


def interpreter_paths() -> List[str]:
    """Return the paths of the running interpreter, as it names them: executable, libraries, site-packages.

    They include the site-packages of another environment that a .pth file of this one names.
    """
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    found = {os.path.join(prefix, part) for prefix in prefixes for part in _PREFIX_PARTS}
    paths = sysconfig.get_paths()
    found.update(paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    found.update(site.getsitepackages())
    found.update(path for path in sys.path if os.path.basename(path) in _SITE_PACKAGES)
    found.add(sys.executable)
    found.update(_mapped_files())
    return sorted(path for path in found if os.path.isabs(path) and os.path.exists(path))


def system_paths() -> List[str]:
    """Return the paths that programs and shared libraries of the host need; absent ones are left out."""
    return [path for path in _SYSTEM.split() if os.path.lexists(path)]


def _mapped_files() -> Set[str]:
    """Return the shared libraries that this process has loaded, wherever a run path found them."""
    try:
        with open("/proc/self/maps") as file:
            mapped = {line.split(None, 5)[5].strip() for line in file if len(line.split(None, 5)) == 6}
    except OSError:
        return set()
    return {path for path in mapped if path.startswith("/") and not path.endswith("(deleted)")}


def first_unreadable(user: int, paths: Iterable[str]) -> str:
    """Return the first of `paths` that a user may not read, empty if there is none; checks as that user, needs root.

    A Python below a private home directory starts in a box and then fails at the first lazy import.
    """
    return _first(user, paths, lambda path: not os.access(path, os.R_OK))


def first_accessible(user: int, paths: Iterable[str]) -> str:
    """Return the first of `paths` that a user may read or enter, empty if there is none; needs root."""
    return _first(user, paths, _may_enter)


def first_open_socket(user: int, paths: Iterable[str]) -> str:
    """Return the first of `paths` that is a socket to which a user may connect, empty if there is none; needs root."""
    return _first(user, paths, _may_connect)


def sockets() -> Set[str]:
    """Return the paths of the unix sockets of this network namespace, as those who made them wrote them.

    A name with line breaks can make it look as if there were others.
    """
    try:
        with open("/proc/net/unix", errors="surrogateescape") as file:
            return {line.split(None, 7)[7].rstrip("\n") for line in file if " /" in line}
    except OSError:
        return set()


def _may_connect(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode) and os.access(path, os.W_OK)
    except OSError:
        return False


def _may_enter(path: str) -> bool:
    return os.access(path, os.R_OK) or (os.path.isdir(path) and os.access(path, os.X_OK))


def _first(user: int, paths: Iterable[str], holds: Callable[[str], bool]) -> str:
    """Return the first path of which something holds for a user; a process of that user looks."""
    paths = list(paths)
    if not paths:
        return ""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            os.write(writer, next((path for path in paths if holds(path)), "").encode(errors="surrogateescape"))
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, errors="surrogateescape") as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return found


class View:
    """A set of real paths to show, and of the symbolic links that lead to them."""

    def __init__(self, paths: Iterable[str]) -> None:
        """Follow every link of every path.

        Raises:
            FileNotFoundError: A path does not exist (or its links loop).
        """
        self.links: Dict[str, str] = {}
        self._real: Set[str] = set()
        for path in paths:
            self._real.add(self._follow(path))

    @property
    def shown(self) -> List[str]:
        """Return the real paths, sorted, none of them below another."""
        return [path for path in sorted(self._real) if not any(parent in self._real for parent in _parents(path))]

    def covers(self, path: str) -> bool:
        """Return whether a real path is visible."""
        return path in self._real or any(parent in self._real for parent in _parents(path))

    def own_links(self) -> Dict[str, str]:
        """Return the links that are outside all visible paths, so that they must be made again."""
        return {link: target for link, target in self.links.items() if not self.covers(os.path.dirname(link))}

    def _follow(self, path: str) -> str:
        pending, current, hops = deque(path.split("/")), "/", 0
        while pending:
            part = pending.popleft()
            if part in ("", "."):
                continue
            if part == "..":
                current = os.path.dirname(current)
                continue
            here = os.path.join(current, part)
            if os.path.islink(here):
                hops += 1
                if hops > _MOST_LINKS:
                    raise FileNotFoundError(f"{path}: too many symbolic links")
                self.links[here] = target = os.readlink(here)
                current = "/" if target.startswith("/") else current
                pending.extendleft(reversed(target.split("/")))
                continue
            current = here
        if not os.path.exists(current):
            raise FileNotFoundError(f"{path} does not exist (it leads to {current})")
        return current


def _parents(path: str) -> List[str]:
    found = []
    while path != "/":
        path = os.path.dirname(path)
        found.append(path)
    return found


def forget_editable_installs(keep: Iterable[str]) -> None:
    """Remove the finders and paths of editable installs from this interpreter; they point into checkouts.

    Args:
        keep: additional readable paths; import paths below them stay.
    """
    allowed = [*map(os.path.realpath, {*interpreter_paths(), *keep})]
    sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in _module_of(finder)]
    sys.path_hooks[:] = [hook for hook in sys.path_hooks if "__editable__" not in _module_of(hook)]
    sys.path[:] = [path for path in sys.path if _lies_in(os.path.realpath(path), allowed)]


def _module_of(item: object) -> str:
    return str(getattr(item, "__module__", "") or type(item).__module__)


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
