"""Random draws: the same for the whole class, other for each test and version, unknown without the course secret."""

import hashlib
import hmac
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Seeds:
    """Derives every seed of one assignment version from the course secret."""

    secret: bytes
    assignment: str
    version: int

    def test(self, test_id: str) -> int:
        """Seed of the grader's own draws in one test (the `rng` fixture)."""
        return self._derive("test", test_id)

    def box(self, test_id: str) -> int:
        """Seed given to the box before a test; tells nothing about the grader's draws."""
        return self._derive("box", test_id) % 2**32

    def rng(self, test_id: str) -> np.random.Generator:
        """A fresh generator for one test."""
        return np.random.default_rng(self.test(test_id))

    def key(self, purpose: str) -> bytes:
        """A key that nobody has who has not the secret, another one for each purpose."""
        return hmac.new(self.secret, f"viva {purpose}".encode(), hashlib.sha256).digest()

    @property
    def id(self) -> str:
        """Names the secret without telling it, for the signature of a score."""
        return self.key("seed id").hex()[:12]

    def _derive(self, purpose: str, test_id: str) -> int:
        message = "\0".join((purpose, self.assignment, str(self.version), test_id)).encode()
        return int.from_bytes(hmac.new(self.secret, message, hashlib.sha256).digest(), "big")
