"""The interceptor that records the key."""

from collections.abc import Collection

from viva.examiner.interceptor import Answers, Interceptor
from viva.model.seeds import Seeds
from viva.plugins.release.key_recorder.hint_writer import HintWriter
from viva.plugins.release.key_recorder.key_recording import KeyRecording
from viva.plugins.release.key_recorder.recorder import RecordingKey, RecordingSeeds
from viva.proxies.key import Key


class KeyRecorder(Interceptor):
    """Records what the tests ask the key; `KeyRecording.from_plain` reads the output."""

    def __init__(self) -> None:
        self._key_recording = KeyRecording()

    def wrap_answers(self, answers: Answers) -> Answers:
        """Return answers that are recorded; those of a released folder stay as they are."""
        if not isinstance(answers.key, Key) or not isinstance(answers.seeds, Seeds):
            return answers
        recording = self._key_recording
        return Answers(
            RecordingKey(answers.key, recording), RecordingSeeds(answers.seeds, recording), HintWriter(recording)
        )

    def end(self, sought: Collection[str], answer_readers: Collection[str]) -> None:
        """Note which values and answers the submission was asked for."""
        self._key_recording.note_written_by_students(sought)
        self._key_recording.answer_readers.update(answer_readers)

    def output(self) -> bytes:
        """Return the recording."""
        return self._key_recording.to_plain()
