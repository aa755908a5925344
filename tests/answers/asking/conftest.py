"""A local OpenAI-compatible server that answers at once, and can be told to misbehave."""

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.requests.append((self.path, dict(self.headers), body))
        time.sleep(server.delay)
        if server.refuses(body):
            self.reply(server.refusal, {"error": {"message": "a filter is against it", "code": "filter"}})
        elif server.script:
            code, content, *ways = server.script.pop(0)
            self.reply(code, content, **dict(*ways))
        elif body.get("n", 1) > server.most_choices:
            self.reply(400, {"error": "only one choice is allowed"})
        elif wrong := next((field for field in server.refused_fields if server.refuses_field(field, body)), None):
            message = server.refused_fields[wrong]
            named = {"param": wrong, "code": "unsupported_parameter"} if server.names_params else {}
            self.reply(400, {"error": {"message": message, **named}})
        elif server.only_streams and not body.get("stream"):
            self.reply(400, {"error": {"message": "This model only supports stream mode."}})
        elif body.get("stream"):
            self.reply(200, streamed(server.answer(self.path, body)), headers=[("Content-Type", "text/event-stream")])
        else:
            self.reply(200, server.answer(self.path, body))

    def reply(self, code, content, *, missing=0, tells_length=True, headers=()):
        """Send a reply; of its last bytes, some may be missing."""
        payload = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        if tells_length:
            self.send_header("Content-Length", str(len(payload)))
        if code == 302:
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()
        self.wfile.write(payload[: len(payload) - missing])

    def log_message(self, *_):
        pass


def streamed(reply, pieces=2):
    """The events of a reply, its choices in turn and each in pieces, as a server streams them."""
    events = []
    for part in range(pieces):
        for index, choice in enumerate(reply["choices"]):
            events.append({"choices": [piece_of(choice, index, part, pieces)]})
    if reply.get("usage"):
        events.append({"choices": [], "usage": reply["usage"]})
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"


def piece_of(choice, index, part, pieces):
    def share(whole):
        size = -(-len(whole) // pieces)
        return whole[part * size : (part + 1) * size]

    finish = choice["finish_reason"] if part == pieces - 1 else None
    logprobs = choice["logprobs"] and {name: share(values) for name, values in choice["logprobs"].items()}
    text = choice["message"]["content"] if "message" in choice else choice["text"]
    said = {"delta": {"content": share(text)}} if "message" in choice else {"text": share(text)}
    return {"index": index, **said, "logprobs": logprobs, "finish_reason": finish}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.script = [], []
        self.delay, self.most_choices, self.tells_logprobs = 0.0, 1_000, True
        self.end_tokens, self.filtered, self.refusal = (), (), 400
        # Fields that are refused, with the server's words, and for which values; usage of one choice.
        self.refused_fields, self.refused_values, self.names_params = {}, {}, True
        self.only_streams, self.usage = False, None
        # What is said to a request with certain words: the text, and the log-probs of the first token.
        self.says = {}
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        """Say nothing of clients that have gone; some tests have them go."""

    def refuses(self, body):
        asked = json.dumps(body)
        return any(word in asked for word in self.filtered)

    def refuses_field(self, field, body):
        return field in body and self.refused_values.get(field, lambda _: True)(body[field])

    def answer(self, path, body):
        chat = path.partition("?")[0].endswith("chat/completions")
        asked = body["messages"][-1]["content"] if chat else body["prompt"]
        seed = body.get("seed", 0)
        n_choices = body.get("n", 1)
        usage = {"usage": {name: n_choices * count for name, count in self.usage.items()}} if self.usage else {}
        for words, (text, tops) in self.says.items():
            if words in asked:
                return {"choices": [self.said(text, tops)], **usage}
        return {"choices": [self.choice(chat, f"{asked} {seed + k}") for k in range(n_choices)], **usage}

    def said(self, text, tops):
        top = [{"token": token, "logprob": value} for token, value in tops.items()]
        content = [{"token": text, "logprob": top[0]["logprob"], "top_logprobs": top}] if top else None
        return {"message": {"content": text}, "logprobs": content and {"content": content}, "finish_reason": "stop"}

    def choice(self, chat, text):
        top = [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1.5}]
        spelt = [*re.findall(r"\s*\S+", text), *self.end_tokens]
        tokens = [{"token": piece, "logprob": -0.5, "top_logprobs": top} for piece in spelt]
        old = {
            "tokens": spelt,
            "token_logprobs": [-0.5] * len(tokens),
            "top_logprobs": [{"a": -0.5, "b": -1.5}] * len(tokens),
        }
        told = ({"content": tokens} if chat else old) if self.tells_logprobs else None
        said = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        return {**said, "logprobs": told, "finish_reason": "stop"}


@pytest.fixture
def server():
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture
def as_stream():
    """What turns a reply into the bytes of a stream."""
    return streamed


@pytest.fixture
def write_questions(tmp_path):
    def write(n_questions):
        path = tmp_path / "questions.jsonl"
        rows = [{"id": f"q{k}", "question": f"what is {k}", "answer": str(k), "level": k} for k in range(n_questions)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


@pytest.fixture
def words(server):
    """The command line that asks the server."""

    def line(questions, out, *more):
        return ["ask", questions, "--url", server.url, "--model", "tiny", "-o", out, "--samples", "2", *more]

    return line


@pytest.fixture
def lines_of():
    return lambda path: [json.loads(line) for line in path.read_text().splitlines()]
