"""The isolation levels of a box; see docs/sandbox.md for what each promises."""

from enum import IntEnum, unique


@unique
class Tier(IntEnum):
    """An isolation level; a higher one promises everything that a lower one does."""

    T0 = 0
    """A plain process with resource limits: the code being graded can read what its user can read."""
    T1 = 1
    """Root in a container: own uid, Landlock, seccomp, resource limits, uid sweep."""
    T2 = 2
    """A user namespace: own process, mount and network namespaces, Landlock, seccomp."""
    T3 = 3
    """Root: namespaces, own uid, Landlock, seccomp, resource limits, cgroup."""

    def __str__(self) -> str:
        return self.name
