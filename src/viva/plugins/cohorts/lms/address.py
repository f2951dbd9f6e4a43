"""The address of an assignment's page on a platform, as a browser shows it."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit

from viva.formats.escaping import line
from viva.model.errors import UsageError

_CANVAS: Final = re.compile(r"/courses/([0-9]{1,18})/assignments/([0-9]{1,18})(?:/.*)?")
_MOODLE: Final = re.compile(r"(?P<root>(?:/[\w.~-]+)*)/mod/assign/view\.php")
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
EXAMPLES: Final = {
    "canvas": "https://canvas.example.edu/courses/12/assignments/34",
    "moodle": "https://moodle.example.edu/mod/assign/view.php?id=56",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where an assignment is."""

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
    expected = f"expected is the address of the assignment's page, such as {EXAMPLES[platform]}"
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
    if platform == "canvas":
        if found := _CANVAS.fullmatch(parts.path):
            return Address(site, host, int(found[2]), int(found[1]))
    else:
        numbers = parse_qs(parts.query).get("id", [])
        module = _MOODLE.fullmatch(parts.path)
        if module and len(numbers) == 1 and _NUMBER.fullmatch(numbers[0]):
            return Address(site + module["root"], host, int(numbers[0]))
    raise UsageError(f"{line(text)}: {expected}.")


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
