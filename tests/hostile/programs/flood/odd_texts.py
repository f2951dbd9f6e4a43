"""Puts control characters, lone surrogates, NUL and markup into every text that comes back."""

ODD = "\x1b]0;title\x07\x1b[2J\ud800\udfff\x00\u202e</script><script>alert(1)</script>[red]&#0;\r\n::set-output"


def number(x):
    raise ValueError(ODD)


def array(x):
    return ODD


def text(word):
    return ODD.encode("utf-16", "surrogatepass")


def table(words):
    return {ODD: ODD}


def items(n):
    raise type(ODD.replace("\x00", ""), (Exception,), {})(ODD)


answers = {"1.1": ODD}
globals()[ODD] = ODD
