"""Ends the process with exit status 0 in the middle of every answer."""

import os

from toolkit import answer_everything

answer_everything(globals(), lambda name: os._exit(0) if name != "answer" else None, answers=False)
