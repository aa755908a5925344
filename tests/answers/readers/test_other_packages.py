"""Formats of other packages, added through entry points."""

import json

import pytest

from vecuq import _check
from vecuq.answers import Answer, Format, Part, formats, kinds, read_answers, record_of
from vecuq.errors import SettingError, VecuqWarning


def read_notebook(fields, *, renormalise=False):
    return Part(answers=(Answer(text=fields["cell_output"]),), id=fields["cell"])


NOTEBOOK = Format(
    "notebook", "answers in cells", "`cell_output`", lambda fields: "cell_output" in fields, read_notebook
)


@pytest.fixture
def installed(monkeypatch):
    """Pretend that a package is installed that adds something to the formats."""

    def install(added):
        class Point:
            name = "added"

            def load(self):
                return added

        monkeypatch.setattr(_check, "entry_points", lambda group: [Point()] if group == "vecuq.readers" else ())
        formats.cache_clear()

    yield install
    formats.cache_clear()


def test_a_format_of_another_package_is_recognised_and_read_as_ours_are(installed, tmp_path):
    installed(NOTEBOOK)
    line = {"cell": "c1", "cell_output": "Paris", "label": 1}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line))
    (record,) = read_answers(path, strict=True)
    assert (record.id, record.greedy.text, record.meta["label"]) == ("c1", "Paris", 1)
    assert "notebook" in kinds()
    assert record_of(line).greedy.text == "Paris"
    assert [one.id for one in read_answers(path, kind="notebook")] == ["c1"]


def test_without_the_package_its_kind_is_not_known(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("{}")
    with pytest.raises(SettingError, match="kind must be one of"):
        read_answers(path, kind="notebook")


@pytest.mark.parametrize(
    "added", ["a text", Format("openai", "a second one", "?", lambda fields: False, read_notebook)]
)
def test_what_is_no_format_of_a_new_name_is_left_out_with_a_warning(installed, added):
    installed(added)
    with pytest.warns(VecuqWarning, match="is no Format of a new name"):
        assert formats()["openai"].about != "a second one"
