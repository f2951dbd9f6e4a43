"""The key without its code: what public tests asked it, and its answers, as plain data that a student may have."""

from viva.replay.key_recording.key_recording import NOT_RECORDED, RECORD, KeyRecording, NotRecorded, Record, load_record
from viva.replay.key_recording.recorded_hints import HintReader, HintWriter
from viva.replay.key_recording.recorder import RecordingKey, RecordingSeeds
from viva.replay.key_recording.replayed_key import RecordedSeeds, ReplayedKey

__all__ = [
    "NOT_RECORDED",
    "RECORD",
    "HintReader",
    "HintWriter",
    "KeyRecording",
    "NotRecorded",
    "Record",
    "RecordedSeeds",
    "RecordingKey",
    "RecordingSeeds",
    "ReplayedKey",
    "load_record",
]
