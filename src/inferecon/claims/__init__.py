"""The claims of the three source documents, each with the check that decides about it.

``data/claims/`` states what a document says, in our words, and what the check
compares; the verdict is computed here and never typed, but where a claim
cannot be computed at all it is marked as read.
"""

from .exhibits import Exhibit, exhibits  # noqa: F401
from .listing import as_data, as_text, one, selected  # noqa: F401
from .register import DOCUMENTS, TOPICS, Check, Claim, Document, Part, documents  # noqa: F401
from .verdicts import VERDICTS, Judged, Outcome, differences, judge, judged  # noqa: F401
from .workings import as_text as worked_out  # noqa: F401
from .workings import working  # noqa: F401
