"""Hostile bodies to a running service: refused with a clear body, and the service goes on as before."""

import io
import json
import struct
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attacks import (
    BODY,
    COLUMNS,
    CSV,
    JSON,
    LINES,
    MIB,
    ONE,
    PARQUET,
    ROW,
    ROWS,
    STREAM,
    ask,
    check_refusal,
    ones,
    parquet,
    refused,
    stream,
)
from started import post

BUSY = (503,)  # not done in time, on a busy machine
TABLE = pa.table({"entropy": np.linspace(0, 1, 500), "knn": np.linspace(1, 2, 500)})
NO_TABLES = {
    "nothing": b"",
    "zeros": b"\0" * 1000,
    "random": np.random.default_rng(0).bytes(4000),
    "a mark of parquet": b"PAR1",
    "a mark of Arrow": b"ARROW1\0\0",
    "ones": b"\xff" * 64,
    "line ends": b"\n" * 100,
}


class TestCutAndAltered:
    @pytest.mark.nightly
    @pytest.mark.parametrize("kind", [PARQUET, STREAM])
    @pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.999])
    def test_a_truncated_table_is_refused(self, service, kind, share):
        whole = parquet(TABLE) if kind == PARQUET else stream(TABLE)
        cut = whole[: int(len(whole) * share)]
        answer = ask(service, post(cut, kind=kind))
        # An Arrow stream may lack its end mark: cut behind the last batch, it is whole.
        if answer.status != 200 or kind == PARQUET:
            check_refusal(answer, 400, 422)

    @pytest.mark.nightly
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
    @pytest.mark.parametrize("body", NO_TABLES.values(), ids=NO_TABLES)
    def test_what_is_no_table_is_refused(self, service, kind, body):
        refused(service, post(body, kind=kind), 400, 422)


@pytest.mark.nightly
class TestBombs:
    def test_a_parquet_bomb_of_rows_is_refused(self, service):
        sink = io.BytesIO()
        constant = pa.table({name: np.full(2_000_000, 0.5) for name in ROW})
        with pq.ParquetWriter(sink, constant.schema, compression="zstd") as writer:
            for _ in range(60):
                writer.write_table(constant)
        assert len(sink.getvalue()) < BODY * MIB  # 120 million rows
        refused(service, post(sink.getvalue(), kind=PARQUET), *BUSY, 413)

    def test_a_parquet_bomb_of_long_texts_is_refused(self, service):
        table = pa.table({**ones(ROWS), "note": pa.array(["x" * (2 * MIB)] * 200 + [""] * (ROWS - 200))})
        body = parquet(table, use_dictionary=False, compression="zstd")
        assert len(body) < BODY * MIB
        refused(service, post(body, kind=PARQUET), 413, 422)

    @pytest.mark.parametrize("accept", [PARQUET, STREAM, CSV, LINES, JSON])
    @pytest.mark.parametrize("kind", [PARQUET, STREAM])
    def test_a_text_that_comes_once_and_stands_in_every_row_does_not_fill_the_memory(self, service, kind, accept):
        once = pa.DictionaryArray.from_arrays(pa.array(np.zeros(ROWS, dtype=np.int32)), pa.array(["x" * MIB]))
        table = pa.table({**ones(ROWS), "note": once})  # 5 GB as text
        answer = ask(service, post(parquet(table) if kind == PARQUET else stream(table), kind=kind, Accept=accept))
        if accept in (CSV, LINES):
            assert check_refusal(answer, *BUSY, 413) in ("too_large", "timeout")
        else:
            assert answer.status == 200 or check_refusal(answer, *BUSY, 413, 422)

    @pytest.mark.parametrize("accept", [STREAM, CSV, LINES])
    def test_runs_of_one_text_do_not_fill_the_disk(self, service, accept):
        run = pa.RunEndEncodedArray.from_arrays([ROWS], pa.array(["x" * MIB]))
        answer = ask(service, post(stream(pa.table({**ones(ROWS), "note": run})), kind=STREAM, Accept=accept))
        assert check_refusal(answer, *BUSY, 413) in ("too_large", "timeout")

    def test_long_names_of_fields_are_not_remembered(self, service):
        for k in range(100):
            name = str(k) + "x" * (4 * MIB)
            refused(service, post(json.dumps({"rows": [ROW], "id": name})), 422)

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
        refused(service, post(header + b"\n1\n", kind=CSV), *BUSY, 422)

    def test_a_row_with_a_million_keys_is_refused_or_read(self, service):
        row = "{" + ",".join(f'"c{k:x}":1' for k in range(600_000)) + ',"entropy":0.5,"knn":1.5}'
        answer = ask(service, post(f'{{"rows":[{row}]}}'))
        assert answer.status == 200 or check_refusal(answer, *BUSY, 413, 422)

    @pytest.mark.nightly
    def test_lines_with_a_million_keys_are_refused(self, service):
        row = "{" + ",".join(f'"c{k:x}":1' for k in range(500_000)) + "}\n"
        refused(service, post(row, kind=LINES), *BUSY, 413, 422)

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
        [
            "null",
            "1",
            '"rows"',
            "[]",
            "{}",
            '{"rows":null}',
            '{"rows":{}}',
            '{"rows":[1]}',
            '{"rows":[null]}',
            '{"rows":[[]]}',
            '{"rows":[{}]}',
            '{"rows":[{"entropy":1.0}]}',
            '{"rows":[],"alpha":"x"}',
            '{"rows":[{}],"unknown":1}',
            '{"rows":[{"entropy":1}',
            '{"rows":[]}}',
            '{"rows":[]} x',
            "\ufeff{}",
            '{"rows":[{"entropy":0.5,"knn":1.5,"id":[]}]}',
            '{"rows":[{"entropy":0.5,"knn":1.5}],"alpha":2}',
            '{"rows":[{"entropy":0.5,"knn":1.5}],"missing":"no"}',
            '{"rows":[{"entropy":0.5,"knn":1.5,"id":"%s"}]}' % ("x" * 100_000),
        ],
    )
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
