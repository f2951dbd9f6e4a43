"""Paths on the platform: `/autograder`, as its documentation describes it, below a root that tests change."""

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from viva.model.errors import GraderError

SETTINGS: Final = "gradescope.json"
"""What the zip says about itself, at its root."""


@dataclass(frozen=True, slots=True)
class PlatformPaths:
    """The paths of one run."""

    root: Path = Path("/")

    @property
    def autograder(self) -> Path:
        """Return `/autograder`."""
        return self.root / "autograder"

    @property
    def source(self) -> Path:
        """Return the folder of the unpacked zip."""
        return self.autograder / "source"

    @property
    def course(self) -> Path:
        """Return the folder of the course, reduced to one assignment."""
        return self.source / "course"

    @property
    def submission(self) -> Path:
        """Return the folder of the student's submission."""
        return self.autograder / "submission"

    @property
    def metadata(self) -> Path:
        """Return the file that says who submitted, when, and what was submitted before."""
        return self.autograder / "submission_metadata.json"

    @property
    def results(self) -> Path:
        """Return the file that the platform reads in the end."""
        return self.autograder / "results" / "results.json"

    def close(self) -> list[str]:
        """Let only root read the course, the secret, the results, and what is known of the student.

        Returns:
            What could not be closed and is readable by every user, a phrase each.
        """
        open_ones = []
        self.results.parent.mkdir(parents=True, exist_ok=True)
        for path in (self.source, self.submission, self.results.parent, self.metadata):
            with contextlib.suppress(OSError):
                path.chmod(0o700 if path.is_dir() else 0o600)
            with contextlib.suppress(OSError):
                if path.stat().st_mode & 0o077:
                    open_ones.append(f"{path} can be opened by every user")
        with contextlib.suppress(OSError):
            (self.course / "secret").chmod(0o600)
        return open_ones


@dataclass(frozen=True, slots=True)
class PackedSettings:
    """The settings that the zip carries about itself."""

    assignment: str
    timeout_s: float
    rest_mib: int
    """Memory that examiner and fork server took when this was packed, without the student's program."""
    box_mib: int
    """Memory that a right submission took in addition."""

    @classmethod
    def read(cls, paths: PlatformPaths) -> Self:
        """Read the settings of the unpacked zip.

        Raises:
            GraderError: the file is missing or is not what was packed.
        """
        path = paths.source / SETTINGS
        try:
            given: dict[str, Any] = json.loads(path.read_bytes())
            return cls(
                assignment=str(given["assignment"]),
                timeout_s=float(given["timeout_s"]),
                rest_mib=int(given["rest_mib"]),
                box_mib=int(given["box_mib"]),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise GraderError(f"{path} is not what was packed ({error!r}); upload the zip again as it is.") from error

    def to_bytes(self) -> bytes:
        """Return the settings as they are packed."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__}, indent=1).encode() + b"\n"
