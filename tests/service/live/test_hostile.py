"""Hostile requests to a running service: refused with a clear body or closed, and the service goes on as before."""

import io
import json
import os
import struct
import time
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from started import head, post, responses, started, wait_until

from vecuq import load

MIB = 2**20
BODY, ROWS, COLUMNS, SECONDS = 8, 5_000, 1_000, 3
ROOM = 500 * MIB  # that the service may take beyond what it had, whatever comes
ROW = {"entropy": 0.5, "knn": 1.5}
ONE = json.dumps({"rows": [ROW]})
CSV, PARQUET, STREAM, LINES = (
    "text/csv",
    "application/vnd.apache.parquet",
    "application/vnd.apache.arrow.stream",
    "application/x-ndjson",
)
JSON = "application/json"


@pytest.fixture(scope="module")
def saved(ranker, tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "model.vecuq"
    ranker.save(path)
    return path


@pytest.fixture(scope="module")
def running(saved):
    words = ["--max-body", BODY, "--max-rows", ROWS, "--max-columns", COLUMNS, "--timeout", SECONDS]
    with started(saved, "--store", saved.with_name("feedback.db"), *words) as service:
        service.expected = float(load(saved).uncertainty([ROW])[0])
        assert score(service) == service.expected
        yield service
        assert not [one for one in service.log if one["level"] == "error" and "failed" in one["message"]]


def score(service):
    """Score one good row on a connection of its own."""
    with service.connect() as made:
        made.sendall(post(ONE))
        return responses(made)[0].said["rows"][0]["uncertainty"]


@pytest.fixture
def service(running):
    """The service, which must answer as before after every attack, with bounded memory."""
    before = running.most_memory()
    pid = running.process.pid
    yield running
    assert running.process.poll() is None
    assert running.process.pid == pid
    assert score(running) == running.expected
    assert running.most_memory() < before + ROOM


def ask(service, request):
    """Send bytes, and return the first answer; None if the connection was closed without one."""
    with service.connect() as made:
        try:
            made.sendall(request)
        except ConnectionError:
            pass  # refused before all was sent; the answer may still be there
        found = responses(made)
    return found[0] if found else None


def refused(service, request, *statuses):
    """Send bytes that must be refused, with one of these statuses and our body; return the word of the refusal."""
    answer = ask(service, request)
    assert answer is not None, "closed without a word"
    return check_refusal(answer, *statuses)


def check_refusal(answer, *statuses):
    assert answer.status in statuses, (answer.status, answer.body[:300])
    assert answer.headers["content-type"].startswith(JSON)
    said = answer.said
    assert set(said) == {"error", "message", "request_id"}
    assert said["error"]
    assert said["message"]
    shown = answer.body.decode()
    assert "Traceback" not in shown
    assert "/tmp" not in shown
    assert "site-packages" not in shown
    return said["error"]


def parquet(table, **how):
    sink = io.BytesIO()
    pq.write_table(table, sink, **how)
    return sink.getvalue()


def stream(table, compression=None):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return sink.getvalue()


TABLE = pa.table({"entropy": np.linspace(0, 1, 500), "knn": np.linspace(1, 2, 500)})


class TestCutAndAltered:
    @pytest.mark.parametrize("kind", [PARQUET, STREAM])
    @pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.999])
    def test_a_truncated_table_is_refused(self, service, kind, share):
        whole = parquet(TABLE) if kind == PARQUET else stream(TABLE)
        cut = whole[: int(len(whole) * share)]
        answer = ask(service, post(cut, kind=kind))
        # An Arrow stream may lack its end mark: cut behind the last batch, it is whole.
        if answer.status != 200 or kind == PARQUET:
            check_refusal(answer, 400, 422)

    @pytest.mark.parametrize("kind", [PARQUET, STREAM])
    def test_an_altered_table_is_refused_or_read(self, service, kind):
        rng, whole = np.random.default_rng(0), parquet(TABLE) if kind == PARQUET else stream(TABLE)
        for _ in range(60):
            altered = bytearray(whole)
            for place in rng.integers(len(whole), size=3):
                altered[place] = rng.integers(256)
            answer = ask(service, post(bytes(altered), kind=kind))
            assert answer is not None
            if answer.status != 200:
                check_refusal(answer, 400, 413, 422)

    @pytest.mark.parametrize("kind", [PARQUET, STREAM, "application/vnd.apache.arrow.file", CSV, LINES, JSON])
    @pytest.mark.parametrize(
        "body", [b"", b"\0" * 1000, os.urandom(4000), b"PAR1", b"ARROW1\0\0", b"\xff" * 64, b"\n" * 100]
    )
    def test_what_is_no_table_is_refused(self, service, kind, body):
        refused(service, post(body, kind=kind), 400, 422)


