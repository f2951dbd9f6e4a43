"""A training that was cut ends, when it is continued, as if nothing had happened; what cannot be used is ignored."""

import copy
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.grading import training
from viva.grading.events import Events, collecting
from viva.grading.training import checkpoints, resuming
from viva.grading.training.checkpoints import Checkpoints

KEY = b"a key that only the examiner has"
EPOCHS = 5


class Toy:
    """What is in the box: parameters, and random numbers of its own."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(7)
        self.weight = self.rng.normal(size=4)

    def step(self, order: Any) -> None:
        self.weight = 0.9 * self.weight + self.rng.normal(size=4) * order

    def save(self) -> Any:
        return {"weight": self.weight.copy(), "rng": self.rng.bit_generator.state}

    def load(self, state: Any) -> None:
        self.weight, self.rng.bit_generator.state = state["weight"], state["rng"]


class Run:
    """One run of one test on one submission, whose trainings are kept in a folder."""

    def __init__(self, folder: Path, *, key: bytes = KEY, test: str = "test_a.py::test_it[]", **made_with: str) -> None:
        self.kept = Checkpoints(folder, key, lambda: made_with, test)
        self.told: list[str] = []
        self.events = Events(self.told.append)
        self.events.checkpoints = self.kept

    def train(self, toy: Toy, budget: float = 1e9, *, name: str = "toy", seed: int = 1, **own: Any) -> training.Epochs:
        """Train; each epoch takes ten seconds."""
        order = np.random.default_rng(seed)
        how: dict[str, Any] = {
            "save": toy.save,
            "load": toy.load,
            "rng": order,
            "seed": seed,
            "clock": ticking(10),
        } | own
        with collecting(self.events):
            epochs = training.epochs(EPOCHS, budget_s=budget, name=name, **how)
            for epoch in epochs:
                toy.step(order.random())
                epoch.record(mean=toy.weight.mean(), twice=2 * epoch.number)
        return epochs

    @property
    def files(self) -> list[Path]:
        return sorted(self.kept.folder.glob("*"))


def ticking(seconds: float) -> Callable[[], float]:
    times: Iterator[float] = itertools.count(0, seconds)
    return lambda: next(times)


@pytest.fixture(autouse=True)
def _slow_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ten seconds pass between two looks at the clock."""
    monkeypatch.setattr(resuming, "monotonic", ticking(10))


@pytest.fixture(scope="module")
def whole() -> tuple[Toy, training.Epochs]:
    """A training that no one has interrupted or kept."""
    toy, order = Toy(), np.random.default_rng(1)
    epochs = training.epochs(EPOCHS, budget_s=1e9, name="toy")
    for epoch in epochs:
        toy.step(order.random())
        epoch.record(mean=toy.weight.mean(), twice=2 * epoch.number)
    return toy, epochs


def assert_as_if_uninterrupted(toy: Toy, epochs: training.Epochs, whole: tuple[Toy, training.Epochs]) -> None:
    assert epochs.complete and epochs.reached == EPOCHS
    assert epochs.values("mean") == whole[1].values("mean") and epochs.values("twice") == whole[1].values("twice")
    assert toy.weight.tobytes() == whole[0].weight.tobytes()
    assert toy.rng.bit_generator.state == whole[0].rng.bit_generator.state


