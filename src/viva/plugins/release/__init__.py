"""What students receive: released folders and autograder archives, without anything that only graders may know."""

from typing import Final

KEY_RECORDER: Final = "key_recorder"
"""The name of the interceptor that records what tests ask the key, and its answers."""
