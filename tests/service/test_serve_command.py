"""`vecuq serve`: what it takes, what it refuses, and what it says."""

import io
import json
import os
import re
import socket
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from vecuq.cli import serving
from vecuq.cli.serving_options import named_models
from vecuq.errors import SettingError
from vecuq.service import LogSettings, ServeSettings, Started, StoreSettings, is_local, logs


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.delenv("VECUQ_API_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "300")


@pytest.fixture
def given(monkeypatch, run, saved):
    """Run the command with options, without serving; return the settings that it would serve with."""
    taken = []

    def take(settings, **how):
        taken.append((settings, how))
        return True

    monkeypatch.setattr("vecuq.service.serve", take)

    def invoke(*words):
        result = run("serve", saved["model"], *words)
        assert result.exit_code == 0, result.output
        return taken[-1]

    return invoke


def wrong_usage(run, *words):
    result = run("serve", *words)
    assert result.exit_code == 2, result.output
    return " ".join(result.stderr.replace("│", " ").split())


def test_without_options_it_serves_this_machine_alone_and_keeps_nothing(given, saved):
    settings, how = given()
    assert settings == ServeSettings({"model": saved["model"]})
    assert how["open_browser"] is False


def test_every_option_arrives(given, monkeypatch, tmp_path):
    monkeypatch.setenv("MY_KEY", "the-key-of-the-service")
    settings, how = given(
        *("--host", "10.0.0.1", "--port", 9000, "--workers", 3, "--grace", 5, "--reload-every", 0, "--open"),
        *("--api-key-env", "MY_KEY", "--allow-origin", "https://a.example", "--allow-origin", "http://b:1/"),
        *("--allow-host", "scores.example", "--certificate", "c.pem", "--certificate-key", "k.pem"),
        *("--store", tmp_path / "s.db", "--log", 0.5, "--keep-days", 7, "--keep-rows", 10, "--audit", 0.2),
        *("--max-body", 1, "--max-rows", 2, "--max-columns", 3, "--timeout", 4, "--max-waiting", 5),
        *("--log-format", "json", "--access-log", "all", "--log-level", "debug"),
    )
    assert (settings.host, settings.port, settings.workers, settings.grace) == ("10.0.0.1", 9000, 3, 5)
    assert settings.reload_every == 0
    assert settings.api_key == "the-key-of-the-service"
    assert settings.origins == ("https://a.example", "http://b:1")
    assert settings.hosts == ("scores.example",)
    assert (settings.certificate, settings.certificate_key) == (Path("c.pem"), Path("k.pem"))
    assert settings.store == StoreSettings(tmp_path / "s.db", 0.5, 7, 10, 0.2)
    limits = settings.limits
    assert (limits.body, limits.rows, limits.columns, limits.seconds, limits.waiting) == (2**20, 2, 3, 4, 5)
    assert settings.logs == LogSettings("json", "all", "debug")
    assert how["open_browser"] is True


def test_models_that_compare_answers_arrive_with_their_own_key(given, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "the-key-of-the-judge")
    words = ("--judge-url", "http://127.0.0.1:9/v1", "--judge-model", "m", "--model-key-env", "JUDGE_KEY")
    settings, _ = given(*words)
    assert list(settings.supplied) == ["judge"]
    assert settings.api_key is None


def test_the_key_comes_from_the_usual_variable_and_is_never_shown(given, monkeypatch):
    monkeypatch.setenv("VECUQ_API_KEY", "  the-key-of-the-service\n")
    settings, _ = given()
    assert settings.api_key == "the-key-of-the-service"
    assert "the-key" not in repr(settings)


def test_a_key_that_is_named_and_not_there_is_refused(run, saved, monkeypatch):
    told = wrong_usage(run, saved["model"], "--api-key-env", "sk-typed-by-mistake")
    assert "--api-key-env must name an environment variable with the key" in told
    assert "sk-typed" not in told
    monkeypatch.setenv("VECUQ_API_KEY", " ")
    assert "it is empty" in wrong_usage(run, saved["model"])


@pytest.mark.parametrize("key", ["two words", "schlüssel", "tab\there"])
def test_a_key_that_no_header_can_carry_is_refused(run, saved, monkeypatch, key):
    monkeypatch.setenv("VECUQ_API_KEY", key)
    told = wrong_usage(run, saved["model"])
    assert "one word of printable ASCII letters" in told
    assert key not in told


def test_a_wrong_key_of_the_judge_is_told_by_its_own_option(run, saved, monkeypatch):
    words = (saved["model"], "--judge-url", "http://127.0.0.1:9/v1", "--judge-model", "m", "--model-key-env", "JUDGE")
    assert "--model-key-env must name an environment variable" in wrong_usage(run, *words)
    monkeypatch.setenv("JUDGE", "two words")
    assert "The key in --model-key-env must be one word" in wrong_usage(run, *words)


def test_models_are_named_by_their_files_or_as_they_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b.vecuq").touch()
    assert named_models(["x/bot.vecuq", "other=y/bot.vecuq"]) == {
        "bot": Path("x/bot.vecuq"),
        "other": Path("y/bot.vecuq"),
    }
    with pytest.raises(SettingError, match=r"'a=b' cannot be the name .* as in bot=a=b\.vecuq"):
        named_models(["a=b.vecuq"])
    assert named_models(["ok=a=b.vecuq"]) == {"ok": Path("a=b.vecuq")}


@pytest.mark.parametrize(
    "word", ["=m.vecuq", "a/b=m.vecuq", "a b=m.vecuq", "../=m", ".hidden", "ä=m.vecuq", "", "x" * 200]
)
def test_a_name_that_cannot_be_part_of_an_address_is_refused(word):
    with pytest.raises(SettingError, match="cannot be the name of a model"):
        named_models([word])


def test_two_models_of_one_name_are_refused_with_the_remedy(run):
    told = wrong_usage(run, "a/bot.vecuq", "b/bot.vecuq")
    assert "Two models have the name 'bot'. Name them, as in first=a/bot.vecuq second=b/bot.vecuq." in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--timeout", "nan"), "--timeout must be finite"),
        (("--timeout", "0"), "--timeout must lie in"),
        (("--max-rows", "0"), "--max-rows must be"),
        (("--grace", "-1"), "--grace must lie in"),
        (("--keep-days", "3"), "--keep-days goes with --store"),
        (("--store", "s.db", "--audit", "2"), "--audit must lie in"),
        (("--allow-origin", "*"), "--allow-origin must be one site"),
        (("--allow-origin", "app.example"), "--allow-origin must be one site"),
        (("--certificate", "c.pem"), "TLS needs both files, --certificate FILE and --certificate-key FILE"),
        (("--log-format", "xml"), "must be one of 'auto', 'json', 'plain'"),
        (("--workers", "0"), "--workers"),
        (("--port", "70000"), "--port"),
        (("--judge-url", "http://x"), "--judge-url and --judge-model must be given together"),
    ],
)
def test_options_that_can_never_be_right_are_wrong_usage(run, saved, words, told):
    assert told in wrong_usage(run, saved["model"], *words)


