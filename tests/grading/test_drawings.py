"""Figures are compared by the data that the solution draws: in whatever form, and whatever else is there."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from tests.support.course_of_texts import Examined, write_course
from viva.compare.agree import difference
from viva.compare.context import Context
from viva.grading import drawn
from viva.grading.drawings import parts_of

X, Y = np.array([3.0, 1.0, 2.0]), np.array([9.0, 1.0, 4.0])


def figure(draw: Callable[[Axes], object]) -> Callable[[], Any]:
    """Return a function that returns a figure."""

    def f() -> Any:
        made, axes = plt.subplots()
        draw(axes)
        return made

    return f


def curve(axes: Axes) -> None:
    axes.plot(X, Y)


def differs(student: Callable[[Axes], object], key: Callable[[Axes], object] = curve) -> bool:
    mine, like = figure(student), figure(key)
    return difference(drawn(mine, like=like)(), drawn(like)(), Context.of(1e-3, None, ())) is not None


def titled(axes: Axes) -> None:
    axes.axhline(0, color="grey")
    axes.plot(X, Y, "--", label="squares")
    axes.set_title("Squares")
    axes.legend()


@pytest.mark.parametrize(
    "draw",
    [curve, titled, lambda axes: axes.scatter(X[::-1], Y[::-1]), lambda axes: axes.plot(sorted(X), sorted(Y), "o")],
)
def test_equal_figures(draw: Callable[[Axes], object]) -> None:
    assert not differs(draw)


@pytest.mark.parametrize(
    "draw",
    [
        lambda axes: axes.plot(X, Y + 0.1),
        lambda axes: axes.plot(Y, X),
        lambda axes: axes.plot(X[:2], Y[:2]),
        lambda axes: axes.bar(X, Y),
        lambda axes: axes.set_title("Squares"),
    ],
)
def test_other_figures(draw: Callable[[Axes], object]) -> None:
    assert differs(draw)


def test_title_as_an_argument() -> None:
    def draw(title: str) -> Any:
        made, axes = plt.subplots()
        axes.plot(X, Y)
        axes.set_title(title)
        axes.set_xlabel("own words")
        return made

    assert ("text", "Loss") in drawn(draw)("Loss") and ("text", "own words") not in drawn(draw)("Loss")
    untitled = drawn(lambda title: draw("Loss"), like=draw)("Gain")
    assert ("text", "Gain") not in untitled and len(untitled) == 2


NAMES, COUNTS = ["a", "b", "c"], [3, 1, 2]


def test_bars_are_compared_by_height() -> None:
    for key in (lambda axes: axes.bar(NAMES, COUNTS), lambda axes: axes.barh(NAMES, COUNTS)):
        assert not differs(key, key)
        assert differs(lambda axes: axes.bar(NAMES, [3, 1, 3]), key)
    assert not differs(lambda axes: axes.bar(NAMES, COUNTS, width=0.3), lambda axes: axes.bar(NAMES, COUNTS))
    assert not differs(lambda axes: axes.barh(NAMES, COUNTS, height=0.3), lambda axes: axes.barh(NAMES, COUNTS))
    bars: Any = next(data for _, data in parts_of(figure(lambda a: a.hist([1, 1, 2]))()))
    heights = [float(top) for _, _, top in bars]
    assert sum(heights) == 3


def test_images_and_axes() -> None:
    image = np.arange(6).reshape(2, 3)
    assert not differs(lambda axes: axes.imshow(image, cmap="gray"), lambda axes: axes.imshow(image))
    assert differs(lambda axes: axes.imshow(image.T), lambda axes: axes.imshow(image))
    assert not differs(lambda axes: axes.plot(NAMES, COUNTS), lambda axes: axes.plot(NAMES, COUNTS))
    made, (left, right) = plt.subplots(1, 2)
    left.plot(X, Y), right.imshow(image)
    assert [kind for kind, _ in parts_of((made, (left, right)))] == ["points", "image"]
    without: list[object] = [None, 3, [], {"a": 1}]
    assert [list(parts_of(value)) for value in without] == [[]] * 4
    assert not plt.get_fignums(), "pyplot keeps every figure until it is closed"


KEY = """
from matplotlib import pyplot as plt

def squares(n):
    figure, axes = plt.subplots()
    axes.plot(range(n), [i * i for i in range(n)])
    return figure, axes
"""
TESTS = '''
from hypothesis.strategies import integers
from viva.grading import agree_on, drawn


def test_squares(student, key):
    """Draws squares."""
    agree_on(drawn(student.squares, like=key.squares), drawn(key.squares), integers(1, 6), examples=5)
'''


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examined]:
    found = Examined(write_course(tmp_path_factory.mktemp("drawings"), tests=TESTS, key=KEY))
    yield found
    found.process.close()


@pytest.mark.slow
def test_figures_of_students(examined: Examined) -> None:
    right = KEY.replace("axes.plot(", "axes.set_title('Squares'); axes.scatter(").replace("figure, axes\n", "axes\n")
    for text, status in [
        (KEY, "passed"),
        (right, "passed"),
        (KEY.replace("i * i", "i * i + i"), "failed"),
        (KEY.replace("return figure, axes", "plt.show()"), "failed"),
    ]:
        assert str(examined.entry(text, "test_squares").status) == status, text
