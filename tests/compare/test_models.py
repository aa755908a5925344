"""Models that compare texts: endpoints and an ONNX file; each is asked once."""

import json
import pickle
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import numpy.testing as npt
import pytest

from vecuq.compare import EndpointEmbedding, EndpointJudge, EndpointNLI, OnnxNLI, Remembered
from vecuq.errors import SettingError, TableError, VecuqError
from vecuq.measures.text import TextSettings, measure_answer

PAIRS = [("a b", "a c"), ("d", "d e")]
ASKED = [("Who?", one, other) for one, other in PAIRS]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body))
        code, reply = self.server.answer(self.path, body)
        content = json.dumps(reply).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def embedded(_path, body):
    rows = [{"index": k, "embedding": [float(len(text)), 1.0]} for k, text in enumerate(body["input"])]
    return 200, {"data": rows[::-1]}


def saying(*words):
    left = list(words)
    return lambda _path, _body: (200, {"choices": [{"message": {"content": left.pop(0)}}]})


@pytest.fixture
def server():
    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.daemon_threads, found.requests = True, []
    found.url = f"http://127.0.0.1:{found.server_port}/v1"
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield found
    found.shutdown()
    found.server_close()


def test_embeddings_come_from_an_endpoint_in_the_order_of_the_texts(server):
    server.answer = embedded
    model = EndpointEmbedding(server.url, "small")
    assert model(["a", "bbb"]) == [[1.0, 1.0], [3.0, 1.0]]
    assert server.requests == [("/v1/embeddings", {"model": "small", "input": ["a", "bbb"]})]
    assert len(model([str(k) for k in range(300)])) == 300
    assert len(server.requests) == 4


@pytest.mark.parametrize("data", [None, [], [{"embedding": [1]}], [{"embedding": "x"}] * 2, [{"embedding": []}, {}]])
def test_embeddings_of_another_shape_are_refused(server, data):
    server.answer = lambda *_: (200, {"data": data})
    with pytest.raises(TableError, match="one embedding per text: 2 were needed"):
        EndpointEmbedding(server.url, "small")(["a", "b"])


def test_a_judge_is_asked_with_the_question_and_replies_yes_or_no(server):
    server.answer = saying("Yes.", "<think>hm</think>**no**")
    assert EndpointJudge(server.url, "big")(ASKED) == [1.0, 0.0]
    prompt = server.requests[0][1]["messages"][0]["content"]
    assert "Question: Who?" in prompt
    assert "Answer 1: a b" in prompt


@pytest.mark.parametrize("word", ["maybe", "", "I cannot say yes or no"])
def test_a_reply_that_is_neither_is_an_error_that_shows_it(server, word):
    server.answer = saying(word)
    with pytest.raises(TableError, match=r"must reply with one of \['yes', 'no'\]"):
        EndpointJudge(server.url, "big")(ASKED[:1])


def test_a_refusal_is_an_error_that_says_so(server):
    server.answer = lambda *_: (200, {"choices": [{"message": {"content": None, "refusal": "I will not."}}]})
    with pytest.raises(TableError, match="refused to compare two texts: 'I will not"):
        EndpointJudge(server.url, "big")(ASKED[:1])


def test_a_model_that_knows_no_temperature_is_asked_without(server):
    def strict(_path, body):
        return (400, {"error": "temperature"}) if "temperature" in body else saying("yes")(None, None)

    server.answer = strict
    assert EndpointJudge(server.url, "o")(ASKED[:1]) == [1.0]


def test_an_endpoint_may_judge_entailment(server):
    server.answer = saying("entailment", "Contradiction")
    assert EndpointNLI(server.url, "big")(PAIRS) == [[0, 0, 1], [1, 0, 0]]


def test_an_endpoint_survives_pickling_and_names_no_key(server):
    server.answer = embedded
    model = EndpointEmbedding(server.url, "small", api_key="a-secret-of-mine", on_retry=print)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    assert again(["ab"]) == [[2.0, 1.0]]
    assert "secret" not in model.name


def test_a_measure_by_embeddings_sends_each_text_once(server):
    server.answer = embedded
    model = Remembered(EndpointEmbedding(server.url, "small"))
    settings = TextSettings(similarity="embedding", embed=model)
    for _ in range(2):
        found = measure_answer({"text": "a", "samples": ["bbb", "a", "cc"]}, ["consistency", "degree_matrix"], settings)
        assert found.compared == f"small at {server.url[:-3]}"
        assert sum(len(body["input"]) for _, body in server.requests) == model.n_asked == settings.n_asked == 3


# The ONNX path


