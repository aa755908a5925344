"""The options of `vecuq ask`: the key, the address, what belongs to which source."""

import pytest

from vecuq.answers import read_answers


def test_timeout_and_tries_are_the_user_s_to_choose(server, write_questions, tmp_path, refused, words):
    server.delay = 5
    out = tmp_path / "answers.jsonl"
    told = refused(*words(write_questions(1), out, "--timeout", "0.05", "--tries", "1"))
    assert "timed out: no whole reply within 0.05 s (--timeout). Tried 1 time." in told


def test_entropies_may_be_renormalised_and_the_answers_say_so(write_questions, tmp_path, run, words):
    out = tmp_path / "answers.jsonl"
    assert run(*words(write_questions(1), out, "--renormalise")).exit_code == 0
    (record,) = read_answers(out, strict=True)
    assert record.greedy.entropy_renormalised
    assert record.settings["renormalise"] is True
    assert record.settings["top_logprobs"] == 20


def test_a_key_comes_from_the_environment_and_is_not_written(
    server, write_questions, tmp_path, run, monkeypatch, words
):
    out = tmp_path / "answers.jsonl"
    monkeypatch.setenv("MY_KEY", "secret-word")
    assert run(*words(write_questions(1), out, "--api-key-env", "MY_KEY")).exit_code == 0
    assert server.requests[0][1]["Authorization"] == "Bearer secret-word"
    assert "secret-word" not in out.read_text()


@pytest.mark.parametrize("named", ["MY_KEY", "sk-given-by-mistake"])
def test_a_key_that_is_not_there_is_an_error_that_does_not_repeat_what_may_be_one(
    server, write_questions, tmp_path, refused, named, words
):
    told = refused(*words(write_questions(1), tmp_path / "a.jsonl", "--api-key-env", named))
    assert "--api-key-env must name an environment variable" in told
    assert named not in told
    assert not server.requests


@pytest.mark.parametrize("key", ["secret-word\nX: y", "secret-wörd", "secret-word x", "\n"])
def test_a_key_that_cannot_be_sent_is_refused_before_anything_is(server, write_questions, tmp_path, run, key, words):
    words_of_key = ("--api-key-env", "MY_KEY")
    out = tmp_path / "answers.jsonl"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MY_KEY", key)
        result = run(*words(write_questions(1), out, *words_of_key))
    assert result.exit_code == 1
    assert "The key in --api-key-env must be one word" in result.stderr
    assert "secret" not in result.output
    assert not server.requests


def test_a_key_may_end_with_the_end_of_its_line(server, write_questions, tmp_path, run, monkeypatch, words):
    monkeypatch.setenv("MY_KEY", "secret-word\n")
    result = run(*words(write_questions(1), tmp_path / "answers.jsonl", "--api-key-env", "MY_KEY"))
    assert result.exit_code == 0
    assert server.requests[0][1]["Authorization"] == "Bearer secret-word"


@pytest.mark.parametrize("url", ["http://[::1", "http://localhost/ü", "http://me:pass@localhost/v1", "nowhere"])
def test_an_address_that_cannot_be_asked_is_one_line(write_questions, tmp_path, refused, url):
    told = refused("ask", write_questions(1), "--model", "tiny", "--url", url, "-o", tmp_path / "a.jsonl")
    assert "error: --url must" in told
    assert url not in told


@pytest.mark.parametrize(
    "wrong", [("--samples", "-1"), ("--temperature", "0"), ("--template", "no place"), ("--template", "@nowhere.txt")]
)
def test_settings_that_can_never_be_right_are_wrong_usage(write_questions, tmp_path, run, wrong, words):
    result = run(*words(write_questions(1), tmp_path / "answers.jsonl", *wrong))
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("--max-tokens", "0"), "--max-tokens must be at least 1"),
        (("--seed", "-1"), "--seed must be at least 0"),
        (("--template", "why"), "--template must contain {question}"),
        (("--jobs", "0"), "--concurrency must be from 1 to 999, -1 for as many as cores, or auto; got 0"),
        (("--concurrency", "many"), "--concurrency must be from 1 to 999, -1 for as many as cores, or auto; got many"),
        (("--concurrency", "9" * 5_000), "--concurrency must be from 1 to 999"),
        (("--key-header", ""), "--key-header must be the name of a header"),
        (("--confidence", "sure"), "--confidence must be some of p_true, verbalised, linguistic; got sure"),
        (("--confidence", "p_true", "--top-logprobs", "1"), "--confidence p_true needs --top-logprobs of at least 2"),
        (("--extra-body", "[1]"), "--extra-body must be a JSON object"),
        (("--extra-body", "{"), "--extra-body must be a JSON object"),
        (("--extra-body", '{"temperature": 1}'), "--extra-body must not have temperature; use --temperature"),
        (("--extra-body", '{"messages": []}'), "--extra-body must not have messages."),
        (("--api-version", "a b"), "--api-version must be a version"),
        (("--key-header", "a: b"), "--key-header must be the name of a header"),
        (("--key-header", "Host"), "--key-header must not be Host"),
        (("--max-cost", "1"), "--max-cost needs --price-input and --price-output"),
        (("--price-input", "-1"), "--price-input must lie in"),
        (("--no-greedy", "--samples", "0"), "--samples must be at least 1"),
        (("--timeout", "0"), "--timeout must lie in"),
        (("--renormalise", "--top-logprobs", "1"), "--renormalise needs --top-logprobs of at least 2"),
    ],
)
def test_errors_name_options_and_not_python_arguments(write_questions, tmp_path, run, given, line, words):
    result = run(*words(write_questions(1), tmp_path / "answers.jsonl", *given))
    assert result.exit_code in (1, 2)
    assert line in " ".join(result.stderr.replace("│", " ").split())


def test_a_template_may_come_from_a_file(server, write_questions, tmp_path, run, words):
    (tmp_path / "prompt.txt").write_text("Q: who?\nA: me\nQ: {question}\nA:\n")
    out = tmp_path / "answers.jsonl"
    run(*words(write_questions(1), out, "--template", f"@{tmp_path / 'prompt.txt'}", "--raw", "--stop", r"\n"))
    body = server.requests[0][2]
    assert body["prompt"] == "Q: who?\nA: me\nQ: what is 0\nA:"
    assert body["stop"] == ["\n"]


@pytest.mark.parametrize("model", ["gpt-4o-mini", "model.gguf"])
def test_without_an_address_nothing_is_asked_and_a_local_server_is_proposed(run, write_questions, tmp_path, model):
    result = run("ask", write_questions(1), "--model", model, "-o", tmp_path / "a.jsonl")
    assert result.exit_code == 2
    assert "--url" in result.stderr
    assert "llama-server" in result.stderr
    assert not (tmp_path / "a.jsonl").exists()
