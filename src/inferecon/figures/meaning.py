"""What a colour, a shape and a dash mean, in every chart of the report and in the explorer.

A hue of Okabe and Ito is a family of models, wherever a mark is a model; a shape is a class of
devices, wherever a mark is a device; filled is derived, hollow is predicted.  Two more groups of
hues, which no family has, are the phases of a request and the parts of a step.  Whatever else is
told apart has dashes, tones of ink and words, so that no colour ever means two things.
"""

import re

from ..records import load

# Okabe and Ito: told apart with any kind of colour vision, on white and on black.
PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A8A8A"]
# Families by how the family of a record begins; six colours tell apart, the rest share one.
STARTS = {
    "deepseek": "DeepSeek",
    "qwen": "Qwen",
    "llama": "Llama",
    "mistral": "Mistral",
    "gpt-oss": "gpt-oss",
    "gemma": "Gemma",
}
OTHERS = "others"
FAMILIES = dict(zip([*STARTS.values(), OTHERS], PALETTE, strict=True))
CLASSES = {
    "NVIDIA, HBM": "circle",
    "NVIDIA, GDDR": "triangle-up",
    "AMD Instinct": "square",
    "other accelerators": "diamond",
}
PREFILL, DECODE = "prefill", "decode"
PHASES = {PREFILL: "#6A3FA0", DECODE: "#B08AD9"}
WEIGHTS, CACHE, FLOP, LINKS, FULL = "weights", "cache", "arithmetic", "links", "full"
PARTS = {
    WEIGHTS: "#8F6134",
    CACHE: "#C23B55",
    FLOP: "#8B972A",
    LINKS: "#6B7A8F",
    FULL: "#B9B9B9",
}
INK, GREY = "currentColor", "#8A8A8A"  # ink is that of the page: dark on light, light on dark
TONES = [INK, GREY]
DASHES = [[1, 0], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4], [12, 3], [1, 2]]
# The bound of a device: a wall, which nothing passes; a second one where many are served.
BOUND, BOUND_FULL = "M-.13,-1H.13V1H-.13Z", "M-.5,-1H-.25V1H-.5ZM.25,-1H.5V1H.25Z"
# Shapes for what is no device: the last ones are drawn by us.
MARKS = [
    "cross",
    "triangle-down",
    "triangle-right",
    "M-1,-.7L-.7,-1L0,-.3L.7,-1L1,-.7L.3,0L1,.7L.7,1L0,.3L-.7,1L-1,.7L-.3,0Z",  # X
    "M0,-1.1L.3,-.3L1.1,0L.3,.3L0,1.1L-.3,.3L-1.1,0L-.3,-.3Z",  # a star of four
    "M-.8,-.8H.8L0,0L.8,.8H-.8L0,0Z",  # an hourglass
    "triangle-left",
    "M-1,-.3H1V.3H-1Z",  # a bar
]


def family(model: str) -> str:
    """Return the family of a model on record."""
    return family_of(load("models", model).about["family"])


def family_of(own: str) -> str:
    """Return the family that the name of a record's own family falls under."""
    return next((name for start, name in STARTS.items() if own.startswith(start)), OTHERS)


def device_class(hardware: str) -> str:
    """Return the class of a device on record."""
    about = load("hardware", hardware).about
    hbm, graphics, amd, others = CLASSES
    memory = about["memory_type"]
    if memory.startswith("HBM"):
        return {"nvidia": hbm, "amd": amd}.get(about["vendor"], others)
    return graphics if about["vendor"] == "nvidia" and memory.startswith("GDDR") else others


def colour_of(model: str) -> str:
    """Return the colour of a model's family."""
    return FAMILIES[family(model)]


def short_model(id: str) -> str:
    """Return the name of a model on record without what nobody needs to tell it apart."""
    name = load("models", id).name.replace("DeepSeek-R1-Distill-", "R1-")
    return re.sub(r"^NVIDIA-|-16E\b|-(instruct|it|bf16)\b.*", "", name, flags=re.IGNORECASE)


def short_device(id: str) -> str:
    """Return the name of a device on record without maker's line and size of memory."""
    name = load("hardware", id).name
    return re.sub(r"^(GeForce|Radeon|Instinct) | \(.*| Blackwell\b| \d+ GB$", "", name)


def inks(names: list[str]) -> list[str]:
    """Return a tone of ink for each of some names, which dashes or shapes tell apart."""
    return [TONES[n % len(TONES)] for n in range(len(names))]