def test_a_missing_or_broken_model_is_one_line(refused, tmp_path, saved):
    assert "nope.vecuq cannot be read: No such file" in refused("serve", "nope.vecuq", "--port", 0)
    (tmp_path / "broken.vecuq").write_bytes(b"broken")
    assert "broken.vecuq" in refused("serve", tmp_path / "broken.vecuq", "--port", 0)


@pytest.mark.parametrize("shared", [False, True], ids=["by another program", "by another service"])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_port_in_use_is_one_line(refused, saved, shared, workers):
    with closing(socket.socket()) as taken:
        if shared:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        told = refused("serve", saved["model"], "--port", port, "--workers", workers)
    assert told.startswith(f"error: --port {port} of 127.0.0.1 is in use by another program. ")
    assert told.endswith("Choose another, or --port 0 for any free one.\n")


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("no.such.host.invalid", "--host no.such.host.invalid is no name or address of this machine"),
        ("203.0.113.9", "--host 203.0.113.9 is no address of this machine"),
        ("a" * 300, "is no name or address of this machine"),
    ],
)
def test_an_address_of_another_machine_is_one_line(refused, saved, host, told):
    assert told in refused("serve", saved["model"], "--host", host, "--port", 0)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may use every port")
def test_a_port_of_the_administrator_is_one_line(refused, saved):
    assert "needs the rights of the administrator" in refused("serve", saved["model"], "--port", 80)


