"""What a user is told about a mistake: one sentence, with the nearest valid choice."""

from collections.abc import Iterable
from difflib import get_close_matches


class BadInput(ValueError):
    """A mistake of the user's.  The message is complete: what, where, what is allowed."""

    def _render_traceback_(self) -> list[str]:
        """In a notebook, show the sentence and no traceback."""
        return [f"{type(self).__name__}: {self}"]


class BuildFailed(RuntimeError):
    """A stage of the report's build failed; the message says which and why."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean a, b?"`` or a short list of what exists."""
    names = {name.lower(): name for name in sorted(known) if name != word}
    folded = str(word).lower()
    close = get_close_matches(folded, names, n=3, cutoff=0.5)
    if folded:
        within = [name for name in names if folded in name and name not in close]
        close += within[: 3 - len(close)]
    if close:
        return f"; did you mean {' or '.join(names[name] for name in close)}?"
    first = ", ".join(list(names.values())[:8])
    return f"; known: {first}{' ...' if len(names) > 8 else ''}"