class TestBombs:
    def test_a_parquet_bomb_of_rows_is_refused(self, service):
        sink = io.BytesIO()
        constant = pa.table({name: np.full(2_000_000, 0.5) for name in ROW})
        with pq.ParquetWriter(sink, constant.schema, compression="zstd") as writer:
            for _ in range(200):
                writer.write_table(constant)
        assert len(sink.getvalue()) < BODY * MIB  # 400 million rows
        refused(service, post(sink.getvalue(), kind=PARQUET), 413)

    @pytest.mark.parametrize("how", [{"use_dictionary": True}, {"use_dictionary": False, "compression": "zstd"}])
    def test_a_parquet_bomb_of_long_texts_is_refused(self, service, how):
        text = "x" * (2 * MIB)
        table = pa.table(
            {"entropy": np.ones(ROWS), "knn": np.ones(ROWS), "note": pa.array([text] * 200 + [""] * (ROWS - 200))}
        )
        body = parquet(table, **how)
        assert len(body) < BODY * MIB
        refused(service, post(body, kind=PARQUET), 413, 422)

    def test_a_compressed_arrow_stream_is_refused_before_it_grows(self, service):
        text = "x" * (5 * MIB)
        table = pa.table({"entropy": np.ones(100), "knn": np.ones(100), "note": pa.array([text] * 100)})
        body = stream(table, "zstd")
        assert len(body) < BODY * MIB
        refused(service, post(body, kind=STREAM), 413, 422)

    @pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
    def test_a_compressed_body_is_refused(self, service, encoding):
        packed = zlib.compress(b"entropy,knn\n" + b"0.5,1.5\n" * 2_000_000, 9)
        refused(service, post(packed, kind=CSV, Content_Encoding=encoding), 415)

    def test_a_footer_that_promises_too_much_is_refused(self, service):
        body = bytearray(parquet(TABLE))
        body[-8:-4] = struct.pack("<I", 2**31 - 1)
        refused(service, post(bytes(body), kind=PARQUET), 400, 422)

    def test_a_batch_that_promises_too_much_is_refused(self, service):
        body = bytearray(stream(TABLE))
        body[4:8] = struct.pack("<I", 2**31 - 1)  # the length of the first message
        refused(service, post(bytes(body), kind=STREAM), 400, 422)


class TestManyColumnsAndRows:
    def test_a_million_columns_in_a_header_are_refused(self, service):
        header = ",".join(f"c{k:x}" for k in range(1_000_000)).encode()
        refused(service, post(header + b"\n1\n", kind=CSV), 422)

    def test_a_row_with_a_million_keys_is_refused_or_read(self, service):
        row = "{" + ",".join(f'"c{k:x}":1' for k in range(600_000)) + ',"entropy":0.5,"knn":1.5}'
        answer = ask(service, post(f'{{"rows":[{row}]}}'))
        assert answer.status == 200 or check_refusal(answer, 413, 422)

    def test_lines_with_a_million_keys_are_refused(self, service):
        row = "{" + ",".join(f'"c{k:x}":1' for k in range(500_000)) + "}\n"
        refused(service, post(row, kind=LINES), 413, 422)

    @pytest.mark.parametrize("kind", [PARQUET, STREAM])
    def test_a_table_with_too_many_columns_is_refused(self, service, kind):
        wide = pa.table({f"c{k}": [1.0] for k in range(COLUMNS + 1)})
        refused(service, post(parquet(wide) if kind == PARQUET else stream(wide), kind=kind), 422)

    @pytest.mark.parametrize("kind", [JSON, CSV, LINES, PARQUET, STREAM])
    def test_one_row_too_many_is_refused(self, service, kind):
        n = ROWS + 1
        table = pa.table({name: np.full(n, value) for name, value in ROW.items()})
        line = json.dumps(ROW)
        body = {
            JSON: lambda: '{"rows":[' + ",".join([line] * n) + "]}",
            CSV: lambda: "entropy,knn\n" + "0.5,1.5\n" * n,
            LINES: lambda: f"{line}\n" * n,
            PARQUET: lambda: parquet(table),
            STREAM: lambda: stream(table),
        }[kind]()
        assert refused(service, post(body, kind=kind), 413) in ("too_large", "too_many_rows")

    def test_doubled_columns_are_refused(self, service):
        refused(service, post("entropy,entropy,knn\n1,2,3\n", kind=CSV), 422)


