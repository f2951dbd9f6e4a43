"""What a submission was asked and what it answered, kept as plain data.

An appeal can read it, and where a later version of the tests asks the same questions, its marks come from here without
running the student's code again.
"""

from viva.examine.transcripts.recording import Recording
from viva.examine.transcripts.replaying import NoBoxes, Replaying, changed_tests
from viva.examine.transcripts.transcript import DIGEST, Exchange, Transcript

__all__ = ["DIGEST", "Exchange", "NoBoxes", "Recording", "Replaying", "Transcript", "changed_tests"]
