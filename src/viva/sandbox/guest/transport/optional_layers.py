"""Isolation layers without which a box runs all the same: what its report says where one is missing."""

from __future__ import annotations

OPTIONAL_LAYERS = {
    "cgroup": "a limit on the memory of all processes together (a watchdog polls it instead)",
    "Landlock": "Landlock (Linux 5.13 or newer, enabled at boot)",
    "abstract sockets": "an isolation layer for abstract unix sockets of others (Landlock ABI 6, Linux 6.12)",
}
"""By the names that `viva doctor` uses."""
