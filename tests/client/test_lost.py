"""Connections that fail, over real sockets: the reason, and what to do."""

import json
import socket
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from vecuq.client import Client, ServiceError
from vecuq.errors import SettingError, VecuqError


class Ready(BaseHTTPRequestHandler):
    """Is always ready."""

    def do_GET(self):
        body = json.dumps({"ready": True}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Quiet(HTTPServer):
    """Says nothing of connections that fail."""

    def handle_error(self, *_):
        pass


@pytest.fixture
def listen():
    """Start servers at free ports of this machine; returns the port."""
    servers = []

    def start(context=None):
        server = Quiet(("127.0.0.1", 0), Ready)
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        servers.append((server, thread))
        return server.server_address[1]

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    made, key = folder / "c.pem", folder / "k.pem"
    about = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2"]
    how = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    try:
        subprocess.run([*how, *about, "-out", made, "-keyout", key], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed, which makes a certificate")
    return made, key


def asked(url, **how):
    """Ask whether a service is ready."""
    with Client(url, retries=0, **how) as client:
        return client.ready()


def lost(url):
    with pytest.raises(ServiceError) as caught:
        asked(url)
    assert (caught.value.status, caught.value.error) == (None, "unreachable")
    return caught.value.message


def test_a_closed_port_refuses_the_connection():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        assert "was refused" in lost(f"http://127.0.0.1:{taken.getsockname()[1]}")


def test_a_name_that_nobody_knows_is_named():
    assert "The name 'nowhere.invalid'" in lost("http://nowhere.invalid:8000")


def test_https_at_a_plain_port_is_told(listen):
    port = listen()
    assert f"Is it http://127.0.0.1:{port}?" in lost(f"https://127.0.0.1:{port}")


def test_a_certificate_is_trusted_by_the_file_of_its_authority(listen, certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    url = f"https://127.0.0.1:{listen(context)}"
    said = lost(url)
    assert "is not trusted" in said
    assert "verify='ca.pem'" in said
    assert asked(url, verify=certificate[0])
    assert asked(url, verify=ssl.create_default_context(cafile=certificate[0]))
    assert asked(url, verify=False)


def test_a_file_without_certificates_is_refused(tmp_path):
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(SettingError, match="verify must be a file of certificates"):
        Client("https://127.0.0.1", verify=tmp_path / "ca.pem")
    with pytest.raises(VecuqError, match=r"other\.pem"):
        Client("https://127.0.0.1", verify=tmp_path / "other.pem")
