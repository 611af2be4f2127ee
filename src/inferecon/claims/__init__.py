"""The claims of the three source documents, each with the check that decides about it.

``data/claims/`` states what a document says, in our words, and what the check
compares; the verdict is computed here and never typed, but where a claim
cannot be computed at all it is marked as read.
"""

from .register import DOCUMENTS, TOPICS, Claim, Document, documents
from .verdicts import VERDICTS, Judged, differences, judge, judged

__all__ = [
    "DOCUMENTS",
    "TOPICS",
    "VERDICTS",
    "Claim",
    "Document",
    "Judged",
    "differences",
    "documents",
    "judge",
    "judged",
]
