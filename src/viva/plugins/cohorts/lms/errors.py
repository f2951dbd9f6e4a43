"""Errors of a platform's interface; the text of each is one sentence and never holds the token.

LmsError              one request failed: the next student may still be served
├── NotAllowed        the platform refuses the token: no request can succeed
└── Unreachable       no complete answer came
"""

from viva.model.errors import UsageError


class LmsError(UsageError):
    """The platform refused a request, or gave an answer that viva does not understand."""


class NotAllowed(LmsError):
    """The platform refuses the token."""


class Unreachable(LmsError):
    """No complete answer came from the platform."""
