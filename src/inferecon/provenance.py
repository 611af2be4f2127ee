"""How a recorded value is known: measured, stated by its vendor, computed, or verified by nobody.

A record says where a value was read, and its source says in words what it is.  ``VENDOR`` and
``MEASURED`` name those words, source by source: what a source does not say of itself is not
claimed here, and such a value has no mark.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from .numbers import Known
from .records import UNVERIFIED, Fact, Offer, Record

COMPUTED = "derived"  # the source of arithmetic on other facts
SAYS_MEASURED = re.compile(r"\bmeasured\b", re.IGNORECASE)


class Said(NamedTuple):
    """Words of a source by which it says what its values are; ``of`` is whose devices alone."""

    words: str
    of: str = ""


# The vendor itself, or a source that says that it copies the vendor.
VENDOR = {
    "aic": Said("verbatim Hugging Face config.json copies"),
    "aicsys": Said("NVIDIA", "nvidia"),
    "alphabet_10k": Said("annual report"),
    "amazon_10k": Said("annual report"),
    "amx": Said("citing Intel", "intel"),
    "aws_pue": Said("AWS sustainability page"),
    "aws_wue": Said("AWS sustainability page"),
    "deepep": Said("official"),
    "dla": Said("NVIDIA/", "nvidia"),
    "ds41cfg": Said("official DeepSeek-V4.1-Flash config.json"),
    "dsv2": Said("official"),
    "dsv3": Said("official"),
    "dsv32": Said("official"),
    "equinix_pue": Said("Equinix, published"),
    "gcp": Said("docs.cloud.google.com", "google"),
    "glm": Said("official"),
    "google_pue": Said("Google environmental report"),
    "gptoss": Said("official"),
    "gpuopen": Said("(AMD)", "amd"),
    "hotaisle_list": Said("price list"),
    "intelhc": Said("Intel Gaudi slides", "intel"),
    "kimi": Said("official"),
    "lambda_list": Said("price list"),
    "llmsizer": Said("list prices"),
    "meta_pue": Said("Meta sustainability report"),
    "microsoft_10q": Said("form 10-Q"),
    "microsoft_pue": Said("Microsoft, published"),
    "microsoft_wue": Said("Microsoft, published"),
    "mlc": Said("HF config dictionaries"),
    "mm1": Said("official"),
    "modal_list": Said("price list"),
    "msmod": Said("Huawei", "huawei"),
    "nccl": Said("NVIDIA/nccl"),
    "neuron": Said("aws-neuron/", "aws"),
    "nvdev": Said("developer.nvidia.com", "nvidia"),
    "nvfp4blog": Said("NVIDIA developer blog", "nvidia"),
    "nvidia_pcf": Said("NVIDIA Product Carbon Footprint"),
    "pvcpage": Said("after ark.intel.com", "intel"),
    "replicate_list": Said("price list"),
    "rocm": Said("(AMD)", "amd"),
    "runpod_list": Said("price list"),
    "s3_express": Said("Amazon S3"),
    "s3_price": Said("price list"),
    "sn40lhc": Said("SambaNova slides", "sambanova"),
    "stas": Said("each row cites the vendor page"),
    "titan": Said("cites vendor datasheets"),
    "zexron": Said("AMD table", "amd"),
}
# Who measured or counted what is cited.
MEASURED = {
    "conserve": Said("nvidia-smi"),
    "latif2025": Said("Measurements"),
    "own_h200": Said("own measurement"),
    "serial": Said("measured"),
    "spot_traces": Said("counted by us"),
}
MARKS = {
    "measured": Known("✓", "measured"),
    "vendor": Known("†", "vendor's figure"),
    "derived": Known("≈", "computed from other facts"),
    "unsourced": Known("?", "nobody verified it"),
    "assumed": Known("", "assumed, for the reason given"),
    "published": Known("", "published; the source does not say who measured or stated it"),
}


def known(record: Record, key: str) -> str:
    """Return the word of ``MARKS`` for a fact of a record.

    Several sources of a fact agree on its value, so one that measured it, or is the vendor, is
    enough.  An assumption is a choice from several values, so all must be.
    """
    fact = record.facts[key]
    if not fact.verified:
        return "unsourced"
    if key.startswith("measured_") or SAYS_MEASURED.match(fact.where):
        return "measured"
    enough = all if fact.why else any
    if enough(source in MEASURED for source in fact.source):
        return "measured"
    if enough(_of_vendor(source, record) for source in fact.source):
        return "vendor"
    if fact.source == [COMPUTED]:
        return "derived"
    return "assumed" if fact.why else "published"


def known_offer(record: Record, offer: Offer) -> str:
    """Return the word of ``MARKS`` for a price; a model of costs is no price of a vendor."""
    if offer.source == UNVERIFIED:
        return "unsourced"
    return "vendor" if _of_vendor(offer.source, record) else "published"


def _of_vendor(source: str, record: Record) -> bool:
    said = VENDOR.get(source)
    return said is not None and said.of in ("", record.about.get("vendor"))


def marked(word: str) -> str:
    """Return mark and words of how a value is known; without a mark, nothing."""
    mark, says = MARKS[word]
    return f"{mark} {says}" if mark else ""


def counted(words: Iterable[str]) -> list[str]:
    """Say how many of some values have each mark, in the order of ``MARKS``."""
    words = list(words)
    return [
        f"{words.count(word)} {marked(word)}" for word in MARKS if word in words and marked(word)
    ]


def described(fact: Fact, word: str) -> str:
    """Return a value as written, with the mark of how it is known."""
    mark = marked(word)
    return f"{fact.value}" + (f" {mark}" if mark else "")
