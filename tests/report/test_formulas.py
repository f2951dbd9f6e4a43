"""Formulas as MathML: known ones as browsers draw them, the source where mathematics would be wrong, nothing else."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as draw
from latex2mathml import commands

from tests.support.hostile_notebooks import FORMULAS
from tests.support.table_rows import Rows
from viva.plugins.report.prose.formulas import MOST_CHARACTERS, mathml
from viva.plugins.report.prose.mathml import ATTRIBUTES, TAGS

WORDS = sorted({
    *commands.CONVERSION_MAP, *commands.LOCAL_FONTS, *commands.GLOBAL_FONTS, *commands.FUNCTIONS,
    *(word for word in vars(commands).values() if isinstance(word, str) and word.startswith("\\")),
})  # fmt: skip
"""All that the converter knows."""
PIECES = [
    *WORDS, *FORMULAS, *"{}_^&$'[]()|<>\"/\\~%#\n x1+,.", "\\\\", "\\begin{matrix}", "\\end{matrix}", "\\begin{cases}",
    "\\end{cases}", "{ll}", "1em", "&#x3c;", "&lt;", "&#x202e;", "\\left(", "\\right)", "é", "\u202e",
]  # fmt: skip


class Reader(HTMLParser):
    """Reads markup without the libraries that wrote it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS and {name for name, _ in attrs} <= ATTRIBUTES.get(tag, frozenset())
        assert (tag == "math") == (not self.open), "one math element, and all else within it"
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"{tag}: a browser would not end it here")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        assert self.open
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    handle_pi = unknown_decl = handle_comment

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)


def read(markup: str) -> str:
    """Return the text of a formula after checking that it is one well-formed math element with allowed content."""
    reader = Reader()
    reader.feed(markup)
    reader.close()
    assert reader.open == [] and markup.startswith("<math ") and markup.endswith("</math>")
    return reader.text


def inner(latex: str, *, block: bool = True) -> str:
    """Return the content of the math element."""
    markup = mathml(latex, block=block)
    assert markup is not None
    read(markup)
    return re.sub(r"<mspace[^>]*></mspace>", "·", markup.split(">", 1)[1].removesuffix("</math>"))


