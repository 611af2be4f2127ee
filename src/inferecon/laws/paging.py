"""How much of a cache is lost to whole pages?"""

from sympy import ceiling

from .. import symbols as s
from ..law import Eq, Law

PAGE_BYTES = Law(
    "PAGE-BYTES",
    Eq(
        s.page_bytes,
        ceiling(s.context / s.page_tokens) * s.page_tokens * s.kv_bytes_per_token,
    ),
    "whole pages; every layer keeps all tokens",
    "kwon2023, sec. 4.1",
)
PAGE_WASTE = Law(
    "PAGE-WASTE",
    Eq(s.page_waste, (s.page_tokens - s.one_token) / 2),
    "the last page has from no to all but one of its places free, each number as likely",
    "derived",
)
PAGE_SHARE = Law(
    "PAGE-SHARE",
    Eq(s.page_share, s.page_waste / (s.context + s.page_waste)),
    "what is lost over what is kept and lost, at the mean",
    "derived",
)

LAWS = [law for law in list(globals().values()) if isinstance(law, Law)]
