"""What a submission was asked and what it answered, kept as plain data.

An appeal can read it, and where a later version of the tests asks the same questions, its results come from here
without running the student's code again.
"""

from viva.plugins.records.call_log.box_recorder import BoxRecorder
from viva.plugins.records.call_log.box_replay import BoxReplay
from viva.plugins.records.call_log.call_log import CallLog, Exchange, question_of, unpack_changed

__all__ = ["BoxRecorder", "BoxReplay", "CallLog", "Exchange", "question_of", "unpack_changed"]
