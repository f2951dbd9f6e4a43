"""What tests declare becomes a catalog: order, exact weights, prerequisites."""

from fractions import Fraction

import pytest

import viva.grading  # noqa: F401  # numpy comes with it, and survives no second import within pytester's runs
from viva.examiner.catalog import catalog, exact, resolve
from viva.model.errors import CourseError
from viva.model.gpu import GpuNeed

pytest_plugins = ["pytester"]

TESTS = '''
import pytest
from viva.grading import number, tags, visibility, weight

@visibility("hidden")
@weight(3)
def test_hidden(student):
    """A hidden one."""

@number("1.1")
@weight(1)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_shared(n):
    """The first sentence
    over two lines.

    Not shown.
    """

@pytest.mark.depends("test_hidden")
@tags("a", "b")
def test_last():
    pass
'''


def collected(pytester: pytest.Pytester, source: str = TESTS) -> list[pytest.Item]:
    module = pytester.makepyfile(test_it=source)
    items, _ = pytester.inline_genitems(module, "-p", "no:cacheprovider")
    return items


def test_order_of_tests(pytester: pytest.Pytester) -> None:
    functions = catalog(collected(pytester))
    assert [f.test_id for f in functions] == [
        "test_it.py::test_shared",
        "test_it.py::test_hidden",
        "test_it.py::test_last",
    ]


def test_cases_share_weight(pytester: pytest.Pytester) -> None:
    shared = catalog(collected(pytester))[0]
    assert shared.points == 1 and shared.points_per_case == Fraction(1, 3) and len(shared.items) == 3
    assert (shared.number, shared.name) == ("1.1", "The first sentence over two lines.")


def test_circle_of_prerequisites(pytester: pytest.Pytester) -> None:
    source = """
    import pytest
    @pytest.mark.depends("test_b")
    def test_a(): pass
    @pytest.mark.depends("test_a")
    def test_b(): pass
    """
    with pytest.raises(CourseError, match=r"circle: test_it.py::test_a → test_it.py::test_b → test_it.py::test_a"):
        catalog(collected(pytester, source))


def test_missing_prerequisite(pytester: pytest.Pytester) -> None:
    functions = catalog(collected(pytester))
    with pytest.raises(CourseError, match="depends on `test_nowhere`"):
        resolve("test_nowhere", functions[0], functions)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (Fraction(2, 7), Fraction(2, 7)),
        (0, Fraction(0)),
    ],
)
def test_exact_points(points: object, expected: Fraction) -> None:
    assert exact(points, "here") == expected


@pytest.mark.parametrize("points", [float("nan"), float("inf"), "much", None, [1]])
def test_invalid_points(points: object) -> None:
    with pytest.raises(CourseError, match="here: weight is"):
        exact(points, "here")


def test_order_of_question_numbers(pytester: pytest.Pytester) -> None:
    numbers = ["2.1", "1.10", "1.2", "1.2b", "1.2a"]
    tests = "".join(f"@number({n!r})\ndef test_{i}(): pass\n" for i, n in enumerate(numbers))
    functions = catalog(collected(pytester, f"from viva.grading import number\ndef test_x(): pass\n{tests}"))
    assert [f.number for f in functions] == ["1.2", "1.2a", "1.2b", "1.10", "2.1", ""]


def test_needs_are_those_of_the_markers(pytester: pytest.Pytester) -> None:
    source = """
    import pytest
    def test_plain(): pass
    @pytest.mark.gpu
    def test_any_gpu(): pass
    @pytest.mark.training
    @pytest.mark.gpu(memory_mib=16_000)
    def test_large(): pass
    @pytest.mark.gpu(nondeterministic="torch has no such cumsum")
    def test_random(): pass
    """
    functions = catalog(collected(pytester, source))
    assert [(f.needs, f.gpu) for f in functions] == [
        ((), None),
        (("gpu",), GpuNeed()),
        (("training", "gpu"), GpuNeed(16_000)),
        (("gpu",), GpuNeed(0, "torch has no such cumsum")),
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        *("16_000", "memory_mib=-1", "memory_mib='much'", "memory_mib=1.5", "memory_gb=4"),
        *("nondeterministic=' '", "nondeterministic=True", "nondeterministic=''"),
    ],
)
def test_invalid_gpu_marker(pytester: pytest.Pytester, arguments: str) -> None:
    source = f"import pytest\n@pytest.mark.gpu({arguments})\ndef test_it(): pass"
    with pytest.raises(
        CourseError, match=r"test_it.py::test_it: the marker is gpu\(.*\); expected gpu, or gpu\(memory"
    ):
        catalog(collected(pytester, source))
