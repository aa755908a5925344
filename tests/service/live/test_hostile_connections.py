"""Hostile connections to a running service: refused or closed, and the service goes on as before."""

import contextlib
import json
import resource
import time

import numpy as np
import pyarrow as pa
import pytest
from attacks import BODY, JSON, MIB, ONE, ROW, ROWS, SECONDS, STREAM, ask, check_refusal, refused, score, stream
from started import head, post, responses, started, wait_until


class TestLengths:
    def test_more_than_the_limit_is_refused_before_it_is_sent(self, service):
        assert refused(service, head(Content_Type=JSON, Content_Length=10**15), 413) == "too_large"

    @pytest.mark.parametrize("length", ["-1", "abc", "1.5", "0x10", "", "10, 20", "9" * 40])
    def test_a_length_that_is_none_is_refused(self, service, length):
        answer = ask(service, head(Content_Type=JSON, Content_Length=length) + ONE.encode())
        assert answer is None or answer.status in (400, 413), answer.status

    def test_two_lengths_are_refused(self, service):
        request = head(Content_Type=JSON, Content_Length=len(ONE)).replace(
            b"\r\n\r\n", b"\r\nContent-Length: 3\r\n\r\n"
        )
        answer = ask(service, request + ONE.encode())
        assert answer is None or answer.status == 400

    def test_length_and_chunks_together_are_refused(self, service):
        answer = ask(service, head(Content_Type=JSON, Content_Length=3, Transfer_Encoding="chunked") + b"0\r\n\r\n")
        assert answer is None or answer.status == 400

    @pytest.mark.nightly
    def test_a_body_that_is_shorter_than_said_is_given_up(self, service):
        refused(service, head(Content_Type=JSON, Content_Length=len(ONE) + 10) + ONE.encode(), 408)

    def test_what_follows_the_body_is_no_part_of_it(self, service):
        with service.connect() as made:
            made.sendall(post(ONE) + b"garbage without end\r\n\r\n")
            found = responses(made, 2)
        assert found[0].said["rows"][0]["uncertainty"] == service.expected
        assert len(found) == 1 or found[1].status == 400

    @pytest.mark.parametrize("size", ["zz", "-5", "ffffffffffffffffff", "5;" + "x" * 100_000])
    def test_a_chunk_without_a_proper_size_is_refused(self, service, size):
        answer = ask(service, head(Content_Type=JSON, Transfer_Encoding="chunked") + f"{size}\r\n".encode() + b"x" * 20)
        assert answer is None or answer.status in (400, 408, 413)

    def test_chunks_without_end_are_refused_at_the_limit(self, service):
        chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
        with service.connect() as made:
            made.sendall(head(Content_Type=JSON, Transfer_Encoding="chunked"))
            sent = 0
            try:
                while sent < 20 * BODY * MIB:
                    made.sendall(chunk)
                    sent += 65_536
            except ConnectionError:
                pass
            found = responses(made)
        assert sent < 20 * BODY * MIB
        if found:
            assert check_refusal(found[0], 413) == "too_large"

    def test_tiny_chunks_do_not_cost_more_than_their_bytes(self, service):
        body = "".join(f"1\r\n{letter}\r\n" for letter in ONE + " " * 50_000).encode() + b"0\r\n\r\n"
        answer = ask(service, head(Content_Type=JSON, Transfer_Encoding="chunked") + body)
        assert answer.said["rows"][0]["uncertainty"] == service.expected


