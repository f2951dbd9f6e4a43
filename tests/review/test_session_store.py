"""What one run leaves for the next: believed only as it was written, kept where no one else can look."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.plugins.review.web import session_store
from viva.plugins.review.web.session_store import LIFETIME_S, AlreadyRunning, SessionStore


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


def run(environ: dict[str, str], about: str = "essays", port: int = 8123, **changed: Any) -> tuple[bytes, int]:
    """Return the key and the port that a run begins with; it stores another port."""
    with SessionStore(about, environ, **{"new_key": False, **changed}) as last:
        assert last.problem == ""
        began = last.key, last.port
        last.save(port, f"http://127.0.0.1:{port}/")
    return began


def file_of(environ: dict[str, str]) -> Path:
    (found,) = Path(environ["XDG_STATE_HOME"], "viva", "review").glob("*.json")
    return found


def test_next_run(environ: dict[str, str]) -> None:
    key, port = run(environ)
    assert port == 0 and len(key) == 32
    assert run(environ, port=9000) == (key, 8123)
    assert run(environ) == (key, 9000)


def test_other_queue(environ: dict[str, str]) -> None:
    key, _ = run(environ)
    assert run(environ, "poems") != (key, 8123) and run(environ) == (key, 8123)


def test_new_key(environ: dict[str, str]) -> None:
    key, _ = run(environ)
    other, port = run(environ, new_key=True)
    assert other != key and port == 8123
    assert run(environ)[0] == other


def test_key_lifetime(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_700_000_000.0
    monkeypatch.setattr("viva.plugins.review.web.session_store.time.time", lambda: now)
    key, _ = run(environ)
    now += LIFETIME_S - 1
    assert run(environ)[0] == key  # which does not make it younger
    now += 1
    other, port = run(environ)
    assert other != key and port == 8123
    now -= 10  # a clock that was set back
    assert run(environ)[0] != other


def test_file_modes(environ: dict[str, str]) -> None:
    before = os.umask(0)
    try:
        run(environ)
    finally:
        os.umask(before)
    file = file_of(environ)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()} == {0o600}
    assert sorted(path.suffix for path in file.parent.iterdir()) == [".json", ".lock"]  # nothing half written


def test_open_folder_is_closed(environ: dict[str, str]) -> None:
    run(environ)
    folder = file_of(environ).parent
    folder.chmod(0o755)
    run(environ)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def linked(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


def a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir(0o700)
    file.joinpath("x").touch()


@pytest.mark.parametrize("spoil", [linked, a_pipe, lambda file: file.chmod(0o640), lambda file: file.chmod(0o604)])
def test_untrusted_file(environ: dict[str, str], spoil: Callable[[Path], None]) -> None:
    key, _ = run(environ)
    spoil(file_of(environ))
    other, port = run(environ)
    assert other != key and port == 0
    file = file_of(environ)
    assert file.is_file() and not file.is_symlink() and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run(environ) == (other, 8123)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_file_of_another_user(environ: dict[str, str]) -> None:
    key, _ = run(environ)
    os.chown(file_of(environ), 12345, 12345)
    assert run(environ)[0] != key


def test_folder_of_another_user(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    run(environ)
    before = file_of(environ).read_bytes()
    us = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: us + 1)
    with SessionStore("essays", environ, new_key=False) as last:
        last.save(9000, "")
        assert "the folder is another user's" in last.problem
        assert last.key.hex() not in before.decode() and last.port == 0
    assert file_of(environ).read_bytes() == before


def nowhere(root: Path) -> None:
    root.touch()


def led_away(root: Path) -> None:
    (root / "viva").mkdir(parents=True)
    (root / "away").mkdir()
    (root / "viva" / "review").symlink_to(root / "away")


@pytest.mark.parametrize("spoil", [nowhere, led_away])
def test_unusable_folder(environ: dict[str, str], spoil: Callable[[Path], None]) -> None:
    spoil(Path(environ["XDG_STATE_HOME"]))
    keys = set()
    for _ in range(2):
        with SessionStore("essays", environ, new_key=False) as last:
            last.save(8123, "")
            keys.add(last.key)
            assert "pages that are open now end with this run" in last.problem
            assert len(last.problem.splitlines()) == 1
    assert len(keys) == 2


def test_file_not_writable(environ: dict[str, str]) -> None:
    run(environ)
    a_folder(file_of(environ))
    with SessionStore("essays", environ, new_key=False) as last:
        assert last.problem == ""
        last.save(8123, "")
        assert "nothing can be kept in" in last.problem


def test_already_running(environ: dict[str, str]) -> None:
    with SessionStore("essays", environ, new_key=False) as first:
        first.save(8123, "http://127.0.0.1:8123/?token=t")
        with pytest.raises(AlreadyRunning) as refused:
            SessionStore("essays", environ, new_key=False)
        assert "runs already at http://127.0.0.1:8123/?token=t: " in str(refused.value)
        with (
            SessionStore("poems", environ, new_key=False) as other,
            SessionStore("essays", environ, new_key=False, exclusive=False) as beside,
        ):
            assert other.problem == beside.problem == "" and beside.port == 0
            beside.save(9000, "")
            assert len({first.key, other.key, beside.key}) == 3
    assert run(environ) == (first.key, 8123)


def test_relative_state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for environ in ({"XDG_STATE_HOME": "here"}, {"XDG_STATE_HOME": ""}, {}):
        run(environ)
    assert len(list((tmp_path / ".local" / "state" / "viva" / "review").glob("*.json"))) == 1


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["key", "port", "made", "address"]), inner),
    ).map(lambda told: json.dumps(told).encode())
)
def test_any_file(data: bytes) -> None:
    last = session_store._parse_last_run(data)
    assert last is None or (len(last.key) == 32 and 0 < last.port < 65536)
