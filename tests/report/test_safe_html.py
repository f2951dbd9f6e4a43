"""Texts of students as HTML: formulas are drawn, all of an answer is seen, and nothing acts.

A browser tries the same payloads in test_browser_long.py.
"""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from latex2mathml import commands

from tests.support.hostile_notebooks import FORMULAS, PAYLOADS
from tests.support.table_rows import Rows
from viva.plugins.report import safe_html
from viva.plugins.report.formulas import ATTRIBUTES, MAX_CHARACTERS, TAGS, convert_formula
from viva.plugins.report.safe_html import MAX_RENDERED, render_text, sanitize

ALLOWED = {
    "a": {"href", "title", "rel"}, "img": {"src", "width", "height", "alt"}, "span": {"class"}, "div": {"class"},
    "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}, "ol": {"start"},
}  # fmt: skip
FORBIDDEN = {
    "script", "style", "svg", "math", "iframe", "object", "embed", "form", "input", "base", "meta", "link", "h1",
}  # fmt: skip
MATH = re.compile("<math .*?</math>", re.DOTALL)
AROUND_FORMULAS = (
    '<span class="formula" role="group" aria-label="Formula" tabindex="0">',
    '<code class="formula">',
)


class HtmlReader(HTMLParser):
    """Reads HTML without the libraries that wrote it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self.text += " ".join(value or "" for _, value in attrs)
        if tag not in ("br", "hr", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, "an element ends that was not the last to begin"

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def read_html(html: str) -> HtmlReader:
    reader = HtmlReader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def check_math(markup: str) -> str:
    """Return the text of a formula after checking that it is one math element with allowed content."""
    reader = read_html(markup)
    assert [tag for tag, _ in reader.elements].count("math") == 1
    assert markup.startswith("<math ") and markup.endswith("</math>")
    for tag, attributes in reader.elements:
        assert tag in TAGS and attributes.keys() <= ATTRIBUTES.get(tag, set()), (tag, attributes)
    return read_html(re.sub("<math[^>]*>", "", markup, count=1).removesuffix("</math>")).text


def check_harmless(html: str) -> None:
    for math in MATH.findall(html):
        check_math(math)
    html = MATH.sub("", html)
    for start in AROUND_FORMULAS:
        html = html.replace(start, f"<{start[1:5]}>")
    for tag, attributes in read_html(html).elements:
        assert tag not in FORBIDDEN and attributes.keys() <= ALLOWED.get(tag, set()), (tag, attributes)
        assert attributes.get("href", "https://").lower().startswith(("http://", "https://", "mailto:"))
        assert attributes.get("src", "data:image/png;base64,").startswith("data:image/")
        assert "svg" not in attributes.get("src", "")


# --- HTML


def test_payloads_become_harmless() -> None:
    with Rows() as row:
        for payload in [*PAYLOADS, *(f"${latex}$" for latex in FORMULAS)]:
            with row(payload[:60]):
                check_harmless(sanitize(payload))
                for html in (True, False):
                    shown = str(render_text(payload, html=html))
                    check_harmless(shown)
                    assert not re.search(r"viva[0-9a-f]{16}x", shown), "a placeholder is left"


@given(
    st.lists(
        st.sampled_from([
            *PAYLOADS, *FORMULAS, "$", "$$", "\n\n", "`", '<div title="', '">', "[a](", ")", "<", ">", '"', "'", "</p>",
            "<p", "x", "&lt;", "<h1>", "</h1>",
        ]),
        max_size=8,
    )
)  # fmt: skip
def test_combined_payloads(parts: list[str]) -> None:
    check_harmless(sanitize("".join(parts)))
    for html in (True, False):
        check_harmless(str(render_text("".join(parts), html=html)))


def test_harmless_html_stays() -> None:
    html = '<p>An <em>answer</em>, <a href="https://example.org/a">a source</a>.</p><table><tbody><tr><td>1</td></tr>'
    shown = sanitize(html)
    assert "<em>answer</em>" in shown and 'href="https://example.org/a"' in shown and "<td>1</td>" in shown
    assert 'rel="noopener noreferrer nofollow"' in shown
    assert sanitize('<img src="data:image/png;base64,iVBORw0KGgo=">').count("iVBORw0KGgo=") == 1
    assert sanitize("<img src=https://example.org/track.png>") == "(a picture was left out)"
    assert sanitize("<h1 id='x'>Title</h1>") == "<p><strong>Title</strong></p>"
    assert sanitize('<span class="k mark warn">x</span><div class="mark highlight">y</div>') == (
        '<span class="k">x</span><div class="highlight">y</div>'
    )


def test_huge_html() -> None:
    for html in ("<b>" * 20_000, "<div><p>" * 5_000, "<table><tr><td>" * 500, "<!--" * 10_000, "<a href='" * 5_000):
        assert len(sanitize(html)) < 1_000_000


# --- Markdown


def test_markdown_of_a_notebook() -> None:
    shown = str(render_text("# Title\n\n*a* ~~b~~ <sub>2</sub>\none\ntwo\n\n|a|b|\n|-|-|\n|1|2|", html=True))
    assert "<strong>Title</strong>" in shown and "<em>a</em>" in shown and "<td>2</td>" in shown
    assert "<sub>2</sub>" in shown and "<br>" not in shown


def test_code_and_pictures() -> None:
    assert '<span class="k">def</span>' in str(render_text("```python\ndef f(): pass\n```"))
    assert "no-such-language" in str(render_text("```no-such-language\nx\n```"))
    assert "data:image/png;base64,iVBORw0KGgo=" in str(render_text("![a](data:image/png;base64,iVBORw0KGgo=)"))
    assert "![a](attachment:b.png) text" in str(render_text("![a](attachment:b.png) text", html=True))


def test_texts_that_cannot_be_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(render_text("*x*\n" * MAX_RENDERED)).startswith("<pre>*x*\n")
    monkeypatch.setattr(safe_html, "convert_formula", lambda latex, block: 1 / 0)
    assert str(render_text("*a* $x$")) == "<pre>*a* $x$</pre>"


VISIBLE = [
    ("one\ntwo", "one<br>"),
    ("if p<q and r>s then", "if p&lt;q and r&gt;s then"),
    ("d*k*r and 2**3**4", "d*k*r and 2**3**4"),
    ("x <!-- not seen --> y", "&lt;!-- not seen --&gt;"),
    ("<div>\nfirst\nsecond\n</div>", "<br>\nfirst<br>\nsecond<br>"),
    ("[1]: https://example.org", "[1]: "),
    ("![what it shows](picture.png)", "![what it shows](picture.png)"),
    ("p(x_t | x_<t)", "p(x_t | x_&lt;t)"),
]


def test_visible_answers() -> None:
    with Rows() as row:
        for text, seen in VISIBLE:
            with row(text):
                assert seen in str(render_text(text))


WORDS = [
    "p<q and r>s", "<b", "<i>", "</i>", "a*b*c", "**bold**", "*one", "_two_", "[1]: https://example.org", "plain ",
    "<!-- hidden -->", "<img src=x alt=words>", "![alt](pic.png)", "[text](https://example.org/path)", "`code`", "``` ",
    "\n", "\n\n", "\n- item ", "\n# head ", "\n> quote ", "\n|cell|cell|\n|-|-|\n", "\n    indented ", "<script>",
    "</script>", "<style>", "<title>", "<textarea>", "<xmp>", "<svg>", "<math>", "<div>", "\n<div>", "\nterm\n: what ",
    "[bad](javascript:x)", "~~gone~~",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=10).map("".join))
@example("<title>plain</title>")
@example("``` p<q and r>s")
@example("```c and more\nint x;\n```")
def test_no_word_of_an_answer_is_hidden(text: str) -> None:
    """Besides the language of a piece of code."""
    shown = read_html(str(render_text(text))).text
    assert [word for word in set(re.findall("[a-z]{3,}", text)) if word not in shown] == []


# --- where formulas are


PLACES = [
    ("a $x$ b $y$.", ["x", "y"]),
    ("$$x$$ and $y$", ["x", "y"]),
    ("$$\n- a\n+ b\n$$", ["- a\n+ b"]),
    (r"\(x\) \[y\]", ["x", "y"]),
    ("\\[\na \\\\[2pt] b\n\\]", ["a \\\\[2pt] b"]),
    ("\\begin{align}a\\\\b\\end{align}", ["\\begin{align}a\\\\b\\end{align}"]),
    ("$x\ny$", ["x\ny"]),
    ("$x\n\ny$", []),
    ("costs $5 and $6", []),
    ("US$5, US$6, $7.", []),
    ("$5 and $6, but $x$", ["x"]),
    ("between 5$ and 6$", []),
    ("$x$2", []),
    ("$ x $ and $x $", []),
    (r"\$5 and $x$, $a\$b$", ["x", r"a\$b"]),
    ("$", []),
    ("$$$$", [""]),
    ("`$a$` ``b`$c$`` $d$", ["d"]),
    ("```\n$a$\n```\n$b$", ["b"]),
    ("> ```\n> $a$\n> ```\n\n$b$", ["b"]),
    ("- ```\n  $a$\n  ```\n- $b$", ["b"]),
    ("    $x$", []),
]


def test_places_of_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []

    def note(latex: str, *, block: bool) -> None:
        found.append(latex.strip())

    monkeypatch.setattr(safe_html, "convert_formula", note)
    with Rows() as row:
        for text, expected in PLACES:
            with row(text):
                found.clear()
                render_text(text)
                assert found == expected


def test_formulas_in_prose() -> None:
    html = str(render_text("# Title $x$\n\n*$y$*, $$z$$\n\n| $a$ | b |\n|-|-|\n| 1 | $p(x)$ |"))
    assert html.count("<math ") == 5 and "<em><math " in html and html.count("<td>") == 2
    assert html.count('<span class="formula"') == 1 and "viva" not in html
    assert 'href="https://example.org/$x$"' in str(render_text("[a](https://example.org/$x$)"))


@pytest.mark.parametrize("text", ["\\(" * 9_999, "\\[x" * 6_000, "$x$ " * 5_000, "\\begin{align}\n" * 1_000])
def test_text_of_very_many_formulas_stays_as_it_is(text: str) -> None:
    assert str(render_text(text)).startswith("<pre>")


def test_unknown_formula_is_shown_by_its_source() -> None:
    html = str(render_text("$\\mathfoo{x}$ $\\unknown_a*b*$ and\n\n$$\n<b>\\foo\n$$"))
    assert '<code class="formula">$\\mathfoo{x}$</code>' in html
    assert '<code class="formula">$\\unknown_a*b*$</code>' in html
    assert '<code class="formula">$$&lt;b&gt;\\foo$$</code>' in html


# --- formulas


DRAWN = [
    (r"\frac{1}{n}", "<mfrac><mrow><mn>1</mn></mrow><mrow><mi>n</mi></mrow></mfrac>"),
    (r"x_1^2", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"),
    (r"\sqrt[3]{x}", "<mroot><mrow><mi>x</mi></mrow><mn>3</mn></mroot>"),
    (r"\mathbf{W}", "<mi>𝐖</mi>"),
    (r"\boldsymbol\theta", "<mi>𝜽</mi>"),
    (r"\mathbb{R}", "<mi>ℝ</mi>"),
    (r"\mathcal{LN}", "<mi>ℒ</mi><mi>𝒩</mi>"),
    (r"\log x", '<mo lspace="0em" rspace="0.167em">log</mo><mi>x</mi>'),
    (r"\text{if $x$}", "<mtext>if\u00a0</mtext>"),
    (r"\boxed{x}", '<mrow notation="box">'),
    (r"x % a comment", "<mi>x</mi>"),
    (r"\begin{equation}x\label{eq:1}\end{equation}", "<mi>x</mi>"),
    (r"\left(\sum_{i=1}^n x\right)", '<munderover><mo movablelimits="true">∑</mo>'),
    (r"\max_x f", '<munder><mo movablelimits="true">max</mo>'),
    ("θ ≤ 1", "<mi>θ</mi><mo>≤</mo>"),
    (r"a \\ b", "</mtr><mtr>"),
    *((rf"\begin{{{name}}}a\\b\end{{{name}}}", "</mtr><mtr>") for name in ("aligned", "align*", "gather", "cases")),
    (r"\begin{bmatrix}1&2\\3&4\end{bmatrix}", "<mo>[</mo><mtable>"),
    (r"\begin{array}{c|c}1&2\end{array}", "<mtable>"),
]  # fmt: skip


def test_drawn_formulas() -> None:
    with Rows() as row:
        for latex, expected in DRAWN:
            with row(latex):
                markup = convert_formula(latex, block=True)
                assert markup is not None and expected in markup.replace("&nbsp;", "\u00a0"), markup
                check_math(markup)


NOT_DRAWN = [
    r"\unknown", r"\unknown{x}", r"x \foo y", r"\left\foo x\right)", r"\text{\alpha}", r"\begin{foo}a\end{foo}",
    r"\begin{tabular}{c}a\end{tabular}", r"a & b", r"\cancel{x}", r"\hline", r"{", r"}", r"\left(x", r"\begin{matrix}a",
    r"x_", r"x__1", r"\frac{1}", r"\matrix{a\\b} c", r"", " ", r"\newcommand{\a}{b}\a", r"\def\a{\a\a}\a",
    r"\sideset{_1}{_2}{\sum}", r"\href{https://example.org}{x}", r"\class{a}{x}", r"\style{color:red}{x}",
    r"\require{html}x", r"\unicode{x202e}", "x" * (MAX_CHARACTERS + 1), "x$y$",
]  # fmt: skip


def test_formulas_not_drawn() -> None:
    with Rows() as row:
        for latex in NOT_DRAWN:
            with row(latex[:24]):
                assert convert_formula(latex, block=True) is None and convert_formula(latex, block=False) is None


def test_exponential_formulas() -> None:
    """Each level of `\\sideset` doubles what it holds, and a macro can: two to the power of 30, if they were run."""
    nest = "x"
    for _ in range(30):
        nest = rf"\sideset{{_1}}{{_2}}{{{nest}}}"
    macros = "".join(rf"\def\{chr(97 + n)}{{\{chr(98 + n)}\{chr(98 + n)}}}" for n in range(25))
    for latex in (nest, macros + r"\a"):
        assert convert_formula(latex[:MAX_CHARACTERS], block=True) is None


def test_nested_formulas() -> None:
    for latex in ("{" * 900 + "x" + "}" * 900, r"\sqrt" * 300 + "x", r"\left(" * 100 + r"\right)" * 100):
        markup = convert_formula(latex, block=True)
        assert markup is None or check_math(markup)


def test_alttext_is_the_source() -> None:
    assert ' alttext="a&lt;b &quot;c&quot;"' in str(convert_formula('a<b "c"', block=False))
    assert 'display="block"' in str(convert_formula("x", block=True))


@pytest.mark.parametrize("character", ["\u202e", "&#x202e;", "&#x0;", "&#xd800;", "&#xffffff;", "\0"])
def test_control_characters_of_formulas(character: str) -> None:
    markup = convert_formula(rf"\text{{a{character}b}}", block=False)
    assert markup is None or not {"\u202e", "\0"} & set(check_math(markup))


def test_formula_does_not_move_itself() -> None:
    for latex in (r"\hspace{-500em}x", r"\hspace{500em}x", r"\raise 99ex x", r"\kern 1e9em x"):
        assert not re.search("500|99|1e9", re.sub('alttext="[^"]*"', "", str(convert_formula(latex, block=True))))


LATEX_WORDS = sorted({
    *commands.CONVERSION_MAP, *commands.LOCAL_FONTS, *commands.GLOBAL_FONTS, *commands.FUNCTIONS,
    *(word for word in vars(commands).values() if isinstance(word, str) and word.startswith("\\")),
})  # fmt: skip
"""All that the converter knows."""
PIECES = [
    *LATEX_WORDS, *FORMULAS, *"{}_^&$'[]()|<>\"/\\~%#\n x1+,.", "\\\\", "\\begin{matrix}", "\\end{matrix}",
    "\\begin{cases}", "\\end{cases}", "{ll}", "1em", "&#x3c;", "&lt;", "&#x202e;", "\\left(", "\\right)", "é", "\u202e",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.booleans())
@example(r"\text{</math><script>owned()</script>}", True)
@example(r"\text{<img src=x onerror=owned()>}", False)
@example("\\mathrm{<}b>", False)
def test_any_latex(latex: str, block: bool) -> None:
    markup = convert_formula(latex, block=block)
    if markup is not None:
        check_math(markup)


@given(st.text(max_size=60), st.sampled_from(["{}", r"\text{{{}}}", r"\mathbf{{{}}}", r"x_{{{}}}", r"\left({}\right)"]))
def test_any_text(text: str, around: str) -> None:
    markup = convert_formula(around.format(text), block=False)
    if markup is not None:
        check_math(markup)
