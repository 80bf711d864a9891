"""What a person did that the program cannot follow, told in one sentence."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(ValueError):
    """A mistake in the input: names the offending value and the remedy.

    The command line prints the sentence and exits with status 2, without a traceback.
    """


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UserError:
    """The error for a name that is not in a list: it suggests the nearest one, else shows them all."""
    known = sorted(known)
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    remedy = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(known)}."
    return UserError(f"Unknown {kind} {name!r}: {remedy}")
