"""What a user is told about a mistake: one sentence, with the nearest valid choice."""

from collections.abc import Iterable
from difflib import get_close_matches


class BadInput(ValueError):
    """A mistake of the user's.  The message is complete: what, where, what is allowed."""

    def _render_traceback_(self) -> list[str]:
        """In a notebook, show the sentence and no traceback."""
        return [f"{type(self).__name__}: {self}"]


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean a, b?"`` or a short list of what exists."""
    known = sorted(known)
    close = get_close_matches(str(word).lower(), known, n=3, cutoff=0.5)
    close += [k for k in known if str(word).lower() in k and k not in close][: 3 - len(close)]
    if close:
        return f"; did you mean {' or '.join(close)}?"
    return f"; known: {', '.join(known[:8])}{' ...' if len(known) > 8 else ''}"