class TestNumbers:
    @pytest.mark.parametrize(
        "value", ["NaN", "Infinity", "-Infinity", "1e309", "-1e999", "0x10", "1.", ".5", "+1", "01", "1e", "--1", "١"]
    )
    def test_what_is_no_number_of_json_is_refused(self, service, value):
        refused(service, post(f'{{"rows":[{{"entropy":{value},"knn":1.0}}]}}'), 400, 422)

    @pytest.mark.parametrize(
        "value", ["1e308", "-1e308", "1e-320", "-0.0", "12345678901234567890123456789", "0." + "1" * 5000]
    )
    def test_the_largest_and_smallest_numbers_are_scored(self, service, value):
        answer = ask(service, post(f'{{"rows":[{{"entropy":{value},"knn":{value}}}]}}'))
        assert answer.status == 200, answer.body
        found = answer.said["rows"][0]["uncertainty"]
        assert found is None or abs(found) < 1e300

    @pytest.mark.parametrize("cell", ["1e308", "nan", "inf", "-inf", "", "NA"])
    def test_odd_cells_of_a_csv_get_a_score_or_none(self, service, cell):
        answer = ask(service, post(f"entropy,knn\n{cell},1.5\n0.5,1.5\n", kind=CSV, Accept=JSON))
        assert answer.status == 200, answer.body
        assert answer.said["rows"][1]["uncertainty"] == service.expected

    @pytest.mark.parametrize(
        "value", ['"abc"', '"1.5"', "[]", "{}", "true", '"\\u0000"', "[1]", '"' + "9" * 100_000 + '"']
    )
    def test_wrong_types_are_refused(self, service, value):
        refused(service, post(f'{{"rows":[{{"entropy":{value},"knn":1.0}}]}}'), 400, 422)


