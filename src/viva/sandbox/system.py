"""What the operating system offers, found by trying and never by the system's name.

No other module decides by the platform, so that a test can remove each feature here. The code in the box, which
imports nothing of viva, checks in the same way for what it needs.
"""

import os
import signal
from typing import Final

INHERITS_DESCRIPTORS: Final = hasattr(os, "fork")
"""Whether a new process can inherit open descriptors by number; on Windows it inherits only standard streams."""
FORKS_SAFELY: Final = hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")
"""Whether boxes come from a fork server: it needs descriptors of processes, which only Linux has. On macOS a process
that has loaded libraries must not fork."""
TELLS_OF_HANGING_UP: Final = FORKS_SAFELY
"""Whether `poll` reports that the other end of a socket was closed while nothing is read; on Linux it does."""
OPENS_BELOW_FOLDERS: Final = (
    os.open in os.supports_dir_fd and os.listdir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
)
"""Whether a file can be opened by its name in an open folder while the system refuses links."""
LOCKS_FOLDERS: Final = INHERITS_DESCRIPTORS
"""Whether a folder can be opened and locked, so that an unlocked one is known to be abandoned."""
STORES_ANY_NAME: Final = INHERITS_DESCRIPTORS
"""Whether a file may have any name; Windows allows fewer, see sandbox/guest/loading/storable_names.py."""
NUMBERS_USERS: Final = hasattr(os, "geteuid")
"""Whether users have numbers, of which 0 is root."""
AS_BYTES: Final[int] = getattr(os, "O_BINARY", 0)
"""Windows would change line ends otherwise."""
NOT_INHERITED: Final[int] = getattr(os, "O_CLOEXEC", 0)
NO_LINK: Final[int] = getattr(os, "O_NOFOLLOW", 0)
