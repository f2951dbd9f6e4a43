"""The harness itself: what breaks a promise comes out, is kept once, and becomes shorter."""

import itertools
from collections.abc import Callable

import pytest

from tests.fuzz import target as harness
from tests.fuzz.findings import shortened
from tests.fuzz.target import Broken, Target, TooSlow, run


def raising(data: bytes) -> None:
    if b"!" in data:
        raise KeyError("of the engine")


def hanging(data: bytes) -> None:
    try:
        for _ in itertools.count():
            pass
    except Exception:  # as an engine might that means well
        return


def breaking(data: bytes) -> None:
    raise Broken("a promise")


def of(check: Callable[[bytes], None]) -> Target:
    return Target(check, lambda: iter([b""]))


@pytest.mark.parametrize(("check", "error"), [(raising, KeyError), (hanging, TooSlow), (breaking, Broken)])
def test_broken_promise_comes_out(
    check: Callable[[bytes], None], error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "CPU_S", 0.2)
    with pytest.raises(error):
        run(of(check), b"!")


def test_input_is_shortened() -> None:
    data, error = shortened(of(raising), b"a long text! with more behind it")
    assert data == b"!" and isinstance(error, KeyError)
    assert shortened(of(raising), b"nothing") == (b"nothing", None)
