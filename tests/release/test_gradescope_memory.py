"""The container's memory in both versions of cgroups, and what of it the box gets."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gradescope_course import write
from viva.plugins.release.gradescope.container_memory import LEAST_MIB, MARGIN_MIB, plan_memory
from viva.sandbox.host.limits.host_memory import container_mib

UNLIMITED = str((1 << 63) - 4096)


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({}, None),
        ({"proc/meminfo": "MemTotal:        2048000 kB\nMemFree: 5 kB\n"}, 2000),
        ({"sys/fs/cgroup/memory.max": "805306368\n"}, 768),
        ({"sys/fs/cgroup/memory.max": "max\n", "proc/meminfo": "MemTotal: 1024 kB\n"}, 1),
        ({"sys/fs/cgroup/memory.max": "not a number"}, None),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": "805306368\n"}, 768),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": UNLIMITED}, None),
        # a container that does not see its own cgroup as the top
        ({"proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/docker/abc/memory.max": "1073741824"}, 1024),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/b/memory.max": "max",
                "sys/fs/cgroup/a/memory.max": "536870912",
            },
            512,
        ),
        (
            {
                "proc/self/cgroup": "5:cpu,memory:/docker/x\n0::/\n",
                "sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "1610612736",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": UNLIMITED,
            },
            1536,
        ),
        ({"proc/self/cgroup": "0::/../../up\nrubbish\n::\n", "sys/fs/cgroup/memory.max": "1048576"}, 1),
    ],
)
def test_container_limit(tmp_path: Path, files: dict[str, str], limit: int | None) -> None:
    for name, text in files.items():
        write(tmp_path / name, text)
    assert container_mib(tmp_path) == limit


@pytest.mark.parametrize(
    ("limit", "wanted", "rest", "box", "given"),
    [
        (None, 1024, 300, 100, 1024),
        (6144, 1024, 300, 100, 1024),
        (768, 1024, 300, 100, 404),
        (768, 256, 300, 100, 256),
        (464, 1024, 300, 100, 100),
        (463, 1024, 300, 100, 0),
        (768, 4096, 900, 300, 0),
        (300 + MARGIN_MIB + LEAST_MIB, 1024, 300, 0, LEAST_MIB),
    ],
)
def test_plan_memory(limit: int | None, wanted: int, rest: int, box: int, given: int) -> None:
    shared = plan_memory(limit, wanted, rest, box)
    assert shared.memory_mib == given and shared.fits is (given > 0)


@given(*[st.integers(1, 10_000)] * 4)
def test_plan_memory_bounds(limit: int, wanted: int, rest: int, box: int) -> None:
    shared = plan_memory(limit, wanted, rest, box)
    assert shared.memory_mib <= wanted
    if shared.fits:
        assert rest + MARGIN_MIB + shared.memory_mib <= limit
    assert shared.fits == (limit >= shared.needed_mib)
