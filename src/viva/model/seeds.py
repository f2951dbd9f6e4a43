"""Random seeds: the same for the whole class, different for each test and version, secret without the course secret."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Seeds:
    """Derives every seed of one assignment version from the course secret."""

    secret: bytes
    assignment: str
    version: int

    def test(self, test_id: str) -> int:
        """Return the seed of the grader's own draws in one test (the `rng` fixture)."""
        return self._derive("test", test_id)

    def box(self, test_id: str) -> int:
        """Return the seed given to the box before a test; it reveals nothing about the grader's draws."""
        return self._derive("box", test_id) % 2**32

    def rng(self, test_id: str) -> "np.random.Generator":
        """Return a fresh generator for one test."""
        import numpy as np  # commands that only read seeds start without it

        return np.random.default_rng(self.test(test_id))

    def key(self, purpose: str) -> bytes:
        """Derive a key from the secret, a different one for each purpose."""
        return hmac.new(self.secret, f"viva {purpose}".encode(), hashlib.sha256).digest()

    @property
    def id(self) -> str:
        """Return an identifier of the secret that does not reveal it, for the signature of a score."""
        return self.key("seed id").hex()[:12]

    def _derive(self, purpose: str, test_id: str) -> int:
        message = "\0".join((purpose, self.assignment, str(self.version), test_id)).encode()
        return int.from_bytes(hmac.new(self.secret, message, hashlib.sha256).digest(), "big")
