"""The text measures in the catalogue that the command line prints."""

import json

from vecuq.measures import compositions_of, find_measures, list_measures
from vecuq.transport import MAX_COLUMNS


def test_the_catalogue_has_a_line_for_every_text_measure(run):
    lines = [line.split()[0] for line in run("measures").stdout.splitlines() if line.split()]
    for name in (*list_measures()["text"], *compositions_of("text")):
        assert lines.count(f"text.{name}") == 1


def test_the_catalogue_as_json_says_what_each_text_measure_needs(run):
    told = json.loads(run("measures", "--json").stdout)
    assert tuple(found["name"] for found in told["text_measures"]) == list_measures()["text"]
    assert {found["modality"] for found in told["text_measures"]} == {"text"}
    assert all(found["needs"] for found in told["text_measures"])
    assert told["text_compositions"]["cocoa"][-1] == "msp"


def test_a_name_is_understood_as_the_catalogue_prints_it():
    assert find_measures(["text.msp"], modality="text") == find_measures(["msp"], modality="text")


def test_every_composition_but_the_list_of_before_can_be_fitted():
    sizes = {name: len(find_measures([name], modality="text")) for name in compositions_of("text")}
    assert sizes.pop("classic") == 18
    assert max(sizes.values()) <= MAX_COLUMNS
