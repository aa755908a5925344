"""A service in real processes: started, asked, stopped, killed."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at through /proc")
ROW = {"entropy": 1.0, "knn": 1.0, "confidence": 0.5}
BODY = json.dumps({"rows": [ROW]}).encode()
# Long enough that no test waits for it to pass.
LONG = ("--grace", "600", "--timeout", "600")


class Running:
    """A service that other processes run, and how it is asked."""

    def __init__(self, process, port):
        self.process, self.port = process, port

    def connect(self):
        return closing(HTTPConnection("127.0.0.1", self.port, timeout=60))

    def get(self, path, connection=None):
        """Return status and text of an answer, and the answer itself."""
        if connection is None:
            with self.connect() as made:
                return self.get(path, made)
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer

    @contextmanager
    def half_asked(self):
        """Yield what ends a request to score that is in work: only half of its body has come."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as made:
            head = f"POST /score HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(BODY)}\r\n\r\n"
            made.sendall(head.encode() + BODY[:9])
            eventually(lambda: self.metric("vecuq_requests_in_flight") >= 2, "the request did not come")

            def end():
                made.sendall(BODY[9:])
                return b"".join(iter(lambda: made.recv(4096), b""))

            yield end

    def feedback(self, name):
        """Send feedback on a row; return the status of the answer."""
        with self.connect() as made:
            body = json.dumps({"id": name, "correct": True})
            made.request("POST", "/feedback", body, {"content-type": "application/json"})
            return made.getresponse().status

    def metric(self, name):
        lines = [line.rpartition(" ") for line in self.get("/metrics")[1].splitlines()]
        return sum(float(value) for what, _, value in lines if what == name)

    def children(self):
        """The processes below, but for Python's own that frees what they leave."""
        found = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(one) for one in found if "resource_tracker" not in Path(f"/proc/{one}/cmdline").read_text()]

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(60)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def eventually(holds, what):
    """Wait until something holds; the minutes are for a machine that has much else to do."""
    end = time.monotonic() + 180
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)


@pytest.fixture
def start(saved, tmp_path):
    """Run `vecuq serve` with options until the test ends."""
    # Several processes would compile everything each time.
    env = {
        name: value for name, value in os.environ.items() if name not in ("VECUQ_API_KEY", "PYTHONDONTWRITEBYTECODE")
    }
    with ExitStack() as ending:

        def begin(*options):
            words = ["serve", saved["model"], "--port", "0", "--log-format", "json", *options]
            log = ending.enter_context(open(tmp_path / "log", "w+"))
            command = [sys.executable, "-m", "vecuq", *map(str, words)]
            process = subprocess.Popen(command, stderr=log, env=env, cwd=tmp_path)
            ending.callback(process.wait)
            ending.callback(process.kill)
            eventually(lambda: ready(begin.log()) or process.poll() is not None, "it did not become ready")
            assert process.poll() is None, begin.log()
            return Running(process, int(ready(begin.log())["address"].rpartition(":")[2]))

        begin.log = lambda: list(map(json.loads, whole_lines(tmp_path / "log")))
        yield begin


def whole_lines(path):
    return path.read_text().split("\n")[:-1]


def ready(log):
    return next((line for line in log if line["message"] == "ready"), None)


def test_after_sigterm_requests_in_work_are_answered_and_later_ones_refused(start):
    service = start(*LONG)
    with service.half_asked() as end, ExitStack() as open_ones:
        early, *late = [open_ones.enter_context(service.connect()) for _ in range(20)]
        assert {service.get("/health", one)[0] for one in (early, *late)} == {200}
        service.process.terminate()
        eventually(lambda: not is_listening(service.port), "it still listens")
        # For a moment open connections are still answered; how long that takes here is not for a test to say.
        status, _, answer = service.get("/health", early)
        assert (status, answer.getheader("connection")) in ((200, "close"), (503, "close"))
        status, body, answer = refused(service, late)
        assert (status, json.loads(body)["error"], answer.getheader("connection")) == (503, "stopping", "close")
        assert answer.getheader("retry-after") == "1"
        assert service.process.poll() is None
        assert end().startswith(b"HTTP/1.1 200 OK")
    assert service.process.wait(60) == 0


def refused(service, connections):
    """What a service on its way out says to the first of these connections that it does not answer any more."""
    for one in connections:
        status, body, answer = service.get("/health", one)
        if status != 200:
            break
        time.sleep(0.5)
    return status, body, answer


def is_listening(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=60).close()
    except OSError:
        return False
    return True


def test_a_second_interrupt_ends_at_once(start):
    service = start(*LONG)
    with service.half_asked():
        service.process.send_signal(signal.SIGINT)
        eventually(lambda: not is_listening(service.port), "it still listens")
        assert service.process.poll() is None
        assert service.stop(signal.SIGINT) == 130


def test_what_takes_longer_than_the_grace_is_given_up(start):
    service = start("--grace", 0.2, "--timeout", 600)
    with service.half_asked():
        assert service.stop() == 0


