"""Names of what was fetched: the id of each student in the roster, the folders of teams, and Canvas's file names."""

from collections.abc import Iterable, Sequence
from typing import Final

from viva.plugins.cohorts.exports.names import clean_text, normalize_id, squeeze_name
from viva.plugins.cohorts.lms.platform import Account, RemoteSubmission
from viva.sandbox.guest.loading.student_files import is_not_the_work
from viva.submissions.safe_names import MAX_BYTES, make_safe_component, normalize_component

_KINDS: Final = ("sis", "idnumber", "login", "email", "canvas", "user")
"""Identifiers in the order in which they are preferred as the id of the course."""
_MOST_NAME: Final = 40
"""Bytes of a person's name in the name of a file."""


def student_ids(accounts: Sequence[Account]) -> dict[int, str]:
    """Return the id of each student, by the platform's number of the person.

    All ids are of one kind, so that the number of one student is never another student's of another kind. It is a kind
    that everyone has, that tells everyone apart, and that can name a folder.
    """
    for kind in _KINDS:
        ids = [clean_text(account.identifiers.get(kind, "")) for account in accounts]
        distinct = {normalize_component(normalize_id(id_)) for id_ in ids}
        if len(distinct) == len(accounts) and all(map(_names_a_folder, ids)):
            return {account.number: id_ for account, id_ in zip(accounts, ids, strict=True)}
    return {account.number: f"user-{account.number}" for account in accounts}


def team_names(found: Iterable[RemoteSubmission], ids: Iterable[str]) -> dict[int, str]:
    """Return the name of the folder of each team, by its number; no two are alike, and none is a student's id."""
    taken = {normalize_component(normalize_id(id_)) for id_ in ids}
    names: dict[int, str] = {}
    for each in found:
        if each.account is not None or each.group in names:
            continue
        wished = make_safe_component(clean_text(each.label).replace(",", " "))
        name = wished if normalize_component(normalize_id(wished)) not in taken else f"{wished} team-{each.group}"
        names[each.group] = name
        taken.add(normalize_component(normalize_id(name)))
    return names


def canvas_name(submission: RemoteSubmission, account: Account, file: tuple[str, int]) -> str:
    """Return the name that a file has in Canvas's download: `lovelaceada_LATE_1234_5678_solution.py`.

    The part in front is never empty and never `anon`: without it, digits in the name of the file could be taken for the
    number of another person.

    Args:
        submission: what the file is a part of.
        account: who submitted it.
        file: a safe name, and the number of the attachment; 0 for text that was entered.
    """
    name, number = file
    who = squeeze_name(account.sort_name or account.name).encode()[:_MOST_NAME].decode("utf-8", "ignore")
    if not who or who == "anon":
        who = f"student{who}"
    parts = [who, *(["LATE"] if submission.late else []), str(account.number), *([str(number)] if number else []), name]
    return "_".join(parts)


def _names_a_folder(id_: str) -> bool:
    return make_safe_component(id_) == id_ and len(id_.encode()) < MAX_BYTES and not is_not_the_work(id_)
