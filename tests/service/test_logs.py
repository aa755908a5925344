"""Logs: one object per line, no value of a row, no key."""

import asyncio
import io
import json
import logging

import pytest

from vecuq.errors import SettingError
from vecuq.service import LogSettings
from vecuq.service.logs import NAME, RequestLog, set_up

REQUEST = {"request_id": "r-1", "method": "POST", "route": "/models/{name}/score", "seconds": 0.00123456}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _loggers_as_before():
    names = (NAME, "uvicorn", "uvicorn.error", "uvicorn.asgi")
    before = {name: (log.handlers, log.propagate, log.level) for name in names for log in [logging.getLogger(name)]}
    yield
    for name, (handlers, propagate, level) in before.items():
        log = logging.getLogger(name)
        log.handlers, log.propagate = handlers, propagate
        log.setLevel(level)


def written(settings, **request):
    stream = io.StringIO()
    RequestLog(settings, stream).request(**REQUEST, **request)
    return stream.getvalue()


def test_a_request_is_one_json_object_on_one_line():
    line = written(LogSettings("json", "all"), status=200, rows=3, bytes_in=40)
    assert line.count("\n") == 1
    found = json.loads(line)
    assert found.pop("time").endswith("Z")
    assert found == {
        "level": "info",
        "message": "request",
        "request_id": "r-1",
        "method": "POST",
        "route": "/models/{name}/score",
        "status": 200,
        "ms": 1.235,
        "rows": 3,
        "bytes": 40,
    }


@pytest.mark.parametrize(
    ("access", "logged"), [("off", []), ("errors", [404, 500]), ("all", [200, 404, 500])], ids=["off", "errors", "all"]
)
def test_which_requests_get_a_line_is_chosen(access, logged):
    settings = LogSettings("json", access)
    lines = [written(settings, status=status) for status in (200, 404, 500)]
    assert [json.loads(line)["status"] for line in lines if line] == logged


def test_the_lines_of_one_turn_of_the_loop_are_written_at_once():
    stream = io.StringIO()

    async def two_requests():
        log = RequestLog(LogSettings("json", "all"), stream)
        log.request(**REQUEST, status=200)
        log.request(**REQUEST, status=201)
        before = stream.getvalue()
        await asyncio.sleep(0)
        log.request(**REQUEST, status=202)
        await asyncio.sleep(0)
        return before

    assert asyncio.run(two_requests()) == ""
    assert [json.loads(line)["status"] for line in stream.getvalue().splitlines()] == [200, 201, 202]


def test_a_reader_of_the_log_that_is_gone_does_not_stop_requests():
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    RequestLog(LogSettings("json", "all"), Gone()).request(**REQUEST, status=200)


def test_a_terminal_gets_words_and_a_file_gets_json():
    stream = Terminal()
    RequestLog(LogSettings("auto", "all"), stream).request(**REQUEST, status=200, rows=3)
    assert "200 POST /models/{name}/score 1.235 ms 3 rows r-1" in stream.getvalue()
    assert json.loads(written(LogSettings("auto", "all"), status=200))


def test_what_uvicorn_says_goes_through_the_same_lines():
    stream = io.StringIO()
    set_up(LogSettings("json"), stream)
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    logging.getLogger("uvicorn.error").info("Started server process [1]")
    logging.getLogger(NAME).info("ready", extra={"about": {"port": 8000}})
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["message"] for line in lines] == ["Invalid HTTP request received.", "ready"]
    assert lines[1]["port"] == 8000


@pytest.mark.parametrize("form", ["json", "plain"])
def test_an_error_shows_where_it_happened_and_not_which_value_caused_it(form):
    stream = io.StringIO()
    set_up(LogSettings(form), stream)
    try:
        float("the patient's name")
    except ValueError:
        logging.getLogger(NAME).exception("A request failed.")
    line = stream.getvalue()
    assert line.count("\n") == 1
    assert "ValueError" in line
    assert "test_logs.py:" in line
    assert "patient" not in line


def test_the_message_of_an_error_is_shown_to_whoever_debugs():
    stream = io.StringIO()
    set_up(LogSettings("json", level="debug"), stream)
    try:
        float("the patient's name")
    except ValueError:
        logging.getLogger(NAME).exception("A request failed.")
    assert "patient" in json.loads(stream.getvalue())["reason"]


def test_the_level_leaves_lines_out():
    stream = io.StringIO()
    set_up(LogSettings("plain", level="error"), stream)
    logging.getLogger(NAME).warning("a worker was started again")
    logging.getLogger(NAME).error("gave up")
    assert stream.getvalue() == "error: gave up\n"


def test_a_message_cannot_break_the_line_or_steer_the_terminal():
    for form in ("json", "plain"):
        stream = io.StringIO()
        set_up(LogSettings(form), stream)
        logging.getLogger(NAME).warning("one\ntwo \x1b[31m")
        assert stream.getvalue().count("\n") == 1
        assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("wrong", [{"form": "xml"}, {"access": "some"}, {"level": "loud"}])
def test_a_form_that_does_not_exist_is_refused(wrong):
    with pytest.raises(SettingError, match="must be one of"):
        LogSettings(**wrong)