@pytest.mark.nightly
class TestSlowAndHalf:
    def test_a_body_that_drips_is_given_up(self, service):
        with service.connect() as made:
            made.sendall(head(Content_Type=JSON, Content_Length=10_000))
            made.setblocking(False)
            end = time.monotonic() + 20 * SECONDS
            while time.monotonic() < end:
                time.sleep(0.1)
                try:
                    made.send(b" ")
                    if made.recv(1, 2):  # MSG_PEEK
                        break
                except BlockingIOError:
                    continue
                except ConnectionError:
                    break
            made.settimeout(10)
            found = responses(made)
        assert found, "neither answered nor closed"
        assert check_refusal(found[0], 408) == "slow_body"

    @pytest.mark.parametrize(
        "part",
        [
            head(Content_Type=JSON, Content_Length=len(ONE))[:30],
            head(Content_Type=JSON, Content_Length=len(ONE)) + b'{"rows"',
            b"",
            b"\r\n",
        ],
    )
    def test_a_connection_that_is_half_closed_is_let_go(self, service, part):
        with service.connect() as made:
            made.sendall(part)
            made.shutdown(1)  # SHUT_WR
            found = responses(made)
        assert not found or found[0].status in (400, 408)

    @pytest.mark.parametrize("part", [b"POST /sc", b"POST /score HTTP/1.1\r\nHost: local", b"\r\n"])
    def test_a_head_that_never_ends_is_given_up(self, service, part):
        with service.connect() as made:
            made.sendall(part)
            found = responses(made)
        assert check_refusal(found[0], 408) == "slow_head"

    def test_the_second_head_that_never_ends_is_given_up_too(self, service):
        with service.connect() as made:
            made.sendall(post(ONE))
            assert responses(made)[0].status == 200
            made.sendall(b"POST /sc")
            assert check_refusal(responses(made)[0], 408) == "slow_head"

    def test_more_connections_than_the_system_gives_do_not_end_the_service(self, service, saved):
        with started(saved) as few:
            resource.prlimit(few.process.pid, resource.RLIMIT_NOFILE, (100, 100))
            held = [few.connect() for _ in range(150)]
            for made in held:
                made.close()
            # Until the held ones are let go, the event loop may close new ones without an answer.
            wait_until(lambda: ask(few, post(ONE)) is not None, "it answers again")
            assert score(few) == service.expected

    def test_many_connections_that_send_nothing_keep_nobody_out(self, service):
        idle = [service.connect() for _ in range(300)]
        try:
            for k, made in enumerate(idle):
                made.sendall((b"", b"POST /sc", head(Content_Type=JSON, Content_Length=50))[k % 3])
            assert score(service) == service.expected
        finally:
            for made in idle:
                made.close()

    def test_clients_that_leave_at_once_are_forgotten(self, service):
        for k in range(300):
            with service.connect() as made:
                made.sendall(post(ONE)[: 40 + k])
        for _ in range(100):
            with service.connect() as made:
                made.sendall(post(ONE))

    def test_who_never_reads_does_not_fill_the_memory(self, service):
        body = stream(pa.table({"entropy": np.ones(ROWS), "knn": np.ones(ROWS), "note": ["x" * 500] * ROWS}))
        held = []
        try:
            for _ in range(30):
                made = service.connect()
                made.setsockopt(1, 8, 4096)  # SO_RCVBUF
                made.settimeout(2)
                held.append(made)
                try:
                    made.sendall(post(body, kind=STREAM))
                except OSError:
                    continue
            assert score(service) == service.expected
        finally:
            for made in held:
                made.close()

    def test_who_never_reads_loses_its_place(self, service):
        def in_flight():
            lines = ask(service, head("/metrics", "GET")).body.decode().splitlines()
            return int(next(one for one in lines if one.startswith("vecuq_requests_in_flight ")).split()[1])

        held = []
        try:
            for _ in range(5):
                held.append(made := service.connect())
                made.setsockopt(1, 8, 4096)  # SO_RCVBUF
                made.sendall(head("/page/style.css", "GET") * 1_000)
            wait_until(lambda: in_flight() > 5, "answers that nobody reads")
            wait_until(lambda: in_flight() == 1, "only the question itself in work")
        finally:
            for made in held:
                made.close()


class TestHeads:
    @pytest.mark.parametrize("name", ["X-Large", "Cookie", "X-Request-ID", "Authorization", "Accept", "Host"])
    def test_a_huge_header_is_refused(self, service, name):
        request = post(ONE, host="localhost").replace(b"\r\n", f"\r\n{name}: {'x' * MIB}\r\n".encode(), 1)
        answer = ask(service, request)
        assert answer is None or answer.status in (400, 431)

    def test_headers_without_end_are_refused(self, service):
        with service.connect() as made:
            made.sendall(b"POST /score HTTP/1.1\r\nHost: localhost\r\n")
            line, sent = b"X-More: " + b"x" * 8_000 + b"\r\n", 0
            try:
                while sent < 100 * MIB:
                    made.sendall(line)
                    sent += len(line)
            except ConnectionError:
                pass
        assert sent < 100 * MIB

    def test_a_name_without_end_is_refused(self, service):
        with service.connect() as made:
            sent = 0
            try:
                made.sendall(b"POST /score HTTP/1.1\r\n")
                while sent < 100 * MIB:
                    made.sendall(b"x" * 65_536)
                    sent += 65_536
            except ConnectionError:
                pass
        assert sent < 100 * MIB

    def test_a_path_without_end_is_refused(self, service):
        answer = ask(service, head("/" + "x" * (4 * MIB), "GET"))
        assert answer is None or answer.status in (400, 404, 414, 431)

    @pytest.mark.parametrize(
        "host", ["evil.example", "localhost@evil.example", "", "a" * 3000, "127.0.0.1.evil.example"]
    )
    def test_a_foreign_name_is_refused(self, service, host):
        refused(service, post(ONE, host=host), 400, 421)

    def test_a_request_id_cannot_break_out_of_its_header(self, service):
        answer = ask(service, post(ONE, X_Request_ID="a\tb<script>"))
        assert answer.status == 200
        assert "script" not in answer.headers["x-request-id"]

    @pytest.mark.parametrize(
        "start",
        [
            b"GET /\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00" + np.random.default_rng(0).bytes(400),
            b"\0" * 100,
            b"GET / HTTP/9.9\r\n\r\n",
            b"SSH-2.0-OpenSSH_9.2\r\n",
        ],
    )
    def test_another_protocol_is_refused(self, service, start):
        with service.connect() as made:
            made.sendall(start)
            made.shutdown(1)
            found = responses(made)
        assert not found or found[0].status in (400, 505)


