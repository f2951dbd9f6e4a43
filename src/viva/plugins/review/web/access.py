"""Access control of the pages: the token of the address, the password, and what a session holds.

Starlette keeps a session in a cookie that itsdangerous signs. Its secret, and the token, are derived from one key.
"""

import base64
import hashlib
import hmac
import secrets
import time
import unicodedata
from collections.abc import Sequence
from typing import Any, Final

KEY_BYTES: Final = 32
LIFETIME_S: Final = 12 * 3600
"""How long a session lasts after the last request of its browser."""
RENEWED_S: Final = 600
"""An older cookie is signed again, so that the lifetime counts from the last request, not from the first."""
NAME_CHARACTERS: Final = 60


class Access:
    """Decides which browsers may see the pages.

    Without a password, access needs the token in the address that the command prints, and everyone who has it grades
    as the person who ran the command. With a password there is no token, and people enter their own names.
    """

    def __init__(  # noqa: PLR0913  # all but the key are keyword-only
        self,
        key: bytes,
        *,
        hosts: Sequence[str] | None,
        password: str | None,
        marker: str,
        round: int,
        port: int,
        https: bool = False,
        start: str = "/",
    ) -> None:
        """Set up access control.

        Args:
            key: 32 random bytes; with the same key an open page survives a restart.
            hosts: the names under which the pages are served. None allows any, which needs a password: a name that an
                attacker points to this machine then finds a browser without a session.
            password: None for a token in the address.
            marker: the name of the marker if there is no password.
            round: the round of that marker.
            port: the port of the server. Browsers share cookies between ports, so it is part of their names.
            https: whether cookies are sent over encrypted connections only.
            start: the page that is shown after signing in.

        Raises:
            ValueError: the key has another length, or any host is allowed without a password.
        """
        if len(key) != KEY_BYTES or (hosts is None and password is None):
            raise ValueError("a key of 32 bytes, and a password where any host is allowed")
        self.hosts, self.https, self.start = hosts, https, start
        self._key, self._marker, self._round = key, marker, round
        self._password = b"" if password is None else self._hash(password)
        self.needs_password = password is not None
        self.cookie = f"viva-review-{port}"
        if https:
            self.cookie = f"__Host-{self.cookie}"
        # Another password, or another marker if there is no password, ends the sessions of earlier runs.
        identity = self._password or f"{round} {marker}".encode("utf-8", "replace")
        self.secret = self._derive(b"session", identity).hex()
        """Signs the cookies."""
        self.token: str | None = None
        if password is None:  # terminals leave the padding of base64 out of links
            self.token = base64.urlsafe_b64encode(self._derive(b"token")).decode().rstrip("=")
        self._ended: set[str] = set()

    def is_token(self, token: str) -> bool:
        """Return whether this is the token of the address."""
        return self.token is not None and is_same(token, self.token)

    def is_password(self, password: str) -> bool:
        """Return whether this is the password; takes tenths of a second by design (scrypt)."""
        return self.needs_password and hmac.compare_digest(self._hash(password), self._password)

    def begin_session(self, marker: str | None = None, round: int | None = None) -> dict[str, Any]:
        """Return the content of a new session, by default for the person who ran the command."""
        return {
            "marker": self._marker if marker is None else marker,
            "round": self._round if round is None else round,
            "csrf": secrets.token_urlsafe(32),
            "id": secrets.token_urlsafe(16),
            "seen": int(time.time()),
        }

    def has_session(self, session: dict[str, Any]) -> bool:
        """Return whether a browser has signed in, and not out."""
        return "marker" in session and session["id"] not in self._ended

    def end_session(self, session: dict[str, Any]) -> None:
        """Refuse the session from now on, including copies of its cookie."""
        self._ended.add(session["id"])

    def _derive(self, purpose: bytes, of: bytes = b"") -> bytes:
        return hmac.digest(self._key, b"viva review 1 " + purpose + b"\0" + of, "sha256")

    def _hash(self, password: str) -> bytes:
        text = unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
        # Not the text itself: scrypt uses it as the key of an HMAC, which ignores zero bytes at its end.
        return hashlib.scrypt(self._derive(b"password", text), salt=self._derive(b"salt"), n=2**14, r=8, p=1)


def normalize_marker(text: str) -> str | None:
    """Normalize a marker's name; return None if it is empty, too long, or contains unprintable characters."""
    name = unicodedata.normalize("NFC", " ".join(text.split()))
    if not 1 <= len(name) <= NAME_CHARACTERS or not name.isprintable():
        return None
    return name


def is_same(given: str, expected: str) -> bool:
    """Return whether two texts are equal, in a time that does not reveal where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())
