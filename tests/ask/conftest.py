"""A local OpenAI-compatible server that answers at once, and can be told to misbehave."""

import json
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
        if server.script:
            self.reply(*server.script.pop(0))
        elif body.get("n", 1) > server.most_choices:
            self.reply(400, {"error": "only one choice is allowed"})
        else:
            self.reply(200, server.answer(self.path, body))

    def reply(self, code, content):
        payload = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(payload)))
        if code == 302:
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.script = [], []
        self.delay, self.most_choices, self.tells_logprobs = 0.0, 1_000, True
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def answer(self, path, body):
        chat = path.endswith("chat/completions")
        asked = body["messages"][-1]["content"] if chat else body["prompt"]
        seed = body.get("seed", 0)
        return {"choices": [self.choice(chat, f"{asked} {seed + k}") for k in range(body.get("n", 1))]}

    def choice(self, chat, text):
        top = [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1.5}]
        tokens = [{"token": word, "logprob": -0.5, "top_logprobs": top} for word in text.split()]
        old = {
            "tokens": text.split(),
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
def write_questions(tmp_path):
    def write(n_questions):
        path = tmp_path / "questions.jsonl"
        rows = [{"id": f"q{k}", "question": f"what is {k}", "answer": str(k), "level": k} for k in range(n_questions)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write
