"""The number format on record that a ``config.json`` says its weights are stored in.

The page has the same rules in ``quantised.mjs``, and a test reads the same files on both sides.
"""

from typing import Any

# What a file says of its quantisation, and the format on record that stores weights so.
FORMATS = {
    "fp8": "fp8",
    "fbgemm_fp8": "fp8",
    "mxfp4": "mxfp4",
    "modelopt, FP8": "fp8",
    "modelopt, NVFP4": "nvfp4",
    "gptq, 4 bits": "int4-gptq",
    "gptq, 4 bits, asymmetric": "int4-awq",
    "gptq, 8 bits": "int8-w8a16",
    "awq, 4 bits": "int4-awq",
    "awq, 4 bits, symmetric": "int4-gptq",
    "bitsandbytes, 4 bits, nf4": "nf4",
    "bitsandbytes, 4 bits, nf4, twice": "nf4-dq",
    "compressed-tensors, int, 4 bits": "int4-gptq",
    "compressed-tensors, int, 4 bits, asymmetric": "int4-awq",
    "compressed-tensors, int, 4 bits in groups of 32, experts alone": "int4-g32",
    "compressed-tensors, int, 8 bits": "int8-w8a16",
    "compressed-tensors, int, 8 bits, activations too": "int8-w8a8",
    "compressed-tensors, float, 8 bits": "fp8",
    "compressed-tensors, float, 8 bits, activations too": "fp8",
    "compressed-tensors, float, 4 bits in groups of 16": "nvfp4",
    "compressed-tensors, float, 4 bits in groups of 16, activations too": "nvfp4",
    "compressed-tensors, float, 4 bits in groups of 32": "mxfp4",
}
GROUPED = {"int4-gptq": 128, "int4-awq": 128, "int8-w8a16": -1}  # weights of a scale; -1: a row
LETTERS = 40  # of a file's own word


def format_of(config: dict[str, Any], native: str) -> tuple[str, str]:
    """Return the format of the weights, and a sentence on where it comes from.

    Without a rule for the quantisation it is the format of the tensors that are not quantised.
    """
    inner = config.get("text_config")
    both = [config, inner if isinstance(inner, dict) else {}]
    known = [x for x in (one.get("quantization_config") for one in both) if isinstance(x, dict)]
    if not known:
        return native, f"weights in {native}, as its config.json has them"
    how = known[0]
    says, group = _said(how)
    if (found := FORMATS.get(says)) is None:
        return native, (
            f"the quantisation of its config.json ({says}) was not read, so weights are taken in "
            f"{native}"
        )
    if group is not None and group != GROUPED.get(found, group):
        groups = "a row" if group == -1 else f"groups of {group}"
        return found, (
            f"weights in {found}, the nearest format on record to that of its config.json "
            f"({says}, in {groups})"
        )
    return found, f"weights in {found}, as its config.json has them"


def _said(how: dict[str, Any]) -> tuple[str, int | None]:
    """Return what a file says of its quantisation, and how many weights share a scale."""
    method = _word(how.get("quant_method"))
    if method == "modelopt":
        return f"{method}, {_word(how.get('quant_algo'))}", None
    if method == "bitsandbytes":
        if how.get("load_in_4bit") is not True:
            return method, None
        twice = ", twice" if how.get("bnb_4bit_use_double_quant") is True else ""
        return f"{method}, 4 bits, {_word(how.get('bnb_4bit_quant_type'))}{twice}", None
    if method == "compressed-tensors":
        return _compressed(method, how)
    bits = _count(how.get("bits", how.get("w_bit")))
    if bits is None:
        return method, None
    skew = ", asymmetric" if how.get("sym") is False else ""
    skew = ", symmetric" if how.get("zero_point") is False else skew
    group = _count(how.get("group_size", how.get("q_group_size")))
    return f"{method}, {bits} bits{skew}", group


def _compressed(method: str, how: dict[str, Any]) -> tuple[str, int | None]:
    groups = how.get("config_groups")
    groups = list(groups.values()) if isinstance(groups, dict) else []
    if len(groups) != 1 or not isinstance(groups[0], dict):
        return f"{method}, {len(groups)} groups", None
    weights = groups[0].get("weights")
    if not isinstance(weights, dict):
        return method, None
    kind, bits = _word(weights.get("type", "int")), _count(weights.get("num_bits"))
    group = _count(weights.get("group_size"))
    says = f"{method}, {kind}, {'?' if bits is None else bits} bits"
    if kind == "float" and bits == 4 and group is not None:
        says, group = f"{says} in groups of {group}", None
    left = how.get("ignore") if isinstance(how.get("ignore"), list) else []
    attention = any(isinstance(one, str) and "attn" in one for one in left)
    if kind == "int" and bits == 4 and group == 32 and attention:
        return f"{says} in groups of 32, experts alone", None
    skew = ", asymmetric" if weights.get("symmetric") is False else ""
    both = ", activations too" if isinstance(groups[0].get("input_activations"), dict) else ""
    return f"{says}{skew}{both}", group


def _word(value: object) -> str:
    return value[:LETTERS] if isinstance(value, str) else "unnamed"


def _count(value: object) -> int | None:
    """Return a whole number; -1 stands for a whole row."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if number and -1 <= value <= 1e6 and value == int(value) else None