def test_files_of_tls_that_cannot_be_used_are_one_line(refused, saved):
    files = ("--certificate", saved["model"], "--certificate-key", "nope.pem")
    assert "--certificate-key nope.pem cannot be read: No such file" in refused("serve", saved["model"], *files)
    files = ("--certificate", saved["model"], "--certificate-key", saved["model"])
    assert "are no certificate with its key, in PEM format" in refused("serve", saved["model"], *files)


def test_without_the_packages_one_line_says_how_to_get_them(refused, saved, monkeypatch):
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    assert refused("serve", saved["model"]) == (
        "error: The service needs FastAPI and uvicorn: pip install 'vecuq[serve]'.\n"
    )


def test_check_loads_everything_says_what_would_be_served_and_ends(run, saved):
    done = run("serve", saved["gate"], f"bot={saved['judge']}", "--port", 0, "--check")
    assert done.exit_code == 0
    assert done.stdout.startswith("vecuq would be at http://127.0.0.1:")
    for words in ("gate, at /score", "at /models/bot/score", "not needed", "not kept; --store FILE keeps it", "/docs"):
        assert words in done.stdout
    assert done.stdout.endswith("checked, all fine; nothing was started\n")
    assert done.stderr == ""


def test_beyond_this_machine_it_warns_without_a_key_and_without_tls(run, saved, monkeypatch):
    words = ("serve", saved["model"], "--host", "0.0.0.0", "--port", 0, "--check")  # noqa: S104
    notes = run(*words).stderr
    assert "Whoever reaches this machine may call the service; a key in VECUQ_API_KEY prevents it." in notes
    assert "travel unencrypted; give --certificate" in notes
    monkeypatch.setenv("VECUQ_API_KEY", "the-key-of-the-service")
    done = run(*words)
    assert "Whoever reaches" not in done.stderr
    assert "needed, as Authorization: Bearer KEY" in done.stdout
    assert "the-key-of-the-service" not in done.output


def test_programs_get_the_greeting_as_one_json_line(monkeypatch, tmp_path):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    settings = ServeSettings({"m": tmp_path}, host="10.0.0.1", logs=LogSettings("json"))
    logs.set_up(settings.logs, stream)
    serving._greet(settings, Started("http://10.0.0.1:8000", {"m": "gate"}))
    greeting, *doubts = map(json.loads, stream.getvalue().splitlines())
    assert (greeting["message"], greeting["models"], greeting["key"]) == ("ready", {"m": "gate"}, False)
    assert [line["level"] for line in doubts] == ["warning", "warning"]


def test_every_option_of_the_page_about_operations_exists(run):
    page = (Path(__file__).parents[2] / "docs" / "service-operations.md").read_text("utf-8")
    known = set(re.findall(r"--[a-z-]+", run("serve", "--help").stdout))
    assert set(re.findall(r"--[a-z][a-z-]+", page)) - known == set()


def test_only_loopback_is_this_machine_alone():
    assert is_local("127.0.0.1")
    assert is_local("127.1.2.3")
    assert is_local("localhost")
    assert is_local("::1")
    assert not is_local("0.0.0.0")  # noqa: S104
    assert not is_local("10.0.0.1")


def test_the_browser_is_opened_when_the_service_is_ready(saved, monkeypatch):
    from vecuq.service import running

    opened, done = [], threading.Event()
    monkeypatch.setattr(running.webbrowser, "open", lambda url: (opened.append(url), done.set()))
    monkeypatch.setattr(running, "_alone", lambda settings, sock, ready: ready({"m": "model"}) is None)
    started = []
    assert running.serve(ServeSettings({"m": saved["model"]}, port=0), on_ready=started.append, open_browser=True)
    assert done.wait(60)
    assert opened == [started[0].url]


def test_on_windows_there_is_one_worker(saved, monkeypatch):
    from vecuq.service import running

    monkeypatch.setattr(running.os, "name", "nt")
    with pytest.raises(SettingError, match="workers must be 1 on Windows"):
        running.serve(ServeSettings({"m": saved["model"]}, workers=2))
