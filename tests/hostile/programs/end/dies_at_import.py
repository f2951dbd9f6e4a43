"""Ends the process while it is imported, with exit status 0 and without a word."""

import os

os._exit(0)
