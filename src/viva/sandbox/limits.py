"""Limits of one submission. Units are in the names; the manual (docs/sandbox.md) says what each limit counts.

Seconds are counted seconds: processor time and a part of the time asleep (sandbox/guest/process/counted_time.py).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one assignment; the defaults are those of DESIGN and fit numpy coursework."""

    load_s: float = 60.0
    """Seconds for importing the module, or for one cell; a whole notebook may take twice that."""
    call_s: float = 10.0
    """Seconds for one call into the box."""
    test_s: float = 30.0
    """Seconds for one test, all its calls together."""
    submission_s: float = 300.0
    """Seconds for all that the boxes of the submission do."""
    memory_mib: int = 1024
    """Memory of the box: all its processes together (cgroup or watchdog), and RLIMIT_DATA of each."""
    disk_mib: int = 64
    """Bytes the box may write to its work directory, and again to /tmp."""
    output_kib: int = 1024
    """Printed output that is kept; two hundred times as much ends the box."""
    processes: int = 64
    """Processes and threads alive at once in the box."""
    fork: bool = True
    """Whether the box may start processes at all (data loaders need it)."""
