"""The life of boxes in one submission, with boxes that do what a test wants."""

from collections.abc import Callable
from typing import Any

import pytest

from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import LoadReport
from viva.examiner.boxes.on_gpu import OnGpu
from viva.model import Limits
from viva.model.errors import (
    BoxDied,
    BoxTimeout,
    GraderError,
    LoadFailed,
    MissingName,
    ProtocolViolation,
    StudentRaised,
    TimeSpent,
)
from viva.model.gpu import GpuNeed, GpuUse
from viva.sandbox.guest.transport.message_types import CallObject, Get

Answer = Callable[[str, dict[str, Any]], Any]


class FakeBox:
    """Answers with what it is given; dies of an exception."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.alive, self.closed, self.ready_message, self.peak_memory_mib = True, False, None, 1.0
        self.counted_s, self.slept = 0.0, False

    def ask(self, op: str, **fields: Any) -> Any:
        self.asked.append((op, fields))
        try:
            return self._answer(op, fields)
        except Exception:
            self.alive = False
            raise

    def printed(self) -> bytes:
        return b""

    def kill(self) -> None:
        self.alive = False

    def close(self) -> None:
        self.alive, self.closed = False, True


class Source:
    """Hands out boxes and remembers them."""

    def __init__(self, answer: Answer) -> None:
        self._answer, self.boxes = answer, list[FakeBox]()

    def take(self) -> Any:
        self.boxes.append(FakeBox(self._answer))
        return self.boxes[-1]


class Load:
    """A loader whose first attempts end as told."""

    def __init__(self, *ends: Exception) -> None:
        self._ends = list(ends)
        self.begun = LoadReport()
        self.read_s = 0.0
        self.questions: object = None
        self._has_failed = False

    def can_load_again(self, error: Exception, spent_s: float, left_s: float) -> bool:
        is_first, self._has_failed = not self._has_failed, True
        return is_first

    def load(self, ask: Callable[..., Any], left_s: Callable[[], float]) -> LoadReport:
        if self._ends:
            raise self._ends.pop(0)
        return LoadReport(loaded=["solution.py"])

    def list_others(self, report: LoadReport) -> list[str]:
        return ["a.py", "b.py", "c.py"]

    def load_file(self, ask: Callable[..., Any], left_s: Callable[[], float], report: LoadReport, path: str) -> None:
        report.loaded.append(path)


def session(answer: Answer, *ends: Exception) -> tuple[BoxSession, Source]:
    source = Source(answer)
    return BoxSession(source, Load(*ends), Limits()), source  # type: ignore[arg-type]  # fakes


def begin(box_session: BoxSession, hidden: bool = False, gpu: GpuNeed | None = None) -> None:
    """A test begins."""
    box_session.begin_test(seed=1, test_s=9, call_s=None, hidden=hidden, gpu=gpu)


GET, CALL = Get("student", "x"), CallObject([], {}, name="f")


def fine(op: str, fields: dict[str, Any]) -> Any:
    return {"ok": op}


def test_load_that_ends_its_box() -> None:
    box_session, source = session(fine, BoxDied("exit status 1"))
    assert box_session.ask(GET) == "get"
    assert [box.closed for box in source.boxes] == [True, False]
    assert box_session.report is not None and box_session.report.loaded == ["solution.py"]


def test_load_that_fails_twice() -> None:
    box_session, source = session(fine, BoxTimeout("slow"), BoxDied("exit status 1"), BoxDied("never reached"))
    for _ in range(3):
        with pytest.raises(LoadFailed, match="exit status 1"):
            box_session.ask(GET)
    assert len(source.boxes) == 2 and all(box.closed for box in source.boxes)


def test_only_box_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no box could be made, tests were timeouts, because the wait had used up the submission's time."""
    now = [100.0]
    monkeypatch.setattr("viva.examiner.boxes.box_session.time.monotonic", lambda: now[0])
    box_session, source = session(fine)
    take = source.take

    def take_late() -> Any:
        now[0] += 1000.0
        return take()

    monkeypatch.setattr(source, "take", take_late)
    begin(box_session)
    assert box_session.ask(GET) == "get"
    assert box_session.counted_s == 0.0 and box_session.submission_left_s == Limits().submission_s
    source.boxes[0].counted_s = 200.0
    box_session.close()
    begin(box_session)
    assert box_session.ask(GET) == "get"
    source.boxes[1].counted_s = 100.0
    begin(box_session)
    assert box_session.counted_s == 300.0
    with pytest.raises(TimeSpent, match="had used up its 300 s"):
        box_session.ask(GET)


