"""The collected tests: one `TestFunction` per function, in the order in which they run and are reported."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest

from viva.model.errors import CourseError
from viva.model.gpu import GpuNeed
from viva.model.score import VISIBILITIES, in_order


@dataclass(slots=True)
class TestFunction:
    """One test function of a grader, with what its decorators and docstring say."""

    __test__ = False  # pytest would collect the name

    test_id: str
    name: str
    number: str
    points: Fraction
    """The points that can be earned; zero for a deduction."""
    visibility: str
    tags: tuple[str, ...]
    hide_errors: str | None
    depends: tuple[str, ...]
    gpu: GpuNeed | None
    """What it needs of a GPU; None if it needs none."""
    training: bool
    timeout_s: float | None
    leaderboard: tuple[str, str] | None
    advice: str = ""
    """The author's advice for students who lose points; shown for hidden tests as well."""
    deduction: Fraction = Fraction(0)
    """The points that a failed deduction takes."""
    items: list[pytest.Function] = field(default_factory=list)

    @property
    def hidden(self) -> bool:
        """Return whether the student must not learn what was asked."""
        return self.visibility != "visible"

    @property
    def needs(self) -> tuple[str, ...]:
        """Return what not every run offers: "training", "gpu"."""
        return (*(["training"] if self.training else []), *(["gpu"] if self.gpu is not None else []))

    @property
    def points_per_case(self) -> Fraction:
        """Return the points of each case: the function's points divided by the number of cases, exactly."""
        return self.points / max(1, len(self.items))

    @property
    def deduction_per_case(self) -> Fraction:
        """Return the points that each failed case of a deduction takes."""
        return self.deduction / max(1, len(self.items))


def catalog(items: Iterable[pytest.Item], *, whole: bool = True) -> list[TestFunction]:
    """Group collected items by function, check their declarations, and put them in order.

    Visible tests come first. Both parts follow the order of the question numbers, and the order of collection if these
    are equal. A test comes after those that it depends on.

    Args:
        items: what pytest has collected.
        whole: whether these are all tests of the assignment; otherwise prerequisites that are not there are left out.

    Raises:
        CourseError: a prerequisite does not exist, or prerequisites form a cycle.
    """
    functions: dict[str, TestFunction] = {}
    for item in items:
        if not isinstance(item, pytest.Function):
            raise CourseError(f"{item.nodeid}: graders are plain pytest functions; this is a {type(item).__name__}.")
        test_id = _test_id(item)
        if test_id not in functions:
            functions[test_id] = _describe(test_id, item)
        functions[test_id].items.append(item)
    if not whole:
        names = {name for test_id in functions for name in (test_id, test_id.rpartition("::")[2])}
        for function in functions.values():
            function.depends = tuple(name for name in function.depends if name in names)
    return _ordered(list(functions.values()))


def case_label(item: pytest.Function) -> str:
    """Return the parametrization of one case; empty for a plain function."""
    callspec = getattr(item, "callspec", None)
    return str(callspec.id) if callspec is not None else ""


def resolve(name: str, of: TestFunction, functions: Sequence[TestFunction]) -> TestFunction:
    """Return the prerequisite called `name` (`test_x` in the same file, or `file.py::test_x`).

    Raises:
        CourseError: there is no such test.
    """
    home = of.test_id.split("::", 1)[0]
    for candidate in (f"{home}::{name}", name):
        for function in functions:
            if function.test_id == candidate:
                return function
    for function in functions:
        if function.test_id.endswith(f"::{name}"):
            return function
    raise CourseError(f"{of.test_id} depends on `{name}`, which no test of the assignment is called.")


def with_prerequisites(
    chosen: Iterable[TestFunction],
    functions: Sequence[TestFunction],
    *,
    unless: Callable[[TestFunction], bool] = lambda _: False,
) -> list[TestFunction]:
    """Return the chosen tests and all that must pass before them, except where `unless` is true, in their order."""
    needed = list(chosen)
    for function in needed:  # grows while it is walked: prerequisites of prerequisites
        found = (resolve(name, function, functions) for name in function.depends)
        needed += [before for before in found if before not in needed and not unless(before)]
    return [function for function in functions if function in needed]


