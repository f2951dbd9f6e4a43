"""The search for leaks: every file of a released folder is decoded and searched for what only graders may know."""

import ast
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from viva.config.rubric import Rubric
from viva.examiner.recorded_key.record import RECORD, Record, record_from
from viva.plugins.release.answer_search import AnswerSearch, hand_answers
from viva.plugins.release.key_recorder.key_recording import KeyRecording

_LEAST_TEXT: Final = 20
"""Shorter texts occur in public files by chance."""
_LEAST_NUMBER: Final = 10_000
"""Smaller numbers, and round ones, occur in public files by chance as well."""
_LEAST_LINE: Final = 40
"""The length from which a line of the reference does not occur elsewhere by chance."""
_COMMON_LINE: Final = re.compile(r"from |import |#|[A-Z]\w* = [\w.\[\], |]+$")
"""Imports, comments, names of types."""
_READABLE: Final = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ufffd]{4,}")
"""Matches readable text in a record. Most of a record is packed numbers, so this is about a tenth of it."""
_MOST_OF_ARRAY: Final = 1000
"""Numbers of an array that are looked at: no answer by hand has as many."""
_FENCED: Final = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)


@dataclass(slots=True)
class Secrets:
    """What must not be found in a released folder."""

    texts: dict[str, str] = field(default_factory=dict)
    """Text -> its description for the author."""
    recorded: KeyRecording = field(default_factory=KeyRecording)
    """What the released tests ask the key and draw; another examiner recorded it than made the record."""
    answers: AnswerSearch | None = None

    def add_code(self, files: Iterable[Path], public: str) -> None:
        """Add the lines of key and reference, except those that public files hold as well."""
        for file in files:
            for line in file.read_text("utf-8").splitlines():
                text = line.strip()
                if len(text) >= _LEAST_LINE and not _COMMON_LINE.match(text) and text not in public:
                    self.texts[text] = f"a line of {file.name}"

    def add_constants(self, sources: Mapping[str, str], released: Iterable[str], public: str) -> None:
        """Add the texts and numbers of the graders that are in no released test and in no public text."""
        known = set[str]().union(*map(_constants, released))
        for name, source in sources.items():
            for constant in (c for c in _constants(source) - known if c not in public):
                self.texts[constant] = f"a constant of a hidden test in {name}"

    def add_models(self, rubric: Rubric) -> None:
        """Add the lines of the model answers in words. Code in them is code of the key, which `add_code` adds."""
        for question in rubric.questions:
            for line in _FENCED.sub("", question.model).splitlines():
                if len(text := line.strip()) >= _LEAST_LINE:
                    self.texts[text] = f"a line of the model answer to {question.number}"

    def hide_answers(self, answers: Mapping[str, object], public: str) -> None:
        """Add the key's answers by hand, except what public files hold as well."""
        self.answers = AnswerSearch(hand_answers(answers), public)

    def found_in(self, files: Mapping[str, bytes]) -> list[str]:
        """Return a sentence for each leak, at most one for each file and text."""
        found: list[str] = []
        for path, data in files.items():
            if path.endswith(RECORD):
                found += self._more_than_asked(path, record_from(data))
            texts = decoded(path, data)
            found += [
                f"{path} holds {what}: {t[:60]!r}" for t, what in self.texts.items() if any(_holds(x, t) for x in texts)
            ]
            if self.answers is not None:
                told = dict(pair for x in texts for pair in self.answers.found_in(x, recorded=path.endswith(RECORD)))
                found += [f"{path} holds the key's {name}: {written[:60]!r}" for name, written in told.items()]
        return found

    def _more_than_asked(self, path: str, record: Record) -> Iterator[str]:
        asked = set().union(*self.recorded.asked.values())
        if record.answers.keys() - asked:
            yield f"{path} answers a question that no released test asks the key"
        for name in sorted(record.seeds.keys() - self.recorded.seeds.keys()):
            yield f"{path} holds the seed of {name}"


def _holds(text: str, secret: str) -> bool:
    """Return whether a text holds a secret; a number not as a part of another one, such as the digits of a float."""
    if secret not in text:
        return False
    whole = rf"(?<![\d.]){re.escape(secret)}(?!\d|\.\d*[1-9])"
    return not secret.isdecimal() or re.search(whole, text) is not None


def decoded(path: str, data: bytes) -> list[str]:
    """Return a file as texts: as it is, and what is packed in it (notebooks, archives, records)."""
    texts = [data.decode("utf-8", "replace")]
    if path.endswith(RECORD):
        texts = ["\n".join(_READABLE.findall(texts[0]))]
        record = record_from(data)
        answers = filter(None, map(record.answer, record.answers))
        texts.append("\n".join(part for a in answers for part in _parts((a.value, a.after, a.raised, a.printed))))
    elif path.endswith(".ipynb"):
        texts.append("\n".join(_sources(data)))
    elif zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                texts += decoded(name, archive.read(name))
    return texts


def _parts(value: Any) -> Iterator[str]:
    """Yield the texts and numbers of a recorded value; of a large array, the first ones."""
    if isinstance(value, np.ndarray | np.generic):
        shown = value.ravel()[:_MOST_OF_ARRAY]
        digits = ".8g" if shown.dtype.itemsize > 4 else ".7g"
        yield " ".join(format(n, digits) if shown.dtype.kind in "fc" else str(n) for n in shown.tolist())
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from _parts(pair)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _parts(item)
    else:
        yield value if isinstance(value, str) else repr(value)


def _sources(data: bytes) -> list[str]:
    cells = json.loads(data).get("cells", [])
    return ["".join(cell["source"]) if isinstance(cell["source"], list) else cell["source"] for cell in cells]


def _constants(source: str) -> set[str]:
    """Return texts and numbers that are long enough to identify, as they are written."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant):
            value = node.value
            if isinstance(value, str) and len(value) >= _LEAST_TEXT:
                found.add(value)
            elif isinstance(value, int | float) and abs(value) >= _LEAST_NUMBER and value % 1000:
                found.add(repr(value))
    return found
