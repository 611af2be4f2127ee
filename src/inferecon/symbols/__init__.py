"""Every symbol of the report, declared once: name, unit, LaTeX, meaning.

A law may use no other symbol, a record may use no other key, and the notation
page of the book is printed from ``GLOSSARY``.  A model without a part (experts,
a window, a recurrent mixer) has zero of it; a model with the part must state
all its facts.
"""

from .glossary import GLOSSARY, PARTS, SYMBOLS, Entry, declare, section  # noqa: F401, I001
from .architecture import *  # noqa: F403
from .deployment import *  # noqa: F403
from .results import *  # noqa: F403
from .service import *  # noqa: F403
from .holding import *  # noqa: F403
from .calibration import *  # noqa: F403