def test_two_workers_share_the_work_and_are_started_again_when_they_die(start):
    """One start serves many checks, as several processes take their time."""
    service = start("--workers", 2, "--store", "s.db")
    keeper, first, second = service.children()
    eventually(lambda: service.metric("vecuq_workers") == 2, "a worker does not report")

    ids = {service.get("/health")[2].getheader("x-request-id").partition("-")[0] for _ in range(60)}
    assert len(ids) == 2, "one worker got all connections"
    asked = 'vecuq_requests_total{route="/health",status="200"}'
    eventually(lambda: service.metric(asked) == 60, "the counts of all workers are not summed")

    os.kill(first, signal.SIGKILL)
    eventually(lambda: len(service.children()) == 3 and first not in service.children(), "no new worker")
    eventually(lambda: service.metric("vecuq_workers") == 2, "the new worker does not report")
    assert service.metric(asked) == 60, "what a dead worker has counted is lost"

    os.kill(second, signal.SIGTERM)  # by an operator: it finishes, and is replaced
    eventually(lambda: len(service.children()) == 3 and second not in service.children(), "no new worker")

    os.kill(keeper, signal.SIGKILL)
    # It waits ten seconds for the new keeper, which a busy machine may not start in time.
    eventually(lambda: service.feedback("q") == 200, "feedback does not wait for the new keeper")
    said = [line["message"] for line in start.log() if "started again" in line["message"]]
    assert [word in " ".join(said) for word in ("worker 1", "worker 2", "keeper")] == [True] * 3

    # A service manager sends its signal to every process.
    eventually(lambda: service.metric("vecuq_workers") == 2, "the new worker does not report")
    for child in service.children():
        os.kill(child, signal.SIGTERM)
    assert service.stop() == 0


def test_when_the_parent_is_killed_nothing_is_left(start):
    service = start("--workers", 2, "--store", "s.db")
    children = service.children()
    assert len(children) == 3
    service.process.kill()
    service.process.wait()
    eventually(lambda: not any(map(is_alive, children)), "a child is left")
    assert not is_listening(service.port)


@pytest.mark.parametrize("workers", [1, 2])
def test_no_answer_is_lost_when_sigterm_comes_under_load(start, workers):
    service = start("--workers", workers)
    lost, answered = [], []
    asking = [threading.Thread(target=keep_asking, args=(service, answered, lost)) for _ in range(8)]
    for one in asking:
        one.start()
    eventually(lambda: len(answered) > 300 or lost, "too few answers")
    assert service.stop() == 0
    for one in asking:
        one.join()
    assert lost == []
    assert set(answered) <= {200, 503}


def keep_asking(service, answered, lost):
    """Ask until nobody listens, on connections of several requests; note what got no answer."""
    while True:
        with service.connect() as connection:
            try:
                connection.connect()
            except OSError:
                return
            for _ in range(20):
                try:
                    connection.request("POST", "/score", BODY)
                    answer = connection.getresponse()
                    answered.append(answer.status)
                    answer.read()
                except (OSError, HTTPException) as error:
                    lost.append(repr(error))
                    return
                if answer.getheader("connection") == "close":
                    break


@pytest.mark.slow
def test_a_second_interrupt_ends_all_workers_at_once(start):
    service = start("--workers", 2, *LONG)
    children = service.children()
    with service.half_asked():
        service.process.send_signal(signal.SIGINT)
        eventually(lambda: not is_listening(service.port), "it still listens")
        assert service.stop(signal.SIGINT) == 130
    assert not any(map(is_alive, children))


@pytest.mark.slow
def test_a_request_in_work_survives_the_death_of_the_parent(start):
    service = start("--workers", 2, *LONG)
    with service.half_asked() as end:
        service.process.kill()
        eventually(lambda: not is_listening(service.port), "it still listens")
        assert end().startswith(b"HTTP/1.1 200 OK")


@pytest.mark.slow
def test_a_worker_that_dies_again_and_again_does_not_take_the_other_with_it(start):
    service = start("--workers", 2)
    keeps = service.children()[1]
    for _ in range(6):
        eventually(lambda: len(service.children()) == 2, "no new worker")
        os.kill(next(one for one in service.children() if one != keeps), signal.SIGKILL)
        with suppress(OSError, HTTPException):
            service.get("/health")
    assert service.get("/health")[0] == 200
    assert service.stop() == 0


@pytest.mark.slow
def test_when_no_worker_stays_alive_the_service_gives_up_with_a_reason(start, saved, tmp_path):
    model = tmp_path / "m.vecuq"
    model.write_bytes(saved["model"].read_bytes())
    service = start("--workers", 2, f"m={model}")
    model.write_bytes(b"broken")
    for child in service.children():
        os.kill(child, signal.SIGKILL)
    assert service.process.wait(600) == 1
    last = (tmp_path / "log").read_text().splitlines()[-1]
    assert last.startswith("error: The worker ")
    assert "the service gives up" in last
    assert "m.vecuq" in last


def test_with_tls_the_service_answers_over_https(start, certificate):
    service = start("--certificate", certificate[0], "--certificate-key", certificate[1])
    context = ssl.create_default_context(cafile=certificate[0])
    plain = socket.create_connection(("127.0.0.1", service.port), timeout=60)
    with context.wrap_socket(plain, server_hostname="localhost") as secure:
        secure.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: secure.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"strict-transport-security" in answer
    assert ready(start.log())["address"].startswith("https://")
    assert service.stop() == 0


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "c.pem", folder / "k.pem"
    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    about = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    try:
        subprocess.run([*made, *about, "-out", certificate, "-keyout", key], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed, which makes a certificate")
    return certificate, key
