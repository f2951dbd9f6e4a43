"""Where an assignment is on a platform, and the token with which viva signs in: never stored and never shown."""

import contextlib
import html
import importlib
import ipaddress
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final
from urllib.parse import parse_qs, quote, urlsplit

from viva.formats.escaping import line
from viva.model.errors import UsageError

_CANVAS: Final = re.compile(r"/courses/([0-9]{1,18})/assignments/([0-9]{1,18})(?:/.*)?")
_MOODLE: Final = re.compile(r"(?P<root>(?:/[\w.~-]+)*)/mod/assign/view\.php")
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_EXAMPLES: Final = {
    "canvas": "https://canvas.example.edu/courses/12/assignments/34",
    "moodle": "https://moodle.example.edu/mod/assign/view.php?id=56",
}
_MAX_TOKEN: Final = 4096
SERVICE: Final = "viva"
"""The service under which the keyring has the tokens; the user name is the host."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an assignment's page, as a browser shows it."""

    site: str
    """Scheme, host and the path at which the platform begins, without a slash at the end."""
    host: str
    number: int
    """Canvas: the assignment. Moodle: the course module."""
    course: int | None = None
    """Canvas: the course."""


def read_address(platform: str, text: str) -> Address:
    """Read the address of an assignment's page.

    Raises:
        UsageError: it is not such an address, or a token would be sent to it without encryption.
    """
    expected = f"expected is the address of the assignment's page, such as {_EXAMPLES[platform]}"
    try:
        parts = urlsplit(text.strip())
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        raise UsageError(f"{line(text)} is not an address; {expected}.") from None
    if parts.scheme not in ("https", "http") or not host or parts.username is not None or parts.password is not None:
        raise UsageError(f"The address must begin with https:// and a host; {expected}.")
    if parts.scheme == "http" and not is_loopback(host):
        raise UsageError(f"http://{line(host)} is not encrypted and would show your token to the network: use https.")
    site = f"{parts.scheme}://{parts.netloc}"
    numbers = parse_qs(parts.query).get("id", [])
    canvas, moodle = _CANVAS.fullmatch(parts.path), _MOODLE.fullmatch(parts.path)
    if platform == "canvas" and canvas:
        return Address(site, host, int(canvas[2]), int(canvas[1]))
    if platform == "moodle" and moodle and len(numbers) == 1 and _NUMBER.fullmatch(numbers[0]):
        return Address(site + moodle["root"], host, int(numbers[0]))
    raise UsageError(f"{line(text)}: {expected}.")


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


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

    def remove_from(self, data: bytes) -> bytes:
        """Return an answer of the platform without the secret, in whatever notation it repeats it."""
        secret = self._secret
        in_json = json.dumps(secret)[1:-1]
        forms = [secret, in_json, in_json.replace("/", "\\/"), html.escape(secret), quote(secret), quote(secret, "")]
        pattern = b"|".join(re.escape(form.encode()) for form in sorted(forms, key=len, reverse=True))
        return re.sub(pattern, b"(token)", data, flags=re.IGNORECASE)


def find_token(platform: str, host: str, environment: Mapping[str, str]) -> Token:
    """Return the token for a platform from the environment, or else from the keyring, if that is installed.

    Args:
        platform: "canvas" or "moodle".
        host: the host of the platform, under which the keyring has the token.
        environment: the environment variables.

    Raises:
        UsageError: no token was found, or what was found cannot be a token.
    """
    variable = where = f"VIVA_{platform.upper()}_TOKEN"
    secret: object = environment.get(variable, "").strip()
    if not secret:
        where = "the keyring"
        with contextlib.suppress(Exception):  # a missing or locked keyring has no token; its errors may hold anything
            secret = importlib.import_module("keyring").get_password(SERVICE, host)
    if not isinstance(secret, str) or not secret.strip():
        raise UsageError(
            f"There is no token for {host}: set {variable}, or store it with `keyring set {SERVICE} {host}`."
        )
    secret = secret.strip()
    if len(secret) > _MAX_TOKEN or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise UsageError(f"The token in {where} holds characters that no token has; copy it again.")
    return Token(secret)
