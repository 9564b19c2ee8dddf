"""What a user can cause, as types: each carries one line, a hint and an exit status.

Anything else that is raised is a bug and shows its traceback.
"""


class RecallError(Exception):
    """A failure to be shown as one line plus a hint.

    `message` says what is wrong, `hint` how to mend it ('' when there is nothing to say).
    `kind` names the class of failure in JSON output; `exit_code` is the process status.
    """

    kind = "error"
    exit_code = 4

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NothingFound(RecallError):
    """The question was understood and nothing matches it."""

    kind = "not_found"
    exit_code = 1


class Usage(RecallError):
    """Wrong arguments, or an id that several sessions share."""

    kind = "usage"
    exit_code = 2


class Refused(RecallError):
    """Not done because it could lose or double something."""

    kind = "refused"
    exit_code = 3


class Unavailable(RecallError):
    """Something outside recall is missing or does not answer."""

    kind = "unavailable"
    exit_code = 4


class Damaged(RecallError):
    """Data that should be readable is not."""

    kind = "damaged"
    exit_code = 5
