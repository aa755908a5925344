"""The quick version: a client that is only shaped like OpenAI's, so that no package is needed."""

from types import SimpleNamespace

from vecuq.adapters import JudgedClient


def client_of(texts, seen):
    given = iter(texts)

    def create(**request):
        seen.append(request)
        return {"choices": [{"message": {"content": next(given)}} for _ in range(request.get("n", 1))]}

    return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))


def test_any_client_with_chat_completions_is_judged_as_the_answers_themselves_are(judge):
    asked = {"model": "m", "messages": [{"role": "user", "content": "Capital of France?"}]}
    texts = ["Paris", *["Paris"] * 5, *["Lyon"] * 3]
    seen = []
    reply, verdict = JudgedClient(client_of(texts, seen), judge, samples=8, temperature=0.7).create(**asked)
    expected = judge("Paris", samples=texts[1:], question="Capital of France?")
    assert reply["choices"][0]["message"]["content"] == "Paris"
    assert (verdict.uncertainty, verdict.p_wrong, verdict.why) == (expected.uncertainty, expected.p_wrong, expected.why)
    assert seen == [asked, {**asked, "n": 8, "temperature": 0.7}]
