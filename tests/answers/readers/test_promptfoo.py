"""Results of promptfoo: whole documents of several versions, and lines."""

import json

import pytest

from vecuq.answers import read_answers


def result(output="64", question="8 x 8?", provider="openai:gpt", passed=True, **more):
    return {
        "id": "cbf3e33a-a2aa-46bc-93b9-424263621aa4",
        "prompt": {"raw": f"Be brief. {question}", "label": "Be brief. {{question}}"},
        "vars": {"question": question},
        "provider": {"id": provider, "label": ""},
        "response": {"output": output, "tokenUsage": {}},
        "success": passed,
        "score": int(passed),
        "gradingResult": {"pass": passed, "score": int(passed), "reason": "r", "componentResults": []},
        "testCase": {"description": "product", "assert": [{"type": "equals", "value": "64"}]},
        **more,
    }


def write(tmp_path, whole, name="results.json"):
    (tmp_path / name).write_text(json.dumps(whole, indent=2))
    return tmp_path / name


@pytest.mark.parametrize("wrap", [lambda r: {"results": {"version": 3, "results": r}}, lambda r: {"results": r}])
def test_documents_of_both_versions_and_lines_give_the_same(tmp_path, wrap):
    rows = [result(), result("65", "8 x 9?", passed=False, error="Expected 72", failureReason=1)]
    found = list(read_answers(write(tmp_path, {"evalId": "e", "config": {}, **wrap(rows)}), strict=True))
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert list(read_answers(tmp_path / "r.jsonl", strict=True)) == found
    assert [(one.greedy.text, one.question, one.quality) for one in found] == [("64", "8 x 8?", 1), ("65", "8 x 9?", 0)]
    assert (found[0].model, found[0].references) == ("openai:gpt", ("64",))
    assert found[0].meta["description"] == "product"


def test_repeats_are_samples_and_other_providers_and_prompts_are_not(tmp_path):
    other = result("66") | {"prompt": {"raw": "Think. 8 x 8?"}}
    rows = [result(), result("65"), result("63", provider="other"), other]
    found = list(read_answers(write(tmp_path, {"results": rows}), strict=True))
    said = [[one.text for one in (*([r.greedy] if r.greedy else []), *r.samples)] for r in found]
    assert said == [["64", "65"], ["63"], ["66"]]
    assert [record.model for record in found] == ["openai:gpt", "other", "openai:gpt"]


def test_a_provider_that_failed_is_refused_with_its_message(tmp_path):
    failed = result(response={"error": "429 too many"}, error="API error: 429", failureReason=2)
    reader = read_answers(write(tmp_path, {"results": [failed, result()]}))
    assert len(list(reader)) == 1
    assert "the provider failed: 429 too many" in reader.problems[0]


def test_json_outputs_are_written_out_and_no_assertion_is_no_verdict(tmp_path):
    free = result({"city": "Paris"}, gradingResult={"pass": True, "score": 1, "reason": "No assertions"})
    bare = result("x", "other?", gradingResult=None, testCase={"vars": {}})
    first, second = read_answers(write(tmp_path, {"results": [free, bare]}), strict=True)
    assert (first.greedy.text, first.quality) == ('{"city": "Paris"}', None)
    assert second.quality is None
