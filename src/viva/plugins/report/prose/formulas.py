"""Convert LaTeX formulas to MathML, which browsers draw without a script.

A formula is untrusted text, and the converter (latex2mathml) does not clean it. The markup is therefore written again
from the converter's tree, and then sanitised as well.
"""

from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element

from viva.model.extras import missing_library
from viva.plugins.report.prose.latex import MOST_CHARACTERS, prepared
from viva.plugins.report.prose.mathml import ATTRIBUTES, TAGS, NotShown
from viva.plugins.report.prose.typeset import typeset
from viva.plugins.report.rendering import REPORTS_NEED

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["MOST_CHARACTERS", "mathml"]

_WITH_CONTENT: Final = frozenset({"script", "style", "svg", "annotation-xml", "mglyph", "maction"})


def mathml(latex: str, *, block: bool) -> "Markup | None":
    r"""Convert a formula to one `math` element of MathML Core, sanitised, with its source as the `alttext`.

    Args:
        latex: the formula without delimiters: `\frac{1}{n}`, `\begin{pmatrix}1&2\end{pmatrix}`. Untrusted.
        block: whether it is displayed on a line of its own.

    Returns:
        None if it cannot be shown correctly: it is longer than `MOST_CHARACTERS`, is nested too deeply, is invalid,
        defines macros, or contains a command that the converter does not know. The caller then shows its source.

    Raises:
        UsageError: latex2mathml or nh3 is not installed.
    """
    try:
        tree = _converted(prepared(latex), block=block)
        markup = typeset(tree, latex, block=block)
    except (NotShown, RecursionError):
        return None
    return _sanitised(markup)


def _converted(latex: str, *, block: bool) -> Element:
    try:
        from latex2mathml.converter import convert_to_element
    except ImportError as error:
        raise missing_library(REPORTS_NEED, error.name, "report") from None
    try:
        tree: Element = convert_to_element(latex, display="block" if block else "inline")
    except Exception:  # any error of the converter means that it cannot convert the formula
        raise NotShown from None
    return tree


def _sanitised(markup: str) -> "Markup":
    try:
        import nh3
        from markupsafe import Markup
    except ImportError as error:
        raise missing_library(REPORTS_NEED, error.name, "report") from None
    return Markup(  # noqa: S704  # sanitised
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
