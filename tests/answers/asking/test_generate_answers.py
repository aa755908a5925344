"""The script that lets models answer for the text study, as far as it goes without a model."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def study(monkeypatch):
    if not (ROOT / "studies").is_dir():
        pytest.skip("the studies are not beside the tests")
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    from studies import generate_answers

    return generate_answers


def test_a_line_of_the_data_ends_at_a_newline_only(study, tmp_path):
    odd = "a\u2028b\u0085c\x0cd"
    rows = [{"source": odd, "target": odd}, {"source": "e", "target": "f"}]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (tmp_path / "multi30k_test2016_de_en.jsonl").write_text(text, "utf-8")
    assert [row["question"] for row in study.translation(tmp_path)] == [odd, "e"]
    rows = [{"question": odd, "answer": [odd]}]
    (tmp_path / "nq_open_dev.jsonl").write_text(json.dumps(rows[0], ensure_ascii=False) + "\n", "utf-8")
    assert [row["question"] for row in study.open_questions(tmp_path)] == [odd + "?"]
