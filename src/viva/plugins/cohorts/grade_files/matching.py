"""Find the one row or account that is certainly a student's: by identifiers, never by name."""

from collections.abc import Iterable, Mapping, Sequence

from viva.model import Student


def plain(text: str) -> str:
    """Return an identifier without surrounding spaces and case."""
    return text.strip().casefold()


def unique_positions(identifiers: Iterable[tuple[int, str]]) -> dict[str, int]:
    """Map identifiers to positions; identifiers of several positions, and empty ones, are left out."""
    found: dict[str, list[int]] = {}
    for position, identifier in identifiers:
        if identifier:
            found.setdefault(identifier, []).append(position)
    return {identifier: positions[0] for identifier, positions in found.items() if len(positions) == 1}


def position_of(student: Student, by_kind: Iterable[tuple[Sequence[str], Mapping[str, int]]]) -> int | None:
    """Return the position of a student by the platform's own identifiers, else by the course's, if exactly one fits.

    Args:
        student: who is looked for.
        by_kind: for each kind of identifier, which of a student's it may equal (`id`, `email`, or a key of
            `Student.also`), and the positions.
    """
    known = {**student.also, "id": student.id, "email": student.email}
    by_platform: set[int] = set()
    by_course_id: set[int] = set()
    for keys, positions in by_kind:
        for key in keys:
            called = known.get(key, "")
            position = positions.get(plain(called)) if called else None
            if position is not None:
                (by_course_id if key == "id" else by_platform).add(position)
    fitting = by_platform or by_course_id
    return fitting.pop() if len(fitting) == 1 else None
