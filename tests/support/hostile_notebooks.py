"""What a student might write into a notebook so that it acts in a page. Each calls `owned()` if it runs."""

import json
from typing import Any, Final

PAYLOADS = [
    "<script>owned()</script>",
    "<ScRiPt src='data:text/javascript,owned()'></sCrIpT>",
    "<scr<script>ipt>owned()</scr</script>ipt>",
    "<img src=x onerror=owned()>",
    "<img src=x oNeRrOr\x0c=owned()>",
    "<img src='data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9Im93bmVkKCkiLz4='>",
    "<body onload=owned()>",
    "<svg onload=owned()>",
    "<svg><script>owned()</script></svg>",
    "<svg><animate onbegin=owned() attributeName=x dur=1s>",
    "<svg><style><img src=x onerror=owned()></style></svg>",
    "<svg><foreignObject><iframe srcdoc='<script>parent.owned()</script>'></iframe></foreignObject></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=owned()&gt;'>",
    "<math><maction actiontype='statusline#' xlink:href='javascript:owned()'>click</maction></math>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=owned()>",
    "<a href='javascript:owned()' id=click>click</a>",
    "<a href=' java\tscript:owned()'>click</a>",
    "<a href='&#106;avascript:owned()'>click</a>",
    "<a href='data:text/html,<script>opener.owned()</script>' target=_blank>click</a>",
    "[click](javascript:owned())",
    "[click](<java&#115;cript:owned()>)",
    "![x](x\"onerror=\"owned())",
    "<style>@import 'data:text/css,*{color:red}';</style>",
    "<p style='position:fixed;inset:0;z-index:9' class='mark warn' id='main'>passed 100 of 100</p>",
    "<link rel=stylesheet href='data:text/css,*{display:none}'>",
    "<meta http-equiv=refresh content='0;url=javascript:owned()'>",
    "<base href='https://example.org/'>",
    "<iframe srcdoc='<script>parent.owned()</script>'></iframe>",
    "<iframe src='javascript:parent.owned()'></iframe>",
    "<object data='javascript:owned()'></object><embed src='javascript:owned()'>",
    "<template><script>owned()</script></template><div shadowrootmode=open><script>owned()</script></div>",
    "<noscript><p title='</noscript><img src=x onerror=owned()>'></noscript>",
    "<textarea><img title='</textarea><img src=x onerror=owned()>'></textarea>",
    "<details open ontoggle=owned()><summary>x</summary></details>",
    "<video><source onerror=owned()></video><audio src=x onerror=owned()>",
    "<input autofocus onfocus=owned()><button formaction='javascript:owned()'>x</button>",
    "<marquee onstart=owned()>x</marquee>",
    "</div></article></section></main><script>owned()</script>",
    "<!--><img src=x onerror=owned()>-->",
    "<![CDATA[><img src=x onerror=owned()>]]>",
    "{{ owned() }} {% raw %}{{ ''.__class__ }}{% endraw %} ${owned()} <%= owned() %>",
    "`x`<img src=x onerror=owned()>`",
    "```html\n</code></pre><script>owned()</script>\n```",
    "$<img src=x onerror=owned()>$ \\(<svg/onload=owned()>\\)",
    "\x00<script>owned()</script>\x1b]0;title\x07",
]  # fmt: skip


PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A picture of one point."""
DRAWING: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="20" height="20" '
    'onload="owned()"><rect width="20" height="20" onclick="owned()"/>{}</svg>'
)
ACTING: Final = [
    "<script>owned()</script>",
    "<script>parent.owned(); top.owned()</script>",
    "<foreignObject><iframe xmlns='http://www.w3.org/1999/xhtml' srcdoc='&lt;script>parent.owned()'/></foreignObject>",
    "<image xlink:href='https://example.org/picture.png' onerror='owned()'/>",
    "<use xlink:href='https://example.org/drawing.svg#a'/>",
    "<a xlink:href='javascript:owned()'><text y='10'>click</text></a>",
    "<style>@import 'https://example.org/style.css'; * {{ background: url(https://example.org/x) }}</style>",
    "<set attributeName='onmouseover' to='owned()'/>",
]
FORMULAS: Final = [
    r"\href{javascript:owned()}{click}",
    r"\href{javascript:owned()}{\text{click}}x",
    r"\text{<img src=x onerror=owned()>}",
    r"\text{<script>owned()</script>}",
    r"\text{&lt;script&gt;owned()&lt;/script&gt;}",
    r"\text{&#x3c;img src=x onerror=owned()&#x3e;}",
    r"x</math><script>owned()</script>",
    r"\text{</mtext></math><img src=x onerror=owned()>}",
    r"\text{</style></script></title></textarea><svg onload=owned()>}",
    r"\text{<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=owned()&gt;'>}",
    r"\text{<mglyph><svg><mtext><textarea><path id='</textarea><img onerror=owned() src=1>'>}",
    r"\text{<annotation-xml encoding='text/html'><img src=x onerror=owned()></annotation-xml>}",
    r"\text{<annotation-xml encoding='text/html'><style><img src=x onerror=owned()></style></annotation-xml>}",
    r"\text{<svg><foreignObject><iframe srcdoc='<script>parent.owned()</script>'></iframe></foreignObject></svg>}",
    r"\text{<maction actiontype='statusline' xlink:href='javascript:owned()'>click</maction>}",
    r"\text{<semantics><annotation-xml><script>owned()</script></annotation-xml></semantics>}",
    r'\text{"onmouseover="owned()" x="}',
    r'x" onclick="owned()" y="',
    r"\style{background:url(javascript:owned())}{x}",
    r"\style{position:fixed;inset:0}{\text{passed}}",
    r"\class{mark warn}{x}",
    r"\class{x\" onclick=\"owned()}{y}",
    r"\require{html}\href{javascript:owned()}{x}",
    r"\unicode{x3c}script\unicode{x3e}owned()",
    r"\unicode{x3c;<img src=x onerror=owned()>}",
    r"\color{red\" onclick=\"owned()}x",
    r"\colorbox{<img src=x onerror=owned()>}{y}",
    r"\textcolor{url(javascript:owned())}{x}",
    r"\hspace{1em\"onclick=\"owned()}x",
    r"\rule{<img src=x>}{<img src=x onerror=owned()>}",
    r"\operatorname{<img src=x onerror=owned()>}",
    r"\left<img src=x onerror=owned()\right>",
    r"\middle<\verb|<script>owned()</script>|",
    r"\begin{<script>}owned()\end{<script>}",
    r"\begin{array}{<img src=x onerror=owned()>}x\end{array}",
    r"\tag{<img src=x onerror=owned()>}x",
    r"\mathrm{<script>owned()</script>}",
    r"\newcommand{\a}{<script>owned()</script>}\a",
    r"&lt;script&gt;owned()&lt;/script&gt;",
    r"&#x3c;script&#x3e;owned()&#x3c;/script&#x3e;",
    r"\htmlData{x=y}{z}\htmlStyle{color:red}{x}\cssId{main}{x}\includegraphics{x}\url{javascript:owned()}",
    r"\mmlToken{mi}[href=javascript:owned()]{x}",
]
"""LaTeX for MathJax, KaTeX and the converter, and HTML within it."""
PAYLOADS.extend(
    [
        "$$\n" + "\n$$\n$$\n".join(FORMULAS) + "\n$$",
        "<a title='$x$' href='javascript:$x$owned()'>$x$</a>",
        '<div><a title="\n\n$\\text{" onmouseover=owned() x=}$\n\n">click</a></div>',
        '<div><a href="https://x\n\n$$\\text{"><img src=x onerror=owned()>}$$\n\n">click</a></div>',
        '![$\\text{" onerror=owned() x="}$](x "$x$")',
        "[click]($javascript:owned()$)",
        "[click](javascript:$x$owned())",
        "<math>$x$<mtext><img src=x onerror=owned()></mtext></math>",
        "<style>$</style><img src=x onerror=owned()>$</style>",
        "`$`<img src=x onerror=owned()>`$`",
    ]
)
"""What a drawing can hold that acts or fetches."""


def notebook(*cells: tuple[str, str], outputs: list[dict[str, Any]] | None = None) -> bytes:
    """Return a notebook of cells (kind, source); the outputs are those of every code cell."""
    written = [
        {"cell_type": kind, "metadata": {}, "source": source}
        | ({"outputs": outputs or [], "execution_count": 1} if kind == "code" else {})
        for kind, source in cells
    ]
    return json.dumps({"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def hostile_notebook() -> bytes:
    """Every payload as prose, as code, and as every kind of output."""
    outputs: list[dict[str, Any]] = []
    for text in PAYLOADS:
        outputs += [
            {"output_type": "stream", "name": "stdout", "text": text},
            {"output_type": "display_data", "data": {"text/html": text}, "metadata": {}},
            {"output_type": "display_data", "data": {"image/svg+xml": text, "text/plain": text}, "metadata": {}},
            {"output_type": "display_data", "data": {"image/png": f'x">{text}'}, "metadata": {}},
            {"output_type": "display_data", "data": {"application/javascript": "owned()"}, "metadata": {}},
            {"output_type": "error", "ename": text, "evalue": text, "traceback": [text]},
            {"output_type": "display_data", "data": {"text/markdown": text, "text/plain": text}},
            {"output_type": "display_data", "data": {"text/latex": f"${text}$", "text/plain": text}},
            {"output_type": "display_data", "data": {"image/svg+xml": DRAWING.format(text)}},
            {"output_type": "stream", "text": f"\x1b]8;;javascript:owned()\x07{text}\x1b]8;;\x07\x1b[31m{text}\x1b[0m"},
            {
                "output_type": "display_data",
                "data": {
                    "image/png": PIXEL,
                    text: text,
                    "application/vnd.jupyter.widget-view+json": {"model_id": text},
                },
                "metadata": {"image/png": {"alt": text, "width": text}, "filenames": {"image/png": text}},
            },
            {
                "output_type": "display_data",
                "data": {"text/plain": ""},
                "metadata": {"viva": {"left_out": [text], "status": text}},
            },
        ]
    outputs += [{"output_type": "display_data", "data": {"image/svg+xml": DRAWING.format(text)}} for text in ACTING]
    outputs += [{"output_type": "display_data", "data": {"text/markdown": f"${latex}$"}} for latex in FORMULAS]
    cells = [(kind, text) for text in PAYLOADS for kind in ("markdown", "code", "raw")]
    cells += [("markdown", f"${latex}$ `${latex}$`") for latex in FORMULAS]
    step = [outputs[i : i + 12] for i in range(0, len(outputs), 12)]
    cells += [("code", "pass")] * (len(step) - len(PAYLOADS))
    written = json.loads(notebook(*cells))
    assert len(step) == sum(cell["cell_type"] == "code" for cell in written["cells"])
    for cell, some in zip([c for c in written["cells"] if c["cell_type"] == "code"], step, strict=False):
        cell["outputs"] = some
    return json.dumps(written).encode()
