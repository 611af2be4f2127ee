"""Text of records on a page: data, never markup."""

import re


def plain(text: object) -> str:
    """Escape text for a MyST page: no markup, no HTML, no table bars, one line."""
    one_line = " ".join(str(text).split())
    return re.sub(r"([\\`*_{}\[\]<>|$#~^&!@:])", lambda m: f"&#{ord(m.group(1))};", one_line)
