"""Where and how long: the grid of a country, however it is named, and the hours of a month."""

from .errors import BadInput, nearest
from .records import ids, load

MONTH = 365.2425 * 24 / 12  # hours, the mean of the calendar
# ISO 3166 has a code of two letters for what the records name by three.
TWO = dict(
    pair.split(":")
    for pair in (
        "ae:are au:aus at:aut be:bel br:bra ca:can ch:che cn:chn de:deu dk:dnk es:esp fi:fin "
        "fr:fra gb:gbr id:idn in:ind ie:irl is:isl il:isr it:ita jp:jpn kr:kor my:mys nl:nld "
        "no:nor pl:pol pt:prt sa:sau sg:sgp se:swe tw:twn us:usa za:zaf"
    ).split()
)


def grid(text: str) -> str:
    """Return the id of a grid from its id, its country's name, or a code of two letters."""
    low = text.strip().lower()
    low = TWO.get(low, low)
    known = ids("grids")
    if low in known:
        return low
    named = [id for id in known if load("grids", id).name.lower() == low]
    if named:
        return named[0]
    names = [*known, *TWO, *(load("grids", id).name for id in known)]
    raise BadInput(f"--grid: no grid {text!r}{nearest(text, names)}")
