"""A service as users start it: a process of its own, on a free port, whose memory can be read."""

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.client import HTTPResponse

import psutil

SECONDS = 300  # after which a test gives up; nothing here is asserted about time


class Started:
    """A running service."""

    def __init__(self, process):
        self.process, self.lines = process, []
        self._ready = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        self._ready.wait(SECONDS)
        address = next((one["address"] for one in self.log if "address" in one), None)
        if address is None:
            process.kill()
            raise AssertionError("The service did not start:\n" + "\n".join(self.lines))
        self.url = address.rstrip("/")
        self.port = int(self.url.rpartition(":")[2])

    def _listen(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            if '"ready"' in line:
                self._ready.set()
        self._ready.set()

    @property
    def log(self):
        """The lines of the log that are JSON."""
        found = []
        for line in list(self.lines):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found

    def processes(self):
        first = psutil.Process(self.process.pid)
        return [first, *first.children(recursive=True)]

    def memory(self):
        """Bytes in use now, of all processes of the service."""
        return sum(one.memory_info().rss for one in self.processes())

    def most_memory(self):
        """Most bytes that were ever in use, of all processes of the service."""
        found = 0
        for one in self.processes():
            with open(f"/proc/{one.pid}/status") as status:
                found += next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
        return found

    def connect(self):
        made = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def stop(self, sign=signal.SIGTERM):
        """Ask the service to end; return its exit code."""
        self.process.send_signal(sign)
        return self.process.wait(SECONDS)


def environment(**more):
    """Variables of a process that finds this source, and no key of whoever runs the tests."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("VECUQ_", "PYTEST_"))}
    return {**plain, **more}


@contextmanager
def started(*words, **variables):
    """Run `vecuq serve` with these words, and end it in the end."""
    command = [sys.executable, "-m", "vecuq", "serve", *map(str, words), "--port", "0", "--log-format", "json"]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment(**variables)
    )
    try:
        yield Started(process)
    finally:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if process.poll() is None:
                process.send_signal(sign)
                try:
                    process.wait(SECONDS)
                except subprocess.TimeoutExpired:
                    continue
        process.stderr.close()


class Response:
    """One answer on a socket."""

    def __init__(self, came):
        self.status, self.headers, self.body = came.status, came.headers, came.read()
        self.closes = came.will_close

    @property
    def said(self):
        return json.loads(self.body)


class OneReader(io.BufferedReader):
    """What reads a socket for many answers; each would close it."""

    def makefile(self, _mode):
        return self

    def close(self):
        pass


def responses(made, number=1):
    """Read answers from a socket, at most ``number``; fewer if the service closed it."""
    found, reader = [], OneReader(socket.SocketIO(made, "r"))
    while len(found) < number:
        came = HTTPResponse(reader)
        try:
            came.begin()
            found.append(Response(came))
        except (ConnectionError, ValueError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise AssertionError("The service neither answered nor closed the connection.") from None
            break
        except Exception as error:  # http.client: BadStatusLine, IncompleteRead: closed in the middle
            if type(error).__module__ != "http.client":
                raise
            break
    return found


def head(path="/score", method="POST", version="HTTP/1.1", host="localhost", **headers):
    """Return the head of a request; an underscore in the name of a header stands for a hyphen."""
    lines = [f"{method} {path} {version}", f"Host: {host}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def post(body, path="/score", kind="application/json", **headers):
    """Return a whole request."""
    body = body if isinstance(body, bytes) else body.encode()
    return head(path, Content_Type=kind, Content_Length=len(body), **headers) + body


def wait_until(true, what):
    """Wait for something that happens soon."""
    end = time.monotonic() + SECONDS
    while not true():
        if time.monotonic() > end:
            raise AssertionError(f"It did not happen within {SECONDS} seconds: {what}")
        time.sleep(0.02)