def test_second_try_costs_no_time() -> None:
    def answer(op: str, fields: dict[str, Any]) -> Any:
        if op == "call":
            raise BoxTimeout("no answer")
        return {"ok": 1}

    box_session, source = session(answer)
    for excused in (True, False):
        begin(box_session)
        with pytest.raises(BoxTimeout):
            box_session.ask(CALL, subject="f")
        source.boxes[-1].counted_s = 5.0
        before = box_session.counted_s
        with box_session.second_try() as excuse:
            begin(box_session)
            if excused:
                excuse()
            box_session.ask(GET)
            source.boxes[-1].counted_s = 100.0
            assert box_session.counted_s == before + 100.0
        assert box_session.counted_s == before
    assert box_session._hangs["f"] == 1


@pytest.mark.parametrize("opened", [False, True], ids=["asked", "opened for its files"])
def test_load_time_is_not_test_time(opened: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of answers open the box without a question: a slow load cost them their answer at the first try."""
    box_session, source = session(fine)

    def load(ask: Callable[..., Any], left_s: Callable[[], float]) -> LoadReport:
        source.boxes[-1].counted_s += 20.0
        return LoadReport()

    monkeypatch.setattr(box_session._loader, "load", load)
    begin(box_session)
    if opened:
        box_session.open()
    assert box_session.ask(GET) == "get" and box_session.counted_s == 20.0
    assert box_session._test_left_s(9.0) == pytest.approx(9.0, abs=0.5)
    box_session.test.began_at -= 100.0  # another program used the machine meanwhile
    assert box_session._test_left_s(9.0) == 9.0


def test_box_without_helpers_is_not_asked() -> None:
    box_session, source = session(fine, GraderError("inside.py"))
    with pytest.raises(GraderError):
        box_session.ask(GET)
    assert source.boxes[0].closed
    assert box_session.ask(GET) == "get"


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        ({"raised": {"type": "E", "message": "m"}}, StudentRaised, "E: m"),
        ({"raised": {"type": 10**5000, "frames": 5, "message": ["x"]}}, StudentRaised, r"\(int\): \(list\)"),
        ({"raised": {"frames": [["f", 10**5000, None, 1]] * 50, "limit": 10**5000}}, StudentRaised, "Exception"),
        ({"missing": "f", "close": ["g"]}, MissingName, "`f` is not defined .* `g`"),
        ({"missing": 10**5000, "close": 10**5000}, MissingName, r"`\(int\)`"),
        ({"raised": []}, ProtocolViolation, "not a message"),
        ({"stop": 1}, ProtocolViolation, "not a message"),
        ([1], ProtocolViolation, "not a message"),
        ("ok", ProtocolViolation, "not a message"),
    ],
)
def test_no_reply_fails_examiner(reply: Any, error: type[Exception], said: str) -> None:
    box_session, _ = session(lambda op, fields: reply)
    with pytest.raises(error, match=said):
        box_session.ask(CALL, subject="f")


def test_subject_is_dropped_after_three_hangs() -> None:
    def hang(op: str, fields: dict[str, Any]) -> Any:
        raise BoxTimeout("no answer")

    box_session, source = session(hang)
    for _ in range(5):
        with pytest.raises(BoxTimeout):
            box_session.ask(CALL, subject="f")
    assert len(source.boxes) == 3
    with pytest.raises(BoxTimeout):
        box_session.ask(CALL, subject="g")
    assert len(source.boxes) == 4


def test_questions_of_one_test_share_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may take what a question may, until the time of the test is used up; the next test has its own."""
    clock = [100.0]
    monkeypatch.setattr("viva.examiner.boxes.box_session.time.monotonic", lambda: clock[0])

    def answer(op: str, fields: dict[str, Any]) -> Any:
        limits_s.append(fields["timeout_s"])
        clock[0] += 40.0
        source.boxes[-1].counted_s += 4.0
        return {"ok": 1}

    limits_s: list[float] = []
    box_session, source = session(answer)
    box_session.begin_test(seed=1, test_s=9.0, call_s=5.0, hidden=False)
    for _ in range(3):
        box_session.ask(CALL)
    with pytest.raises(BoxTimeout):
        box_session.ask(CALL)
    first, second, third = limits_s
    assert first == second and third == first - 4.0
    box_session.begin_test(seed=1, test_s=9.0, call_s=5.0, hidden=False)
    box_session.ask(CALL)
    assert limits_s[-1] == first


def test_visible_test_gets_clean_box() -> None:
    dying = [False]

    def answer(op: str, fields: dict[str, Any]) -> Any:
        if dying[0]:
            dying[0] = False
            raise BoxDied("exit status 1")
        return {"ok": 1}

    def ask(hidden: bool) -> None:
        begin(box_session, hidden)
        box_session.ask(CALL)

    box_session, source = session(answer)
    ask(hidden=False)
    ask(hidden=False)
    assert len(source.boxes) == 1
    ask(hidden=True)
    assert len(source.boxes) == 1
    ask(hidden=False)
    assert len(source.boxes) == 2
    dying[0] = True
    with pytest.raises(BoxDied):
        ask(hidden=False)
    ask(hidden=True)  # opens the third box by itself
    assert len(source.boxes) == 3
    ask(hidden=False)
    assert len(source.boxes) == 4


def test_seed_and_release_travel_once() -> None:
    box_session, source = session(fine)
    box_session.begin_test(seed=7, test_s=9, call_s=None, hidden=False)
    box_session.ask(CALL)
    box_session.release(box_session.generation, 4)
    box_session.release(box_session.generation - 1, 5)
    box_session.ask(CALL)
    box_session.ask(CALL)
    fields = [fields for _, fields in source.boxes[0].asked]
    assert [f.get("seed") for f in fields] == [7, None, None]
    assert [f["release"] for f in fields] == [[], [4], []]


def test_object_of_lost_box() -> None:
    box_session, source = session(fine)
    box_session.ask(CALL)
    with pytest.raises(BoxDied, match="had ended"):
        box_session.ask(GET, generation=0)
    source.boxes[0].alive = False
    with pytest.raises(BoxDied, match="had ended"):
        box_session.ask(GET, generation=1)


def test_other_files_run_in_submission_time() -> None:
    """Forty files that hang kept one test running until the examiner was ended, and then no point was lost."""
    box_session, source = session(fine)
    begin(box_session)
    assert box_session.load_more()
    source.boxes[0].counted_s = Limits().submission_s
    assert not box_session.load_more() and not box_session.load_more()
    assert box_session.report is not None and box_session.report.loaded == ["solution.py", "a.py"]
    assert [(problem.where, problem.text) for problem in box_session.report.problems] == [
        ("b.py and 1 more", "not run: the time of the submission was used up")
    ]


def gpu(name: str, peak_mib: int | None) -> GpuUse:
    return GpuUse(name, "550", 23034, peak_mib)


class Gpus:
    """Hands out boxes with GPUs, and says what each was used for."""

    def __init__(self, *uses: GpuUse) -> None:
        self.source, self._uses, self.needed = Source(fine), list(uses), list[int]()

    def take(
        self, needed_mib: int, on_wait: Callable[[str], None], *, deterministic: bool
    ) -> tuple[Any, Callable[[], GpuUse]]:
        self.needed.append(needed_mib if deterministic else -1)
        box, use = self.source.take(), self._uses.pop(0)
        return box, lambda: use

    def check_last(self, on_wait: Callable[[str], None]) -> None:
        self.needed.append(-2)


def test_box_for_each_kind_of_test() -> None:
    """One box serves tests in a row that need the same, or less."""
    plain, gpus = Source(fine), Gpus(gpu("L4", 5), gpu("L4", None), gpu("L4", 3))
    on_gpu = OnGpu(gpus)
    box_session = BoxSession(plain, Load(), Limits(), on_gpu)  # type: ignore[arg-type]  # fakes
    for needed in (None, 0, 0, 100, 50, None, None, 100):
        begin(box_session, gpu=None if needed is None else GpuNeed(needed))
        assert box_session.ask(GET) == "get"
    box_session.close()
    assert (len(plain.boxes), gpus.needed) == (2, [0, 100, 100])
    assert all(box.closed for box in [*plain.boxes, *gpus.source.boxes])
    assert on_gpu.use == gpu("L4", 5)


def test_nondeterministic_gpu_test_gets_own_box() -> None:
    gpus = Gpus(*[gpu("L4", 5)] * 3)
    box_session = BoxSession(Source(fine), Load(), Limits(), OnGpu(gpus))  # type: ignore[arg-type]  # fakes
    for need in (GpuNeed(), GpuNeed(0, "cumsum"), GpuNeed(0, "cumsum"), GpuNeed(), None):
        begin(box_session, gpu=need)
        box_session.ask(GET)
        if need is None:
            box_session.check_gpu_again()
    assert gpus.needed == [0, -1, 0], "a test without a GPU has nothing to check"
    begin(box_session, gpu=GpuNeed())
    box_session.check_gpu_again()
    assert gpus.needed == [0, -1, 0, -2]
    box_session.close()


def test_later_gpu_is_named() -> None:
    gpus = Gpus(gpu("L4", 5), gpu("T4", 3))
    on_gpu = OnGpu(gpus)
    box_session = BoxSession(Source(fine), Load(), Limits(), on_gpu)  # type: ignore[arg-type]  # fakes
    for needed in (0, 100):
        begin(box_session, gpu=None if needed is None else GpuNeed(needed))
        box_session.ask(GET)
    box_session.close()
    assert on_gpu.use == gpu("T4", 3)
