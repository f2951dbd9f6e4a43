"""The harness itself: what breaks a promise comes out, is kept once, and becomes shorter."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz import target as harness
from tests.fuzz.findings import Findings, shortened
from tests.fuzz.target import Broken, Target, TooLarge, TooSlow, run


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


def test_too_much_memory_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    highest = iter([1 << 20, 2 << 20])  # KiB; the peak of this process may already be high

    class Usage:
        ru_maxrss = property(lambda self: next(highest))

    monkeypatch.setattr("resource.getrusage", lambda who: Usage())
    with pytest.raises(TooLarge, match="1024 MiB"):
        run(of(lambda data: None), b"")


def test_shortest_input_is_kept(tmp_path: Path) -> None:
    findings = Findings(tmp_path / "found")
    for data in (b"long!!!", b"!", b"no!"):
        for check in (raising, breaking):
            try:
                check(data)
            except BaseException as error:
                findings.keep(data, error)
    kept = sorted(path for path in (tmp_path / "found").iterdir() if path.suffix != ".txt")
    assert [path.read_bytes() for path in kept] == [b"!", b"!"]
    assert "KeyError: 'of the engine'" in kept[1].with_suffix(".txt").read_text("utf-8")


def test_input_is_shortened() -> None:
    data, error = shortened(of(raising), b"a long text! with more behind it")
    assert data == b"!" and isinstance(error, KeyError)
    assert shortened(of(raising), b"nothing") == (b"nothing", None)
