"""Every target without a fuzzer: what the fuzzer begins with, the same damaged, and any bytes."""

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.target import Target, run
from tests.fuzz.targets import NAMES, load

pytestmark = pytest.mark.long

QUICK = settings(suppress_health_check=list(HealthCheck))


@cache
def target(name: str) -> Target:
    return load(name)


@cache
def seeds(name: str) -> tuple[bytes, ...]:
    return tuple(seed[: target(name).longest] for seed in target(name).seeds())


@pytest.mark.parametrize("name", NAMES)
def test_seeds_keep_promises(name: str) -> None:
    assert len(seeds(name)) > 5
    for seed in seeds(name):
        run(target(name), seed)


def damaged(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    """Pieces of the data exchanged: where, how many bytes, for what."""
    for place, length, piece in changes:
        at = place % (len(data) + 1)
        data = data[:at] + piece + data[at + length :]
    return data


@pytest.mark.parametrize("name", NAMES)
def test_damaged_inputs_keep_every_promise(name: str) -> None:
    words = [word.encode("utf-8", "surrogatepass") if isinstance(word, str) else word for word in target(name).words]
    pieces = st.sampled_from(words) | st.binary(max_size=4)
    changes = st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 12), pieces), min_size=1, max_size=6)

    @QUICK
    @given(st.sampled_from(seeds(name)), changes)
    def each(seed: bytes, changes: list[tuple[int, int, bytes]]) -> None:
        run(target(name), damaged(seed, changes)[: target(name).longest])

    each()


@pytest.mark.parametrize("name", NAMES)
def test_any_bytes_keep_every_promise(name: str) -> None:
    @QUICK
    @given(st.binary(max_size=300))
    def each(data: bytes) -> None:
        run(target(name), data)

    each()
