"""Prose of students: where formulas are, what is seen of an answer, and that nothing of it acts."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as draw
from nbconvert.filters import markdown2html

from tests.report.test_formulas import read
from tests.report.test_sanitise import Reader, harmless
from tests.support.hostile_notebooks import FORMULAS, PAYLOADS, notebook
from tests.support.report_class import assignment, marked
from tests.support.table_rows import Rows
from viva.formats import escaping
from viva.plugins.report.feedback import feedback_page
from viva.plugins.report.prose import render_prose
from viva.plugins.report.prose.delimiters import Formula, without_formulas
from viva.plugins.report.prose.render_prose import MOST_FORMULAS, MOST_RENDERED, rendered, written
from viva.plugins.report.prose.sanitise import sanitised

MATH = re.compile("<math .*?</math>", re.DOTALL)
OURS = ('<span class="formula" role="group" aria-label="Formula" tabindex="0">', '<code class="formula">')
"""What stands around formulas."""


def found(text: str) -> list[str]:
    """Return the formulas of a text; displayed ones begin with a line break."""
    formulas: list[str] = []

    def note(formula: Formula) -> str:
        formulas.append("\n" * formula.block + formula.latex)
        return ""

    without_formulas(text, note)
    return formulas


def check(html: str) -> str:
    """HTML in which nothing acts, with its formulas; gives the rest of it."""
    for math in MATH.findall(html):
        read(math)
    rest = MATH.sub("", html)
    for start in OURS:
        rest = rest.replace(start, f"<{start[1:5]}>")
    harmless(rest)
    return rest


PLACES = [
    ("a $x$ b $y$.", ["x", "y"]),
    ("$$x$$ and $y$", ["\nx", "y"]),
    ("$$\n- a\n+ b\n# c\n$$", ["\n\n- a\n+ b\n# c\n"]),
    (r"\(x\) \[y\]", ["x", "\ny"]),
    (r"\\(x\\) \\[y \\ z\\]", ["x", "\ny \\\\ z"]),
    ("\\[a \\\\[2pt] b\\]", ["\na \\\\[2pt] b"]),
    (r"\begin{align}a\\b\end{align}", ["\n\\begin{align}a\\\\b\\end{align}"]),
    (r"\begin{a}\end{b}", []),
    ("$x\ny$", ["x\ny"]),
    ("$x\n\ny$", []),
    ("$$\nx\n \n$$", []),
    ("costs $5 and $6", []),
    ("US$5, US$6, $7.", []),
    ("$5 and $6, but $x$", ["x"]),
    ("between 5$ and 6$", []),
    ("$x$2", []),
    ("$ x $ and $x $", []),
    (r"\$5 and $x$, $a\$b$", ["x", r"a\$b"]),
    ("$", []),
    ("$$", []),
    ("$$$$", []),
    (r"$\text{if $x$}$", [r"\text{if $x$}"]),
    ("`$a$` ``b`$c$`` $d$", ["d"]),
    ("`one $a$", ["a"]),
    ("`over\n\na line` $b$", ["b"]),
    ("```\n$a$\n```\n$b$", ["b"]),
    ("````\n```\n$a$\n````\n$b$", ["b"]),
    ("~~~py\n$a$\n```\n$b$", []),
    ("> ```\n> $a$\n> ```\n$b$", ["b"]),
    ("- ```\n  $a$\n  ```\n- $b$", ["b"]),
    ("```a``` $b$", ["b"]),
    (r"\`$a$`", ["a"]),
]


def test_places_of_formulas() -> None:
    with Rows() as row:
        for text, expected in PLACES:
            with row(text):
                assert found(text) == expected


@given(draw.text("$\\()[]`~{}ab \n>", max_size=60))
def test_text_without_formulas(text: str) -> None:
    assert without_formulas(text, lambda formula: formula.source) == text


def test_formulas_in_prose() -> None:
    html = str(rendered("# Title $x$\n\n*$y$*, $$z$$\n\n| $|a|$ | b |\n|-|-|\n| 1 | $p(x|y)$ |"))
    assert html.count("<math ") == 5 and "<em><math " in html and html.count("<td>") == 2
    assert html.count('<span class="formula"') == 1 and "viva" not in html


def test_unknown_formula() -> None:
    html = str(rendered("$\\unknown_a*b*$ and\n\n$$\n<b>\\foo\n$$"))
    assert '<code class="formula">$\\unknown_a*b*$</code>' in html
    assert '<code class="formula">$$\n&lt;b&gt;\\foo\n$$</code>' in html


def test_formulas_in_code() -> None:
    for text in ("`$x$`", "```\n$x$\n```", "    $x$", "<pre>$x$</pre>", "<code>$x$</code>", "text <kbd>$x$</kbd>"):
        html = str(rendered(text))
        assert "$x$" in html and "<math" not in html, text
    assert 'href="https://example.org/$x$"' in str(rendered("[a](https://example.org/$x$)"))
    assert "<math" in str(rendered("`code` $x$ `code`")) and "<math" in str(rendered("<code>a</code> $x$"))


def test_many_formulas() -> None:
    html = str(rendered("$x$ " * (MOST_FORMULAS + 2)))
    assert html.count("<math ") == MOST_FORMULAS and html.count("$x$") == 2


def test_failing_renderer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(rendered("*x*\n" * MOST_RENDERED)).startswith("<pre>*x*\n")
    monkeypatch.setattr(render_prose, "as_html", lambda text, keep: text.swapcase())
    assert str(rendered("*a* $x$")) == "<pre>*a* $x$</pre>", "the word for the formula was lost"


def test_code_and_pictures() -> None:
    assert '<span class="k">def</span>' in str(written("```python\ndef f(): pass\n```"))
    assert "no-such-language" in str(written("```no-such-language\nx\n```"))
    assert "data:image/png;base64,iVBORw0KGgo=" in str(written("![a](data:image/png;base64,iVBORw0KGgo=)"))


def test_attachment() -> None:
    """nbconvert raised an error of its own kind for `attachment:`, which a pasted picture in a notebook is."""
    html = feedback_page.page(
        marked("s"),
        assignment(),
        feedback_page.Notebook("a.ipynb", notebook(("markdown", "![a](attachment:b.png) text")), False),
    ).decode()
    assert "(a picture was left out) text" in html


SAMPLES = [
    "#Title\n\n## Title ##\ntext\n***\n1. a\n2. b\n\n- [x] done\n- [ ] not\n",
    "|a|b|\n|:-|-:|\n|1|2|",
    "~~a~~ __b__ _c_ `d`",
    "term\n: what it is\n",
    "https://example.org and <https://example.org>",
    "```python\nx = 1\n```\n```nothing\nx\n```\n    y",
    "> a\n> b\n\n[a][b]\n\n[b]: https://example.org",
    "a  \nb\\\nc\nd",
    "<div>\n\n*a*\n\n</div>",
    "a*b*c_d_e 2 < 3 & 4 &lt;",
]


def test_equals_nbconvert() -> None:
    """nbconvert, which rendered it before, is the independent oracle; but for its anchors, and white space."""
    with Rows() as row:
        for text in [*SAMPLES, *(text for text in PAYLOADS if not found(text) and "$" not in text)]:
            with row(text):
                expected = re.sub(
                    r'<a class="anchor-link" href="[^"]*">&#182;</a>', "", str(markdown2html(escaping.terminal(text)))
                )
                assert "".join(str(rendered(text)).split()) == "".join(sanitised(expected).split())


def test_line_breaks() -> None:
    """In a folded text of YAML there are none, in a literal one and in notebooks they are the student's."""
    assert str(written("one\ntwo\n\nthree")).split() == ["<p>one<br>", "two</p>", "<p>three</p>"]
    assert "<br>" not in str(rendered("one\ntwo"))