class TestBodiesOfJson:
    @pytest.mark.parametrize(
        "body",
        ["null", "1", '"rows"', "[]", "{}", '{"rows":null}', '{"rows":{}}', '{"rows":[1]}', '{"rows":[null]}', '{"rows":[[]]}',
         '{"rows":[{}]}', '{"rows":[{"entropy":1.0}]}', '{"rows":[],"alpha":"x"}', '{"rows":[{}],"unknown":1}', '{"rows":[{"entropy":1}',
         '{"rows":[]}}', '{"rows":[]} x', "\ufeff{}", '{"rows":[{"entropy":0.5,"knn":1.5,"id":[]}]}',
         '{"rows":[{"entropy":0.5,"knn":1.5}],"alpha":2}', '{"rows":[{"entropy":0.5,"knn":1.5}],"missing":"no"}',
         '{"rows":[{"entropy":0.5,"knn":1.5,"id":"%s"}]}' % ("x" * 100_000)],
    )  # fmt: skip
    def test_what_is_not_asked_for_is_refused(self, service, body):
        refused(service, post(body), 400, 422)

    @pytest.mark.parametrize("path", ["/score", "/judge", "/feedback"])
    @pytest.mark.parametrize(
        "opening", ['{"rows":[{"entropy":', '{"zzz":', '{"reply":', '{"feedback":', "", '{"rows":[{"zzz":']
    )
    @pytest.mark.parametrize("bracket", ["[", '{"a":'])
    def test_deep_json_is_refused(self, service, path, opening, bracket):
        refused(service, post(opening + bracket * 100_000, path=path), 400, 413, 422)
        closing = {"[": "]", '{"a":': "1}"}[bracket]
        whole = opening + bracket * 100_000 + closing * (1 if bracket == '{"a":' else 100_000)
        refused(service, post(whole, path=path), 400, 413, 422)

    @pytest.mark.parametrize("kind", [JSON, CSV, LINES])
    @pytest.mark.parametrize("broken", [b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"])
    def test_invalid_utf8_is_refused_or_left_alone(self, service, kind, broken):
        if kind == CSV:
            answer = ask(service, post(b"entropy,knn,note\n0.5,1.5," + broken + b"\n", kind=kind))
            assert answer.status == 200 or check_refusal(answer, 400, 422)
            refused(service, post(b"entro" + broken + b"py,knn\n0.5,1.5\n", kind=kind), 400, 422)
            return
        row = b'{"entropy":0.5,"knn":1.5,"id":"' + broken + b'"}'
        refused(service, post(b'{"rows":[' + row + b"]}" if kind == JSON else row, kind=kind), 400, 422)

    @pytest.mark.parametrize(
        "query",
        ["alpha=x", "alpha=-1", "alpha=nan", "zzz=1", "explain=maybe", "%ff=%00", "alpha=0.1&alpha=0.2", "&" * 5000],
    )
    def test_odd_options_are_refused_or_ignored(self, service, query):
        answer = ask(service, post(ONE, path=f"/score?{query}"))
        assert (answer.status == 200 and query.startswith("&")) or check_refusal(answer, 400, 422)


class TestContentTypes:
    @pytest.mark.parametrize(
        "kind",
        [
            "application/xml",
            "text/html",
            "multipart/form-data; boundary=x",
            "text/plain",
            "application/",
            "x",
            "/" * 500,
            "é",
        ],
    )
    def test_another_kind_is_refused(self, service, kind):
        refused(service, post(ONE, kind=kind), 415)

    @pytest.mark.parametrize("kind", [CSV, PARQUET, STREAM, LINES])
    def test_json_under_another_name_is_refused(self, service, kind):
        refused(service, post(ONE, kind=kind), 400, 422)

    def test_an_answer_in_a_form_that_is_not_there_is_refused(self, service):
        refused(service, post(ONE, Accept="image/png"), 406)

    @pytest.mark.parametrize("path", ["/judge", "/feedback"])
    def test_a_table_where_json_belongs_is_refused(self, service, path):
        refused(service, post("a,b\n1,2\n", path=path, kind=CSV), 400, 415, 422)


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
            b"\x16\x03\x01\x02\x00\x01\x00" + os.urandom(400),
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
        ["/models/..%2f..%2fetc/score", "/models/%2e%2e/score", "/page/../../../../etc/passwd", "/page/%2e%2e/%2e%2e/app.py", "/models/%ff/score",
         "/models/" + "x" * 3000 + "/score", "/models/\x00/score", "//score", "/score/", "/models//score", "/page/..%5c..%5capp.py", "/nothing"],
    )  # fmt: skip
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
            try:
                made.sendall(post(body, kind=STREAM)[100_000:])
            except ConnectionError:
                pass
            statuses += [one.status for one in responses(made)]
    finally:
        for made in many:
            made.close()
    assert set(statuses) <= {200, 408, 413, 429}


def test_the_metrics_do_not_grow_with_strange_paths(service):
    def size():
        return len(ask(service, head("/metrics", "GET")).body)

    before = size()
    for k in range(300):
        ask(service, head(f"/strange/{k}", "GET"))
        ask(service, head(f"/models/strange{k}/score", Content_Type=JSON, Content_Length=0))
    wait_until(lambda: size() < before + 3_000, "metrics of a bounded size")