DRAWN = [
    (r"x", "<mi>x</mi>"),
    (r"\frac{1}{n}", "<mfrac><mn>1</mn><mi>n</mi></mfrac>"),
    (r"\frac12", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
    (r"x_1^2", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"),
    (r"\sqrt[3]{x}", "<mroot><mi>x</mi><mn>3</mn></mroot>"),
    (r"\mathbf{W}", "<mi>𝐖</mi>"),
    (r"\mathbf{QK}", "<mrow><mi>𝐐</mi><mi>𝐊</mi></mrow>"),
    (r"\boldsymbol\theta", "<mi>𝜽</mi>"),
    (r"\mathbb{R}", "<mi>ℝ</mi>"),
    (r"\mathcal{LN}", "<mrow><mi>ℒ</mi><mi>𝒩</mi></mrow>"),
    (r"\mathfrak{CH}", "<mrow><mi>ℭ</mi><mi>ℌ</mi></mrow>"),
    (r"\mathbbm{1}", "<mn>𝟙</mn>"),
    (r"\mathrm{d}", '<mi mathvariant="normal">d</mi>'),
    (r"\mathrm{softmax}", "<mi>softmax</mi>"),
    (r"\operatorname{softmax}x", "<mrow><mi>softmax</mi>·<mi>x</mi></mrow>"),
    (r"\sin(x)", '<mrow><mi>sin</mi><mo stretchy="false">(</mo><mi>x</mi><mo stretchy="false">)</mo></mrow>'),
    (r"\operatorname{BLEU-4}", "<mrow><mi>BLEU</mi><mo>−</mo><mn>4</mn></mrow>"),
    (r"2\log x", "<mrow><mn>2</mn>·<mi>log</mi>·<mi>x</mi></mrow>"),
    (r"a\sim b", "<mrow><mi>a</mi><mo>∼</mo><mi>b</mi></mrow>"),
    (r"a\not=b", "<mrow><mi>a</mi><mo>≠</mo><mi>b</mi></mrow>"),
    (r"\not\in", "<mo>∉</mo>"),
    (r"\text{a\_b}", "<mtext>a_b</mtext>"),
    (r"\text{if $x$}", "<mrow><mtext>if\u00a0</mtext><mi>x</mi></mrow>"),
    (r"\texttt{ab}", "<mtext>𝚊𝚋</mtext>"),
    (r"\overline{x}", '<mrow notation="top"><mi>x</mi></mrow>'),
    (r"\boxed{x}", '<mrow notation="box"><mi>x</mi></mrow>'),
    (r"a < b \& c", "<mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi><mi>&amp;</mi><mi>c</mi></mrow>"),
    (r"x % a comment", "<mi>x</mi>"),
    (r"\begin{equation}x\label{eq:1}\end{equation}", "<mi>x</mi>"),
    (r"\langle x", '<mrow><mo stretchy="false">⟨</mo><mi>x</mi></mrow>'),
    ("θ ≤ 1", "<mrow><mi>θ</mi><mo>≤</mo><mn>1</mn></mrow>"),
]  # fmt: skip


def test_drawn_formulas() -> None:
    with Rows() as row:
        for latex, expected in DRAWN:
            with row(latex):
                assert inner(latex).replace("&nbsp;", "\u00a0") == expected


def test_limits() -> None:
    """Above and below in a line of its own, next to in a line of text: the browser decides by movablelimits."""
    for latex in (r"\frac{\sum_{i=1}^n x_i}{n}", r"\left(\sum_{i=1}^n x_i\right)", r"\bigcup_{i=1}^n x"):
        assert '<munderover><mo movablelimits="true">' in inner(latex)
    for latex in (r"\max_x f", r"\argmax_x f", r"\operatorname*{arg\,max}_x f", r"\lim_{x\to 0} f"):
        assert '<munder><mo movablelimits="true" ' in inner(latex, block=False)
    assert "<msubsup><mo>∫</mo>" in inner(r"\int_0^1 x")
    assert 'movablelimits="false"' in inner(r"\sum\limits_i x", block=False)


def test_rows_and_columns() -> None:
    aligned = inner(r"\begin{aligned}a&=b\\[2pt]c&=d\end{aligned}")
    assert aligned.count("<mtr>") == 2 and aligned.count('columnalign="right"') == 2
    assert aligned.startswith('<mtable displaystyle="true">') and read(f"<math >{aligned}</math>") == "a=bc=d"
    for name in ("align", "align*", "eqnarray", "split", "gather", "gathered", "multline*", "dcases"):
        assert inner(rf"\begin{{{name}}}a\\b\end{{{name}}}").count("<mtr>") == 2, name
    fences = {"pmatrix": "(", "bmatrix": "[", "Bmatrix": "{", "vmatrix": "|", "Vmatrix": "‖"}
    for name, fence in fences.items():
        matrix = inner(rf"A=\begin{{{name}}}1&2\\3&4\end{{{name}}}")
        assert f'<mrow><mo stretchy="true" form="prefix">{fence}</mo><mtable>' in matrix, name
        assert matrix.count("<mtd>") == 4
    assert inner(r"\begin{array}{c|c}1&2\end{array}").count('columnlines="solid"') == 1
    assert inner(r"a \\ b").count("<mtr>") == 2, "a line that is broken is two lines"


NOT_DRAWN = [
    r"\unknown", r"\unknown{x}", r"x \foo y", r"\left\foo x\right)", r"\mathfoo{x}", r"\text{\alpha}",
    r"\begin{foo}a\end{foo}", r"\begin{tabular}{c}a\end{tabular}", r"a & b", r"\cancel{x}", r"\hline",
    r"{", r"}", r"\left(x", r"x\right)", r"\begin{matrix}a", r"\begin{matrix}a\end{pmatrix}",
    r"x_", r"x__1", r"\frac{1}",
    r"\matrix{a\\b} c", r"", " ", r"\newcommand{\a}{b}\a", r"\def\a{\a\a}\a", r"\DeclareMathOperator{\a}{b}\a",
    r"\sideset{_1}{_2}{\sum}", r"\href{https://example.org}{x}", r"\class{a}{x}", r"\style{color:red}{x}",
    r"\require{html}x", r"\unicode{x202e}", "x" * (MOST_CHARACTERS + 1), "{" * 200 + "x" + "}" * 200,
    r"\sqrt" * 300 + "x", r"\left(" * 100 + r"\right)" * 100, "x$y$",
]  # fmt: skip


def test_formulas_not_drawn() -> None:
    with Rows() as row:
        for latex in NOT_DRAWN:
            with row(latex[:24]):
                assert mathml(latex, block=True) is None and mathml(latex, block=False) is None


def test_exponential_formulas() -> None:
    """Each level of `\\sideset` doubles what it holds, and a macro can: two to the power of 30, if they were run."""
    nest = "x"
    for _ in range(30):
        nest = rf"\sideset{{_1}}{{_2}}{{{nest}}}"
    macros = "".join(rf"\def\{chr(97 + n)}{{\{chr(98 + n)}\{chr(98 + n)}}}" for n in range(25))
    for latex in (nest, macros + r"\a"):
        assert mathml(latex[:MOST_CHARACTERS], block=True) is None


def test_alttext_is_the_escaped_source() -> None:
    assert ' alttext="a&lt;b &quot;c&quot;"' in str(mathml('a<b "c"', block=False))
    assert 'display="block"' in str(mathml("x", block=True)) and 'display="inline"' in str(mathml("x", block=False))


@pytest.mark.parametrize("character", ["\u202e", "&#x202e;", "&#x0;", "&#xd800;", "&#xffffff;", "\0"])
def test_control_characters(character: str) -> None:
    found = str(mathml(rf"\text{{a{character}b}}", block=False))
    assert found.encode() and not set(found) & {"\u202e", "\0"}
    assert read(found) in ("ab", "a\ufffdb", "a\U0010ffffb")


def test_lengths() -> None:
    """A formula that moves itself by a mile would stand on other text."""
    found = inner(r"\hspace{-500em}x\hspace{3mu}\raise 99ex x\kern 1em \hspace{1e9em}")
    assert inner(r"\quad") == "·" and "500" not in found and "99" not in found
    assert 'width="-8em"' in str(mathml(r"\hspace{-500em}x", block=True))


def test_payloads_become_harmless_mathml() -> None:
    with Rows() as row:
        for latex in FORMULAS:
            with row(latex):
                for block in (True, False):
                    if (found := mathml(latex, block=block)) is not None:
                        read(found)


@given(draw.lists(draw.sampled_from(PIECES), max_size=12).map("".join), draw.booleans())
@example(r"\text{</math><script>owned()</script>}", True)
@example(r"\text{<img src=x onerror=owned()>}", False)
@example("\\mathrm{<}b>", False)
def test_any_latex(latex: str, block: bool) -> None:
    found = mathml(latex, block=block)
    if found is not None:
        read(found)


AROUND = ["{}", r"\text{{{}}}", r"\mathbf{{{}}}", r"x_{{{}}}", r"\left({}\right)"]


@given(draw.text(max_size=60), draw.sampled_from(AROUND))
def test_any_text(text: str, around: str) -> None:
    found = mathml(around.format(text), block=False)
    if found is not None:
        read(found)
