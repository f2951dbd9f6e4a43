"""Readers as GitHub has them: one of logs, which obeys workflow commands, and one of pages, which knows code blocks."""

import re

FENCE = re.compile(r"^(`{3,})(.*)$")
LINE_ENDS = re.compile(r"\r\n|\r|\n")


def runner(log: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands that GitHub's runner obeys in a log: its two syntaxes, and its stop token."""
    obeyed: list[tuple[str, dict[str, str], str]] = []
    token = None
    for line in LINE_ENDS.split(log):
        found = re.match(r"\s*::([^\s:]+)(?: ([^:]*(?:,[^:]*)*))?::(.*)", line, re.DOTALL)
        if token is not None:
            token = None if found and found[1] == token else token
            continue
        if found:
            given = dict(part.split("=", 1) for part in (found[2] or "").split(",") if part)
            obeyed.append((found[1], {k: unescaped(v) for k, v in given.items()}, unescaped(found[3])))
            token = found[3] if found[1] == "stop-commands" else None
        elif old := re.search(r"##\[([^\]]*)\]", line):
            obeyed.append((old[1], {}, ""))
    assert token is None, "commands are left switched off"
    return obeyed


def unescaped(text: str) -> str:
    for escaped, plain in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escaped, plain)
    return text


def outside(page: str) -> list[str]:
    """The lines outside of code blocks, by CommonMark's rule: a fence ends at one at least as long and nothing else."""
    lines, fence = [], ""
    for line in page.split("\n"):
        found = FENCE.match(line)
        if fence:
            fence = "" if found and len(found[1]) >= len(fence) and not found[2].strip() else fence
        elif found:
            fence = found[1]
        else:
            lines.append(line)
    assert not fence, "a code block is never closed"
    return lines