@given(cuts=st.lists(st.integers(1, EPOCHS), max_size=3))
def test_cut_anywhere(
    cuts: list[int], whole: tuple[Toy, training.Epochs], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """By its budget, after any epoch, any number of times."""
    folder = tmp_path_factory.mktemp("kept")
    reached = 0
    for cut in cuts:
        epochs = Run(folder).train(Toy(), budget=10 * cut)
        reached = min(reached + cut, EPOCHS)
        assert epochs.reached == reached
        assert epochs.values("mean") == whole[1].values("mean")[:reached]
    toy, run = Toy(), Run(folder)
    epochs = run.train(toy)
    assert_as_if_uninterrupted(toy, epochs, whole)
    assert not run.kept.notes and list(run.kept.trained.values()) == [True]
    assert {curve.name: len(curve.values) for curve in run.events.curves} == {"toy, mean": 5, "toy, twice": 5}


def test_retry_continues(whole: tuple[Toy, training.Epochs], tmp_path: Path) -> None:
    run = Run(tmp_path)
    assert run.train(Toy(), budget=20).reached == 2
    assert run.train(Toy(), budget=10).reached == 1, "another training of the same test begins at the beginning"
    run.kept.begin("another test[]")
    run.kept.begin("test_a.py::test_it[]")
    toy = Toy()
    assert_as_if_uninterrupted(toy, run.train(toy), whole)
    assert any(text.startswith("toy, goes on after epoch 2 of 5") for text in run.told)


def test_enough_is_reached(tmp_path: Path) -> None:
    assert Run(tmp_path).train(Toy(), budget=20).reached == 2
    run, enough = Run(tmp_path), training.Threshold("twice", 4, "at least", (), {}, "")
    epochs = run.train(Toy(), until={"twice": enough})
    assert epochs.complete and epochs.values("twice") == (2, 4)
    assert list(run.kept.trained.values()) == [True]


@pytest.mark.parametrize("cut", range(1, EPOCHS + 1))
def test_cut_by_an_error(cut: int, whole: tuple[Toy, training.Epochs], tmp_path: Path) -> None:
    class Cut(Toy):
        left = cut

        def step(self, order: Any) -> None:
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
            super().step(order)

    with pytest.raises(KeyboardInterrupt):
        Run(tmp_path).train(Cut())
    toy, run = Toy(), Run(tmp_path)
    assert_as_if_uninterrupted(toy, run.train(toy), whole)
    says = f"toy, goes on after epoch {cut - 1} of 5, which an earlier run has reached"
    assert (run.told[0] == says) == (cut > 1)


def test_budget_of_a_continued_run(tmp_path: Path) -> None:
    Run(tmp_path).train(Toy(), budget=20)
    run = Run(tmp_path)
    assert run.train(Toy(), budget=20).reached == 4
    assert run.told[1].endswith("10 s left") and run.told[2].endswith("0 s left")
    assert run.events.notes[0].startswith("Training (toy) was stopped after 4 of 5 epochs, when its 20 s were used")
    assert list(run.kept.trained.values()) == [False]


def test_file_modes(tmp_path: Path) -> None:
    run = Run(tmp_path / "kept")
    run.train(Toy())
    [file] = run.files
    assert run.kept.folder.stat().st_mode & 0o777 == 0o700 and file.stat().st_mode & 0o777 == 0o600
    assert list(run.kept.trained) == [file.name]


def test_no_folder(whole: tuple[Toy, training.Epochs]) -> None:
    run, toy = Run(Path("/nowhere")), Toy()
    run.events.checkpoints = None
    assert_as_if_uninterrupted(toy, run.train(toy, save=lambda: 1 / 0, load=lambda _: 1 / 0), whole)


def test_trainings_of_one_name(tmp_path: Path) -> None:
    first = Run(tmp_path)
    reached = [first.train(Toy(), budget=budget).reached for budget in (10, 20, 30)]
    again = Run(tmp_path)
    assert [again.train(Toy(), budget=10).reached for _ in reached] == [2, 3, 4]


@pytest.mark.parametrize(
    ("other", "training_of"),
    [
        ({"test": "test_a.py::test_it[1]"}, {}),
        ({"submission": "f00"}, {}),
        ({"content": "changed"}, {}),
        ({"seed": "another secret's"}, {}),
        ({"key": b"another secret's"}, {}),
        ({}, {"name": "other"}),
        ({}, {"seed": 2}),
    ],
    ids=str,
)
def test_other_training(other: dict[str, Any], training_of: dict[str, Any], tmp_path: Path) -> None:
    Run(tmp_path).train(Toy(), budget=10)
    run = Run(tmp_path, **other)
    assert run.train(Toy(), budget=10, **training_of).reached == 1


def damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "one bit":
        data[len(data) // 2] ^= 1
    path.write_bytes(b"" if how == "empty" else data[: len(data) // 2] if how == "half" else data)
    if how == "too large":
        with path.open("r+b") as file:
            file.truncate(checkpoints.MOST_BYTES + 33)


@pytest.mark.parametrize("how", ["half", "one bit", "empty", "too large", "of another submission", "a folder"])
def test_damaged_checkpoint(how: str, whole: tuple[Toy, training.Epochs], tmp_path: Path) -> None:
    run = Run(tmp_path / "mine")
    run.train(Toy(), budget=20)
    [file] = run.files
    if how == "of another submission":
        other = Run(tmp_path / "other", submission="f00")
        other.train(Toy(), budget=20)
        other.files[0].replace(file)
    elif how == "a folder":
        file.unlink()
        file.mkdir()
    else:
        damage(file, how)
    toy, run = Toy(), Run(tmp_path / "mine")
    assert_as_if_uninterrupted(toy, run.train(toy), whole)
    assert run.kept.notes[0].startswith("test_a.py::test_it[]: toy: its checkpoint was not used: ")
    assert run.told[0].startswith("toy, epoch 1 of 5")


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (np.zeros(checkpoints.MOST_BYTES, np.uint8), "64.0 MiB; the state of a training may take at most 64 MiB"),
        (np.zeros(1 << 30, np.uint8), "MiB"),
        (nested(100), "levels"),
        (object(), "a value of type object cannot be sent"),
        (np.array([object()]), "cannot be sent"),
    ],
    ids=["64 MiB", "1 GiB", "nested", "object", "array of objects"],
)
def test_state_that_cannot_be_saved(state: Any, says: str, whole: tuple[Toy, training.Epochs], tmp_path: Path) -> None:
    toy, run = Toy(), Run(tmp_path)
    assert_as_if_uninterrupted(toy, run.train(toy, save=lambda: state), whole)
    [note] = run.kept.notes
    assert "a later run cannot go on after epoch 1" in note and says in note and run.files == []


def test_limit_of_all_trainings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(tmp_path)
    run.train(Toy())
    monkeypatch.setattr(checkpoints, "MOST_BYTES_TOGETHER", run.files[0].stat().st_size)
    run.train(Toy(), name="second")
    assert "all trainings of a submission together" in run.kept.notes[0] and len(run.files) == 1


def test_failing_save(whole: tuple[Toy, training.Epochs], tmp_path: Path) -> None:
    def save() -> Any:
        saves.append(1)
        return toy.save() if len(saves) < 3 else 1 / 0

    toy, saves, run = Toy(), list[int](), Run(tmp_path)
    assert_as_if_uninterrupted(toy, run.train(toy, save=save), whole)
    assert run.kept.notes == ["test_a.py::test_it[]: toy: a later run cannot go on after epoch 3: division by zero."]
    assert list(run.kept.trained.values()) == [True]
    toy, again = Toy(), Run(tmp_path)
    again.train(toy)
    assert "goes on after epoch 2 of 5" in again.told[0]


def test_unwritable_disk(whole: tuple[Toy, training.Epochs], tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file where the folder should be", "utf-8")
    toy, run = Toy(), Run(tmp_path / "kept")
    assert_as_if_uninterrupted(toy, run.train(toy), whole)
    assert [note.rpartition(": ")[2] for note in run.kept.notes] == [
        "Not a directory; the training began again.",
        "File exists.",
    ]


@pytest.mark.parametrize("fails", ["says no", "raises", "changes half and raises", "cannot save what is there"])
def test_failing_load(fails: str, whole: tuple[Toy, training.Epochs], tmp_path: Path) -> None:
    Run(tmp_path).train(Toy(), budget=20)
    toy, run, loads, saves = Toy(), Run(tmp_path), list[Any](), list[Any]()

    def load(state: Any) -> Any:
        loads.append(state)
        if len(loads) > 1:
            return toy.load(copy.deepcopy(state))
        if fails == "says no":
            return False
        if fails == "changes half and raises":
            toy.weight += 1
        raise ValueError("nonsense")

    def save() -> Any:
        saves.append(1)
        return 1 / 0 if fails.startswith("cannot save") and len(saves) == 1 else toy.save()

    assert_as_if_uninterrupted(toy, run.train(toy, load=load, save=save), whole)
    assert "the training began again" in run.kept.notes[0] and len(run.kept.notes) == 1


def test_failing_load_is_not_repeated(tmp_path: Path) -> None:
    Run(tmp_path).train(Toy(), budget=20)
    with pytest.raises(ZeroDivisionError):  # also the state from before cannot be put back
        Run(tmp_path).train(Toy(), load=lambda _: 1 / 0)
    run = Run(tmp_path)
    assert run.train(Toy()).complete and run.told[0].startswith("toy, epoch 1") and not run.kept.notes


def test_save_without_load() -> None:
    with pytest.raises(ValueError, match="expected both or neither"):
        training.epochs(3, budget_s=1, save=dict)
