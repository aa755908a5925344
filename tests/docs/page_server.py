"""A stand-in for a language model behind an OpenAI-compatible address: for pages that ask one on this machine.

It answers at once and always the same: a greedy answer, samples that mostly agree with it, log-probabilities, vectors
of letters as embeddings, and `yes` or `no` to the question whether two answers mean the same.
"""

import json
import math
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWERS = ("Goethe wrote it.", "It was Goethe.", "Schiller wrote it.")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 "


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            reply = {"data": [{"index": k, "embedding": letters_of(text)} for k, text in enumerate(body["input"])]}
        else:
            reply = chat(body)
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def letters_of(text):
    """Return how often each letter occurs."""
    return [text.lower().count(letter) + 0.01 for letter in LETTERS]


def chat(body):
    """Return a reply with as many choices as asked for."""
    asked = json.dumps(body["messages"][-1]["content"])
    choices = [choice(k, *said(asked, body, k)) for k in range(body.get("n", 1))]
    written = sum(len(one["logprobs"]["content"]) for one in choices)
    usage = {"prompt_tokens": len(asked.split()), "completion_tokens": written, "total_tokens": written}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": body["model"], "choices": choices, "usage": usage}


def said(asked, body, k):
    """Return the text of a choice and the probability of its tokens."""
    if "mean the same" in asked:
        return "yes", 0.9
    if "(A)" in asked:
        return "A", 0.9
    if "percent" in asked.lower():
        return "90%", 0.9
    if body.get("temperature") == 0:
        return ANSWERS[0], 0.9
    draw = (len(asked) + 7 * (body.get("seed") or 0) + 3 * k) % 5
    return ANSWERS[min(max(draw - 2, 0), 2)], 0.9 - 0.1 * draw


def choice(k, text, probability):
    tokens = [
        {
            "token": piece,
            "logprob": math.log(probability),
            "top_logprobs": [
                {"token": piece, "logprob": math.log(probability)},
                {"token": "?" if piece != "A" else "B", "logprob": math.log1p(-probability)},
            ],
        }
        for piece in re.findall(r"\s*\S+", text)
    ]
    message = {"role": "assistant", "content": text}
    return {"index": k, "message": message, "logprobs": {"content": tokens}, "finish_reason": "stop"}


@contextmanager
def language_model():
    """Yield the port on which the stand-in listens."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