SEEN = [
    ("if p<q and r>s then", "if p&lt;q and r&gt;s then"),
    ("d*k*r and 2**3**4", "d*k*r and 2**3**4"),
    ("x <!-- not seen --> y", "&lt;!-- not seen --&gt;"),
    ("<div>\nfirst\nsecond\n</div>", "<br>first<br>second<br>"),
    ("<details>words</details>", "words"),
    ("[1]: https://example.org", "[1]: "),
    ("![what it shows](picture.png)", "![what it shows](picture.png)"),
    ("a **b** <b>c</b> H<sub>2</sub>O<br>d", "a <strong>b</strong> <b>c</b> H<sub>2</sub>O<br>d"),
    ("p(x_t | x_<t)", "p(x_t | x_&lt;t)"),
]


def test_visible_answers() -> None:
    with Rows() as row:
        for text, seen in SEEN:
            with row(text):
                assert seen in str(written(text))


WORDS = [
    "p<q and r>s", "<b", "<i>", "</i>", "a*b*c", "**bold**", "*one", "_two_", "[1]: https://example.org", "plain ",
    "<!-- hidden -->", "<img src=x alt=words>", "![alt](pic.png)", "[text](https://example.org/path)", "`code`", "``` ",
    "\n", "\n\n", "\n- item ", "\n# head ", "\n> quote ", "\n|cell|cell|\n|-|-|\n", "\n    indented ", "<script>",
    "</script>", "<style>", "<title>", "<textarea>", "<xmp>", "<svg>", "<math>", "<div>", "\n<div>", "\nterm\n: what ",
    "[bad](javascript:x)", "~~gone~~",
]  # fmt: skip


@given(draw.lists(draw.sampled_from(WORDS), max_size=10).map("".join))
@example("<title>plain</title>")
@example("``` p<q and r>s")
@example("```c and more\nint x;\n```")
def test_any_words(text: str) -> None:
    """Besides the language of a piece of code, and the address of a link that is none."""
    reader = Words()
    reader.feed(str(written(text)))
    reader.close()
    for word in set(re.findall("[a-z]{3,}", text)) - {"javascript"}:
        assert word in reader.words, word


class Words(Reader):
    words = ""

    def handle_data(self, data: str) -> None:
        self.words += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        self.words += " ".join(value or "" for _, value in attrs)


def test_payloads_are_harmless_in_prose() -> None:
    with Rows() as row:
        for payload in [*PAYLOADS, *(f"${latex}$" for latex in FORMULAS)]:
            with row(payload[:60]):
                for render in (rendered, written):
                    rest = check(str(render(payload)))
                    assert not re.search(r"viva[0-9a-f]{16}x", rest), "a word that stood for a formula is left"


@given(
    draw.lists(
        draw.sampled_from([*PAYLOADS, *FORMULAS, "$", "$$", "\n\n", "`", '<div title="', '">', "[a](", ")"]), max_size=6
    )
)
def test_combined_payloads(parts: list[str]) -> None:
    for render in (rendered, written):
        check(str(render("".join(parts))))
