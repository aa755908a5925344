import socket
from ssl import SSLCertVerificationError
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from vecuq.answers.asking import RejectedError, Sender
from vecuq.errors import SettingError, VecuqError

FINE = (200, {"fine": True})


class Patient:
    """A sender that does not wait, and remembers how long it would have."""

    def __init__(self, url, **settings):
        self.told, self.waited = [], []
        self.sender = Sender(url, on_retry=self.told.append, pause=self.waited.append, **settings)

    def post(self):
        return self.sender.post("there", {"a": 1})


def assert_about(waited, expected):
    """A pause is as long as expected, or up to a quarter longer, and never above a minute."""
    assert len(waited) == len(expected)
    assert all(least <= one <= min(60, 1.25 * least) for one, least in zip(waited, expected, strict=True))


def test_a_busy_server_is_asked_again_after_pauses_that_grow(server):
    server.script = [(429, {}), (503, {}), (500, {}), (503, {}), FINE]
    patient = Patient(server.url)
    assert patient.post() == {"fine": True}
    assert_about(patient.waited, [1, 2, 4, 8])
    assert len(server.requests) == 5
    assert "Try 2 of 5 follows in 1." in patient.told[0]


@pytest.mark.parametrize(("told", "waited"), [("7", 7), ("3600", 60), ("0", 1), ("soon", 1), ("²", 1), ("0.5", 0.5)])
def test_a_server_may_say_how_long_to_wait(server, told, waited):
    server.script = [(503, {}, {"headers": [("Retry-After", told)]}), FINE]
    patient = Patient(server.url)
    patient.post()
    assert_about(patient.waited, [waited])


@pytest.mark.parametrize("tells_length", [True, False])
@pytest.mark.parametrize("missing", [1, 5, 14])
def test_a_reply_that_breaks_off_is_asked_for_again(server, missing, tells_length):
    server.script = [(*FINE, {"missing": missing, "tells_length": tells_length}), FINE]
    patient = Patient(server.url)
    assert patient.post() == {"fine": True}
    assert "closed the connection in the middle" in patient.told[0]


def test_a_request_at_which_the_server_always_breaks_off_is_given_up_alone(server):
    server.script = [(*FINE, {"missing": 3})] * 3 + [FINE]
    patient = Patient(server.url, tries=3)
    with pytest.raises(RejectedError, match=r"closed the connection in the middle of a reply\. Tried 3 times\.$"):
        patient.post()
    assert patient.post() == {"fine": True}


@pytest.mark.parametrize("reply", [(500, {}), (*FINE, {"missing": 3})])
def test_a_server_that_fails_at_twenty_requests_in_a_row_is_broken(server, reply):
    patient = Patient(server.url, tries=1)
    server.script = [reply] * 19 + [FINE] + [reply] * 20
    failures = []
    for _ in range(40):
        try:
            patient.post()
        except VecuqError as error:
            failures.append(error)
    assert [type(error) for error in failures] == [RejectedError] * 38 + [VecuqError]
    assert "Start again later: answers on disk are kept." in str(failures[-1])


def test_a_busy_server_is_given_up_at_once(server):
    server.script = [(503, {})]
    with pytest.raises(VecuqError, match="Start again later") as caught:
        Patient(server.url, tries=1).post()
    assert not isinstance(caught.value, RejectedError)


def test_a_first_request_that_nobody_hears_is_sent_again(server):
    misses = [URLError(ConnectionRefusedError("refused")), TimeoutError("timed out"), ConnectionResetError("reset")]

    def heard(request, timeout):
        if misses:
            raise misses.pop(0)
        return urlopen(request, timeout=timeout)  # noqa: S310 - the local server

    patient = Patient(server.url, send=heard)
    server.script = [FINE]
    assert patient.post() == {"fine": True}
    assert len(patient.told) == 3
    assert "refused" in patient.told[0]


def test_nobody_there_is_said_after_all_tries():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        patient = Patient(f"http://127.0.0.1:{free.getsockname()[1]}/v1", tries=4)
        with pytest.raises(VecuqError, match=r"cannot be reached.*Tried 4 times\. Is the server running\?"):
            patient.post()
    assert_about(patient.waited, [1, 2, 4])


def test_silence_is_ended_by_the_timeout(server):
    server.delay = 5
    with pytest.raises(VecuqError, match=r"timed out.*Tried 1 time\."):
        Patient(server.url, timeout=0.05, tries=1).post()


def test_a_wrong_certificate_is_not_tried_again():
    def distrusted(request, timeout):
        raise URLError(SSLCertVerificationError("self-signed certificate"))

    patient = Patient("https://localhost/v1", send=distrusted)
    with pytest.raises(VecuqError, match="self-signed"):
        patient.post()
    assert patient.waited == []


@pytest.mark.parametrize("code", [400, 413, 422])
def test_what_is_wrong_with_the_request_is_not_tried_again(server, code):
    server.script = [(code, {"message": "too long"})]
    with pytest.raises(RejectedError, match="too long"):
        Patient(server.url).post()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"error": {"message": "of OpenAI", "code": 1}}, r"\(HTTP 404: of OpenAI\)"),
        ({"object": "error", "message": "of vLLM"}, r"\(HTTP 404: of vLLM\)"),
        ({"detail": "of FastAPI"}, r"\(HTTP 404: of FastAPI\)"),
        ({"error": "of llama.cpp"}, r"\(HTTP 404: of llama.cpp\)"),
        ({"detail": [{"loc": 1}]}, r"loc"),
        (b"<html>  plain\nwords", r"\(HTTP 404: <html> plain words\)"),
        (b"", r"\(HTTP 404: Not Found\)"),
        (b"[" * 50_000, r"\[\[\.\.\.\)"),
    ],
)
def test_a_refusal_is_told_in_the_server_s_words_shortened(server, content, told):
    server.script = [(404, content)]
    with pytest.raises(VecuqError, match=told) as caught:
        Patient(server.url).post()
    assert len(str(caught.value)) < 300


def test_a_key_that_the_server_repeats_is_hidden(server):
    server.script = [(401, {"error": {"message": "x" * 150 + " wrong key sk-secret-word"}})]
    with pytest.raises(VecuqError, match="HTTP 401") as caught:
        Patient(server.url, api_key="sk-secret-word").post()
    assert "sk-" not in str(caught.value)
    server.script = [(401, {"error": "wrong key sk-secret-word"})]
    with pytest.raises(VecuqError, match=r"wrong key \*\*\*"):
        Patient(server.url, api_key="sk-secret-word").post()


def test_a_proxy_that_is_none_is_an_error_that_does_not_repeat_its_password(monkeypatch):
    monkeypatch.setenv("http_proxy", "http:/user:hunter2@proxy")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(VecuqError, match="http_proxy") as caught:
        Patient("http://example.invalid/v1", tries=1).post()
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"timeout": 1e9}, {"timeout": float("nan")}, {"tries": 0}])
def test_patience_has_its_limits(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        Sender("http://localhost/v1", **wrong)