def _test_id(item: pytest.Function) -> str:
    names = [n.name for n in item.listchain() if isinstance(n, pytest.Class)]
    return "::".join([item.path.name, *names, item.originalname])


def _describe(test_id: str, item: pytest.Function) -> TestFunction:
    function, doc = item.obj, inspect.getdoc(item.obj)

    def attribute(name: str, default: object = None) -> Any:
        return getattr(function, name, default)

    visibility = attribute("__visibility__", "visible")
    if visibility not in VISIBILITIES:
        raise CourseError(f"{test_id}: visibility is {visibility!r}; allowed: {', '.join(VISIBILITIES)}.")
    partial = attribute("__viva_partial__")
    worth = exact(attribute("__weight__", partial if partial is not None else 0), test_id)
    timeout = item.get_closest_marker("timeout")
    return TestFunction(
        test_id=test_id,
        name=_first_sentence(doc) or item.originalname,
        number=str(attribute("__number__", "")),
        points=max(worth, Fraction(0)),
        deduction=max(-worth, Fraction(0)),
        visibility=visibility,
        tags=tuple(str(t) for t in attribute("__tags__", ())),
        hide_errors=attribute("__hide_errors__"),
        depends=tuple(str(n) for m in item.iter_markers("depends") for n in m.args),
        gpu=_gpu_need(item.get_closest_marker("gpu"), test_id),
        training=item.get_closest_marker("training") is not None,
        timeout_s=float(timeout.args[0]) if timeout and timeout.args else None,
        leaderboard=_leaderboard(attribute("__leaderboard_column__"), attribute("__leaderboard_sort_order__", "desc")),
        advice=_advice(doc),
    )


def _gpu_need(marker: pytest.Mark | None, where: str) -> GpuNeed | None:
    """Read `@pytest.mark.gpu`, with `memory_mib=16_000` and `nondeterministic="why"` if they are given."""
    if marker is None:
        return None
    needed, reason = marker.kwargs.get("memory_mib", 0), marker.kwargs.get("nondeterministic", "")
    known = not marker.args and marker.kwargs.keys() <= {"memory_mib", "nondeterministic"}
    says_why = "nondeterministic" not in marker.kwargs or (type(reason) is str and bool(reason.strip()))
    if not known or not says_why or type(needed) is not int or needed < 0:
        given = ", ".join([*map(repr, marker.args), *(f"{name}={value!r}" for name, value in marker.kwargs.items())])
        raise CourseError(
            f"{where}: the marker is gpu({given}); expected gpu, or gpu(memory_mib=16_000): whole MiB, or "
            'gpu(nondeterministic="reason"): a sentence.'
        )
    return GpuNeed(needed, reason)


def exact(points: Any, where: str) -> Fraction:
    """Return points as an exact fraction; decimal floats mean their decimal notation (0.1 is one tenth).

    Raises:
        CourseError: it is not a finite number of points.
    """
    try:
        value = Fraction(str(points)) if isinstance(points, float) else Fraction(points)
    except (TypeError, ValueError, OverflowError):
        raise CourseError(f"{where}: weight is {points!r}; expected a number of points.") from None
    return value


def _leaderboard(column: object, order: object) -> tuple[str, str] | None:
    return None if column is None else (str(column), str(order))


def _first_sentence(doc: str | None) -> str:
    return " ".join((doc or "").strip().split("\n\n", 1)[0].split())


def _advice(doc: str | None) -> str:
    """Return the paragraph of a docstring that begins with "Try "."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in (doc or "").split("\n\n"))
    return next((text for text in paragraphs if text.startswith("Try ")), "")


def _ordered(functions: list[TestFunction]) -> list[TestFunction]:
    ordered: list[TestFunction] = []
    under_way: list[TestFunction] = []

    def visit(function: TestFunction) -> None:
        if function in ordered:
            return
        if function in under_way:
            circle = " → ".join(f.test_id for f in [*under_way, function])
            raise CourseError(f"The tests depend on each other in a circle: {circle}.")
        under_way.append(function)
        for name in function.depends:
            visit(resolve(name, function, functions))
        under_way.pop()
        ordered.append(function)

    for function in sorted(functions, key=lambda f: (f.hidden, in_order(f.number))):
        visit(function)
    return ordered
