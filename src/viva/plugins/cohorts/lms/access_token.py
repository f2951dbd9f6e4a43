"""The token with which viva signs in: from the environment or the keyring, never stored and never shown."""

import contextlib
import html
import importlib
import json
import re
from collections.abc import Mapping
from typing import Final, final
from urllib.parse import quote

from viva.model.errors import UsageError

_MOST: Final = 4096
_REMOVED: Final = b"(token)"
SERVICE: Final = "viva"
"""The service under which the keyring has the tokens; the user name is the host."""


@final
class Token:
    """A secret that no message, traceback or log can show by accident."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def __repr__(self) -> str:
        return "Token(…)"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("A token is not written anywhere.")

    def reveal(self) -> str:
        """Return the secret, for the request that is about to be sent."""
        return self._secret

    def removed_from(self, data: bytes) -> bytes:
        """Return an answer of the platform without the secret, in whatever notation it repeats it."""
        secret = self._secret
        in_json = json.dumps(secret)[1:-1]
        forms = [secret, in_json, in_json.replace("/", "\\/"), html.escape(secret), quote(secret), quote(secret, "")]
        pattern = b"|".join(re.escape(form.encode()) for form in sorted(forms, key=len, reverse=True))
        return re.sub(pattern, _REMOVED, data, flags=re.IGNORECASE)


def find_token(platform: str, host: str, environment: Mapping[str, str]) -> Token:
    """Return the token for a platform from the environment, or else from the keyring, if that is installed.

    Args:
        platform: "canvas" or "moodle".
        host: the host of the platform, under which the keyring has the token.

    Raises:
        UsageError: there is none, or it cannot be one.
    """
    variable = f"VIVA_{platform.upper()}_TOKEN"
    secret = environment.get(variable, "").strip()
    where = variable
    if not secret:
        secret, where = (_of_keyring(host) or "").strip(), "the keyring"
    if not secret:
        raise UsageError(
            f"There is no token for {host}: set {variable}, or store it with `keyring set {SERVICE} {host}`."
        )
    if len(secret) > _MOST or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise UsageError(f"The token in {where} holds characters that no token has; copy it again.")
    return Token(secret)


def _of_keyring(host: str) -> str | None:
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    with contextlib.suppress(Exception):  # a locked or missing keyring has no token; its errors may hold anything
        found = keyring.get_password(SERVICE, host)
        return found if isinstance(found, str) else None
    return None