class TestMethodsAndPaths:
    @pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "PROPFIND"])
    def test_another_method_is_refused(self, service, method):
        refused(service, head(method=method), 405)

    @pytest.mark.parametrize("method", ["BREW", "post", "P" * 5000, "CONNECT"])
    def test_a_method_that_is_none_is_refused(self, service, method):
        answer = ask(service, head(method=method, Content_Length=0))
        assert answer is None or answer.status in (400, 404, 405, 501)

    @pytest.mark.parametrize(
        "path",
        [
            "/models/..%2f..%2fetc/score",
            "/models/%2e%2e/score",
            "/page/../../../../etc/passwd",
            "/page/%2e%2e/%2e%2e/app.py",
            "/models/%ff/score",
            "/models/" + "x" * 3000 + "/score",
            "/models/\x00/score",
            "//score",
            "/score/",
            "/models//score",
            "/page/..%5c..%5capp.py",
            "/nothing",
        ],
    )
    def test_a_path_that_is_none_is_refused(self, service, path):
        for method in ("POST", "GET"):
            answer = ask(service, head(path, method, Content_Type=JSON, Content_Length=0))
            if answer is not None:
                assert answer.status in (400, 404, 405, 307), answer.status
                assert b"root:" not in answer.body
                assert b"import " not in answer.body

    def test_http_1_0_is_answered_and_closed(self, service):
        request = post(ONE).replace(b"HTTP/1.1", b"HTTP/1.0")
        with service.connect() as made:
            made.sendall(request)
            found = responses(made)
            assert found[0].said["rows"][0]["uncertainty"] == service.expected
            assert made.recv(1) == b""

    def test_pipelined_requests_are_answered_in_order(self, service):
        with service.connect() as made:
            ids = [f"p{k}" for k in range(200)]
            made.sendall(b"".join(post(json.dumps({"rows": [{**ROW, "id": name}], "record": False})) for name in ids))
            found = responses(made, len(ids))
        assert [one.said["rows"][0]["id"] for one in found] == ids

    def test_a_refusal_in_a_pipeline_does_not_shift_the_answers(self, service):
        with service.connect() as made:
            made.sendall(post(ONE) + post("{") + head("/health", "GET") + post(ONE))
            found = responses(made, 4)
        assert [one.status for one in found] == [200, 400, 200, 200]

    def test_an_upgrade_is_not_taken(self, service):
        answer = ask(
            service,
            head(
                "/", "GET", Upgrade="websocket", Connection="Upgrade", Sec_WebSocket_Key="x", Sec_WebSocket_Version="13"
            ),
        )
        assert answer is None or answer.status in (200, 400, 404, 426)

    def test_a_client_that_waits_for_100_is_served(self, service):
        with service.connect() as made:
            made.sendall(head(Content_Type=JSON, Content_Length=len(ONE), Expect="100-continue"))
            time.sleep(0.1)
            made.sendall(ONE.encode())
            found = responses(made)
        assert found[0].said["rows"][0]["uncertainty"] == service.expected


@pytest.mark.nightly
def test_large_bodies_beyond_the_limit_are_refused_and_those_within_are_answered(service):
    """More tables at once than there is room for: each is answered or refused as busy."""
    body = stream(pa.table({"entropy": np.ones(ROWS), "knn": np.ones(ROWS), "note": ["x" * 1000] * ROWS}))
    many = [service.connect() for _ in range(40)]
    try:
        for made in many:
            made.setblocking(False)
            made.send(post(body, kind=STREAM)[:100_000])  # the beginning of each
        time.sleep(0.5)
        statuses = []
        for made in many:
            made.settimeout(30)
            with contextlib.suppress(ConnectionError):
                made.sendall(post(body, kind=STREAM)[100_000:])
            statuses += [one.status for one in responses(made)]
    finally:
        for made in many:
            made.close()
    assert set(statuses) <= {200, 408, 413, 429}


@pytest.mark.nightly
def test_the_metrics_do_not_grow_with_strange_paths(service):
    def size():
        return len(ask(service, head("/metrics", "GET")).body)

    before = size()
    for k in range(300):
        ask(service, head(f"/strange/{k}", "GET"))
        ask(service, head(f"/models/strange{k}/score", Content_Type=JSON, Content_Length=0))
    wait_until(lambda: size() < before + 3_000, "metrics of a bounded size")
