"""Access control of the pages: the token, the sessions and the form tokens are derived from one key by HMAC.

itsdangerous signs the cookies of sessions, as Starlette's own sessions do; those could not be ended, which a marker who
signs out on another person's machine needs.
"""

import base64
import hashlib
import hmac
import secrets
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from itsdangerous import BadData, TimestampSigner, URLSafeTimedSerializer

KEY_BYTES: Final = 32
LIFETIME_S: Final = 12 * 3600
"""How long a session lasts after the last request of its browser."""
RENEWED_S: Final = 600
"""An older cookie is signed again, so that the lifetime counts from the last request, not from the first."""
NAME_CHARACTERS: Final = 60
_COOKIE_CHARACTERS: Final = 2000


@dataclass(frozen=True, slots=True)
class Session:
    """The marker who sends a request; pages find it as `scope["viva"]`."""

    marker: str
    round: int
    csrf: str
    """The token that every form and script of this session must send."""
    id: str
    issued: int
    """Seconds since 1970."""


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
        now: Callable[[], float] = time.time,
    ) -> None:
        """Set up access control.

        Args:
            key: 32 random bytes; with the same key an open page survives a restart.
            hosts: the allowed values of the Host header, with the port. None allows any, which needs a password: a
                name that an attacker points to this machine then finds a browser without a session.
            password: None for a token in the address.
            marker: the name of the marker if there is no password.
            round: the round of that marker.
            port: the port of the server. Browsers share cookies between ports, so it is part of their names.
            https: whether cookies are sent over encrypted connections only.
            start: the page that is shown after signing in.
            now: returns seconds since 1970.

        Raises:
            ValueError: the key has another length, or any host is allowed without a password.
        """
        if len(key) != KEY_BYTES or (hosts is None and password is None):
            raise ValueError("a key of 32 bytes, and a password where any host is allowed")
        self.https, self.start, self.needs_password = https, start, password is not None
        self._hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self._key, self._marker, self._round, self._now = key, marker, round, now
        self._password = self._digest(password) if password is not None else b""
        # Another password, or another marker if there is no password, ends the sessions of earlier runs.
        identity = self._password if password is not None else f"{round} {marker}".encode("utf-8", "replace")
        self._cookies = _serializer(self._derived(b"session", identity), now)
        self._ended: set[str] = set()
        secure = "__Host-" if https else ""
        self.cookie, self.login_cookie = (f"{secure}viva-{name}-{port}" for name in ("review", "login"))
        self.token = None if password is not None else _text(self._derived(b"token"))

    def allows_host(self, host: str) -> bool:
        """Return whether the Host header is allowed; a name that an attacker points to this machine is not."""
        return self._hosts is None or host.lower() in self._hosts

    def is_token(self, token: str) -> bool:
        """Return whether this is the token of the address."""
        return self.token is not None and same(token, self.token)

    def is_password(self, password: str) -> bool:
        """Return whether this is the password; takes tenths of a second by design (scrypt)."""
        return self.needs_password and hmac.compare_digest(self._digest(password), self._password)

    def begin(self, marker: str | None = None, round: int | None = None) -> Session:
        """Create a session, by default for the person who ran the command."""
        id = secrets.token_urlsafe(16)
        return Session(
            self._marker if marker is None else marker,
            self._round if round is None else round,
            _text(self._derived(b"csrf", id.encode())),
            id,
            int(self._now()),
        )

    def end(self, session: Session) -> None:
        """Refuse the session from now on, including copies of its cookie."""
        self._ended.add(session.id)

    def session(self, cookies: str) -> Session | None:
        """Return the session of a Cookie header; None if it is missing, forged, cut, expired or ended."""
        signed = cookie_named(self.cookie, cookies)
        if len(signed) > _COOKIE_CHARACTERS:
            return None
        try:
            fields, issued = self._cookies.loads(signed, max_age=LIFETIME_S, return_timestamp=True)
        except (BadData, UnicodeError):
            return None
        if fields["id"] in self._ended:
            return None
        csrf = _text(self._derived(b"csrf", fields["id"].encode()))
        return Session(fields["marker"], fields["round"], csrf, fields["id"], int(issued.timestamp()))

    def set_cookie(self, session: Session) -> str:
        """Return the Set-Cookie header of a session."""
        fields = {"marker": session.marker, "round": session.round, "id": session.id}
        return self.header(self.cookie, str(self._cookies.dumps(fields)), LIFETIME_S)

    def renewed(self, session: Session) -> Session | None:
        """Return the session with the present time; None if its cookie is recent."""
        now = int(self._now())
        return replace(session, issued=now) if now - session.issued > RENEWED_S else None

    def header(self, name: str, value: str, seconds: int) -> str:
        """Return a Set-Cookie header; 0 seconds delete the cookie."""
        secure = "; Secure" if self.https else ""
        return f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"

    def login_csrf(self, nonce: str) -> str:
        """Return the token that the sign-in form must send; the nonce is in a separate cookie."""
        return _text(self._derived(b"login", nonce.encode("utf-8", "replace")))

    def _derived(self, purpose: bytes, of: bytes = b"") -> bytes:
        return hmac.digest(self._key, b"viva review 1 " + purpose + b"\0" + of, "sha256")

    def _digest(self, password: str) -> bytes:
        text = unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
        # Not the text itself: scrypt uses it as the key of an HMAC, which ignores zero bytes at its end.
        return hashlib.scrypt(self._derived(b"password", text), salt=self._derived(b"salt"), n=2**14, r=8, p=1)


def _serializer(key: bytes, now: Callable[[], float]) -> URLSafeTimedSerializer:
    class Signer(TimestampSigner):
        def get_timestamp(self) -> int:
            return int(now())

    methods = {"digest_method": hashlib.sha256, "key_derivation": "hmac"}
    return URLSafeTimedSerializer(key, salt=b"viva review session", signer=Signer, signer_kwargs=methods)


def marker_of(text: str) -> str | None:
    """Normalize a marker's name; return None if it is empty, too long, or contains unprintable characters."""
    name = unicodedata.normalize("NFC", " ".join(text.split()))
    return name if 1 <= len(name) <= NAME_CHARACTERS and name.isprintable() else None


def same(given: str, expected: str) -> bool:
    """Return whether two texts are equal, in a time that does not reveal where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


def cookie_named(name: str, cookies: str) -> str:
    """Return the first cookie of a name in a Cookie header; empty if there is none."""
    pairs = (pair.strip().partition("=") for pair in cookies.split(";"))
    return next((value for found, _, value in pairs if found == name), "")


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")  # terminals leave padding out of links
