"""One target under atheris, until its time is over: `python -m tests.fuzz.one TARGET FOLDER SECONDS`.

What breaks a promise is kept, the shortest input of each kind, and the search goes on: a second defect must not wait
until the first is fixed. Only what ends the process itself is left to libFuzzer, which keeps the input as well.
"""

import sys
from pathlib import Path

import atheris  # type: ignore[import-untyped]  # installed for `make fuzz` alone

from tests.fuzz.findings import Findings
from tests.fuzz.target import CPU_S, run
from tests.fuzz.targets import load

INSTRUMENTED = ["viva", "tarfile", "zipfile"]


def main(name: str, folder: Path, seconds: str) -> None:
    """Never returns: libFuzzer ends the process."""
    atheris.enabled_hooks.add("str")  # not "RegEx": its patterns have no match(text, position)
    for module in ("tarfile", "zipfile"):
        sys.modules.pop(module, None)
    with atheris.instrument_imports(include=INSTRUMENTED):
        target = load(name)
    findings = Findings(folder / "found")

    def one(data: bytes) -> None:
        try:
            run(target, data)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            findings.keep(data, error)

    corpus, words = folder / "corpus", folder / "words"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds()):
        (corpus / f"seed{number}").write_bytes(seed[: target.longest])
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words), "ascii")
    options = {
        "max_total_time": seconds,
        "max_len": target.longest,
        "dict": words,
        "artifact_prefix": f"{folder / 'found'}/",
        "timeout": 20 * CPU_S,  # of real time, on a machine that others use as well
        "rss_limit_mb": 2048,
        "print_final_stats": 1,
        "verbosity": 1,
    }
    arguments = [sys.argv[0], *(f"-{option}={value}" for option, value in options.items()), str(corpus)]
    atheris.Setup(arguments, one)
    atheris.Fuzz()


def _escaped(word: str | bytes) -> str:
    data = word if isinstance(word, bytes) else word.encode("utf-8", "surrogatepass")
    return "".join(f"\\x{byte:02x}" for byte in data)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
