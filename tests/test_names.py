"""Names of outside measurements lead to records, and to no other record than their shapes allow."""

import pytest
import yaml

from inferecon.files import DATA
from inferecon.records import ids, load

TABLE = yaml.safe_load((DATA / "truth/names.yaml").read_text(encoding="utf-8"))
KINDS = ("models", "hardware")
ENTRIES = [(kind, name, entry) for kind in KINDS for name, entry in TABLE[kind].items()]


def normal(name):
    """Normal form of a name, as the head of the table tells it."""
    words = name.lower().rsplit("/", 1)[-1].replace(" ", "-").replace("_", "-").split("-")
    while len(words) > 1 and words[0] in TABLE["lead"]:
        words = words[1:]
    words = words[:1] + [word for word in words[1:] if word not in TABLE["drop"]]
    return "-".join([TABLE["spell"].get(words[0], words[0]), *words[1:]])


def record_of(kind, name):
    form = normal(name)
    entry = TABLE[kind].get(form)
    return entry["record"] if entry else form if form in ids(kind) else None


@pytest.mark.parametrize(("kind", "name", "entry"), ENTRIES, ids=lambda part: str(part)[:40])
def test_a_name_leads_to_a_record(kind, name, entry):
    assert normal(name) == name
    assert load(kind, entry["record"]) and name not in ids(kind)
    assert entry.keys() <= {"record", "same"} and entry.get("same", "said").strip()


@pytest.mark.parametrize("kind", KINDS)
def test_every_record_is_found_by_its_own_name(kind):
    for id in ids(kind):
        assert record_of(kind, id) == id
        repository = load(kind, id).about.get("hf_id", id)
        assert record_of(kind, repository) is not None, repository


def test_a_name_is_freed_of_organisation_and_format():
    assert record_of("models", "meta-llama/Meta-Llama-3-8B-Instruct") == "llama-3.1-8b"
    assert record_of("models", "nvidia/Llama-3.3-70B-Instruct-FP8") == "llama-3.1-70b"
    assert record_of("models", "google/gemma-3-27b-it") == "gemma-3-27b"
    assert record_of("models", "mistralai/Mistral-Large-Instruct-2407") == "mistral-large-2407"
    assert record_of("hardware", "NVIDIA GH200 480GB") == "gh200-96gb"
    assert record_of("hardware", "H100-SXM-80GB") == "h100-sxm"