@pytest.fixture(scope="module")
def tiny_nli(tmp_path_factory):
    """A model whose logits are the mean of one row of a table per word: entail, contradict, neutral."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    folder = tmp_path_factory.mktemp("nli")
    words = {"[PAD]": 0, "[UNK]": 1, "yes": 2, "no": 3, "so": 4}
    table = np.zeros((5, 3), np.float32)
    table[2], table[3], table[4] = (3, 0, 0), (0, 3, 0), (0, 0, 3)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["rows", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "second"], ["logits"], keepdims=0),
    ]
    constants = [
        helper.make_tensor("table", TensorProto.FLOAT, table.shape, table.ravel()),
        helper.make_tensor("last", TensorProto.INT64, [1], [2]),
        helper.make_tensor("second", TensorProto.INT64, [1], [1]),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "m"]) for name in ("input_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 3])]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, folder / "model.onnx")
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))  # noqa: S106 - a token of text
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    labels = {"0": "ENTAILMENT", "1": "CONTRADICTION", "2": "NEUTRAL"}
    (folder / "config.json").write_text(json.dumps({"id2label": labels}))
    return folder


def test_an_onnx_file_gives_probabilities_in_our_order(tiny_nli):
    found = OnnxNLI(tiny_nli)([("yes", "x"), ("no", "no so long a text"), ("x", "y")])
    assert found.shape == (3, 3)
    npt.assert_allclose(found.sum(axis=1), 1.0)
    e = np.exp(3)
    npt.assert_allclose(found[0], np.array([1, 1, e]) / (e + 2), rtol=1e-5)  # entailment is our last
    assert found[1].argmax() == 0
    npt.assert_allclose(found[2], 1 / 3)
    npt.assert_allclose(OnnxNLI(tiny_nli / "model.onnx")([("yes", "x")])[0], found[0])


def test_pairs_beyond_one_batch_and_beyond_the_longest_text_are_read(tiny_nli):
    found = OnnxNLI(tiny_nli)([("yes", "x " * k) for k in range(1, 40)] + [("yes", "no " * 5000)])
    assert found.shape == (40, 3)
    npt.assert_allclose(found[:39], np.tile(found[0], (39, 1)), rtol=1e-5)


def test_nli_serves_similarity_graph_and_classes(tiny_nli):
    settings = TextSettings(similarity="nli", nli=Remembered(OnnxNLI(tiny_nli)))
    found = measure_answer(
        {"text": "yes", "samples": ["yes x", "no", "yes y"]},
        ["consistency", "semantic_entropy_empirical", "degree_matrix"],
        settings,
    )
    assert found.reasons == {}
    assert found.compared == "nli"
    assert found.values["semantic_entropy_empirical"] == pytest.approx(-(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3)))


def test_a_folder_without_a_model_and_a_damaged_file_are_refused(tiny_nli, tmp_path):
    with pytest.raises(VecuqError, match=r"model\.onnx"):
        OnnxNLI(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"none")
    with pytest.raises(VecuqError, match=r"tokenizer\.json"):
        OnnxNLI(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((tiny_nli / "tokenizer.json").read_bytes())
    with pytest.raises(SettingError, match="cannot be loaded"):
        OnnxNLI(tmp_path)(PAIRS)


@pytest.mark.parametrize("config", ["{}", "no", '{"id2label": {"0": "yes", "1": "no", "2": "so"}}', '{"id2label": 3}'])
def test_classes_in_an_unknown_order_are_refused(tiny_nli, tmp_path, config):
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes((tiny_nli / name).read_bytes())
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(SettingError, match="id2label"):
        OnnxNLI(tmp_path)(PAIRS)


def test_a_missing_package_is_named(tiny_nli, monkeypatch):
    from vecuq.compare import onnx_nli

    onnx_nli._loaded.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(SettingError, match=r"pip install 'vecuq\[nli\]'"):
        OnnxNLI(tiny_nli)(PAIRS)


# Results are remembered


def counting():
    asked = []

    def model(items):
        asked.extend(items)
        return [float(len(item)) for item in items]

    return model, asked


def test_a_model_is_asked_about_each_item_once():
    model, asked = counting()
    known = Remembered(model)
    assert known(["a", "bb", "a"]).tolist() == [1.0, 2.0, 1.0]
    assert known(["bb", "ccc"]).tolist() == [2.0, 3.0]
    assert asked == ["a", "bb", "ccc"]


def test_rows_of_another_length_are_refused():
    known = Remembered(lambda items: [[1.0] * len(items[0])])
    known(["a"])
    with pytest.raises(TableError, match="rows of one length"):
        known(["a", "bb"])
