"""Formulas in LaTeX as MathML, which browsers draw without a script.

A formula is a student's text like any other, and the converter (latex2mathml) lets it through as it is. So the markup
is written anew from the converter's tree, and sanitised as if it were not.
"""

from typing import TYPE_CHECKING, Any, Final

from viva.model.errors import UsageError
from viva.report.prose.latex import MOST_CHARACTERS, prepared
from viva.report.prose.mathml import ATTRIBUTES, TAGS, NotShown
from viva.report.prose.typeset import typeset

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["MOST_CHARACTERS", "mathml"]

_WITH_CONTENT: Final = frozenset({"script", "style", "svg", "annotation-xml", "mglyph", "maction"})


def mathml(latex: str, *, block: bool) -> "Markup | None":
    r"""The formula as one `math` element of MathML Core, sanitised; its source is the element's `alttext`.

    Args:
        latex: without the signs around it: `\frac{1}{n}`, `\begin{pmatrix}1&2\end{pmatrix}`. Anybody's.
        block: whether it stands in a line of its own.

    Returns:
        None where it cannot be shown, or would be shown wrong: it is longer than `MOST_CHARACTERS`, nests too deep, is
        broken, defines macros, or holds a command that the converter does not know. Then its source is to be shown.

    Raises:
        UsageError: latex2mathml or nh3 is not installed.
    """
    try:
        tree = _converted(prepared(latex), block=block)
        markup = typeset(tree, latex, block=block)
    except (NotShown, RecursionError):
        return None
    return _sanitised(markup)


def _converted(latex: str, *, block: bool) -> Any:
    try:
        from latex2mathml.converter import convert_to_element
    except ImportError:
        raise UsageError("Formulas need latex2mathml: pip install 'viva[report]'.") from None
    try:
        return convert_to_element(latex, display="block" if block else "inline")
    except Exception:  # whatever it raises, it says that it cannot convert the formula
        raise NotShown from None


def _sanitised(markup: str) -> "Markup":
    try:
        import nh3
        from markupsafe import Markup
    except ImportError:
        raise UsageError("Reports need jinja2 and nh3: pip install 'viva[report]'.") from None
    return Markup(
        nh3.clean(
            markup,
            tags=set(TAGS),
            clean_content_tags=set(_WITH_CONTENT),
            attributes={"*": set(), **{tag: set(names) for tag, names in ATTRIBUTES.items()}},
            url_schemes=set(),
            link_rel=None,
            strip_comments=True,
        )
    )
