"""Inline: replies of four providers, as recorded, become verdicts; and the README's lines do what they say."""

import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from answered import PROVIDERS, facts, fitted, judge, recorded

import vecuq
from vecuq.answers import Answer, AnswerRecord, record_of

README = Path(__file__).parents[2] / "README.md"


def first_snippet():
    """Return the inline example of the README."""
    return re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)[0]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_inline_example_of_the_readme_runs_with_recorded_replies(provider, tmp_path, monkeypatch, capsys):
    judge().save(tmp_path / "bot.vecuq")
    monkeypatch.chdir(tmp_path)
    _, reply, replies = recorded(provider)
    names = {"reply": reply, "replies": replies}
    exec(compile(first_snippet(), "README.md", "exec"), names)  # noqa: S102 - our own text
    found = names["v"]
    assert np.isfinite(found.uncertainty)
    assert found.accept is not None
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_verdict_is_that_of_the_same_texts_and_log_probs_by_hand(provider):
    question, reply, samples = recorded(provider)
    found = judge()(reply, samples=samples)
    known = record_of(reply, samples=samples, question=question)
    said = known.greedy
    assert (said.text, len(known.samples)) == ("Goethe wrote it", 4)
    by_hand = AnswerRecord(
        id="", greedy=Answer(text=said.text, logprobs=said.logprobs, n_end=said.n_end), samples=known.samples
    )
    np.testing.assert_array_equal(facts(found), facts(judge()(by_hand)))
    assert set(found.missing) == (set() if provider == "openai_chat" else {"msp", "perplexity"})


def test_log_probs_of_the_reply_are_those_that_were_recorded():
    _, reply, samples = recorded("openai_chat")
    found = judge()(reply, samples=samples)
    assert found.values["msp"] == pytest.approx(0.02 + 0.001 + 0.1 + 0.05)
    assert found.values["consistency"] == pytest.approx(judge()("Goethe wrote it", TEXTS).values["consistency"])


TEXTS = ["Goethe wrote it"] * 3 + ["Schiller wrote it"]


class OfAnSdk(SimpleNamespace):
    """What SDKs return: an object that dumps itself."""

    def model_dump(self, **_):
        return vars(self)


@pytest.mark.parametrize("provider", ["openai_chat", "anthropic", "ollama"])
def test_an_object_of_an_sdk_is_judged_as_its_fields(provider):
    _, reply, samples = recorded(provider)
    dumped = [OfAnSdk(**one) for one in samples] if isinstance(samples, list) else OfAnSdk(**samples)
    found = judge()(OfAnSdk(**reply), samples=dumped)
    np.testing.assert_array_equal(facts(found), facts(judge()(reply, samples=samples)))


def test_samples_that_disagree_are_more_uncertain_than_samples_that_agree():
    doubt = {provider: judge()(*recorded(provider)[1:]).uncertainty for provider in ("anthropic", "texts", "ollama")}
    assert doubt["anthropic"] < doubt["texts"] < doubt["ollama"]


@pytest.mark.parametrize("reply", [7, [], object(), b"x", {"nothing": 1}])
def test_what_is_no_reply_is_refused_in_one_line(reply):
    with pytest.raises(vecuq.VecuqError) as error:
        judge()(reply)
    assert "\n" not in str(error.value)


def test_loading_runs_and_calls_nothing(tmp_path):
    def never(*_):
        raise AssertionError("called while loading")

    from vecuq.measures.text import TextSettings

    def embed(texts):
        return np.array([[float(len(text)), 1.0] for text in texts])

    made = fitted(120, settings=TextSettings(similarity="embedding", embed=embed), accuracy=0.5)
    made.save(tmp_path / "bot.vecuq")
    assert b"embed" in (tmp_path / "bot.vecuq").read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # another name than that of the file
        vecuq.load(tmp_path / "bot.vecuq", embed=never)
    again = vecuq.load(tmp_path / "bot.vecuq", embed=embed)
    np.testing.assert_array_equal(facts(again("a", TEXTS)), facts(made("a", TEXTS)))
