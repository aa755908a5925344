"""What the hidden preparation of pages makes: score tables, answers with labels, a judge, replies.

A page says `from page_data import ...` in a `<!-- run` comment. What is costly is made once for all pages.
"""

import csv
import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from good_answers import sampled_answers
from vecuq import AnswerPipeline

ROOT = Path(__file__).parents[2]
QUESTION = "Who wrote Faust?"
TOPICS = ("books", "law", "physics")


def score_table(n_rows, seed=0, columns=("entropy", "knn"), **extra):
    """Return gamma scores with labels: the higher the scores of a row, the more often it is wrong."""
    rng = np.random.default_rng(seed)
    doubts = rng.gamma(1.0, size=n_rows)
    scores = {name: doubts * rng.gamma(4.0, 0.25, n_rows) for name in columns}
    wrong = rng.random(n_rows) < np.clip(doubts / 12, 0, 0.9)
    labels = {"is_error": wrong.astype(int), "is_correct": (~wrong).astype(int), "is_ood": (doubts > 4).astype(int)}
    names = {"id": [f"r{seed}-{k}" for k in range(n_rows)], "session": [f"s{k // 5}" for k in range(n_rows)]}
    return pa.table(
        {**names, **scores, **labels, "quality": 1 - np.clip(doubts / 8, 0, 1), **{k: v(rng) for k, v in extra.items()}}
    )


def write_table(path, *args, **how):
    """Write such a table; the ending of the path says how."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    table = score_table(*args, **how)
    pyarrow.csv.write_csv(table, path) if path.suffix == ".csv" else pq.write_table(table, path)


def answer_lines(n_rows, seed=0, errors=0.2):
    """Return answers as vecuq reads them from lines, with labels, a topic, a session and references.

    A sixth of the answers could be wrong, those that their samples doubt most; ``errors`` is the share of them that is.
    """
    answers, wrong = sampled_answers(n_rows, seed)
    wrong &= np.random.default_rng(seed).random(n_rows) < errors
    return [
        {
            **{
                "vecuq_answers": 1,
                "id": f"q{seed}-{k}",
                "question": QUESTION,
                "references": ["Schiller" if bad else "Goethe wrote it"],
            },
            **{"greedy": {"text": one["text"], "logprobs": one["logprobs"]}, "samples": one["samples"]},
            "quality": float(not bad),
            "meta": {"label": int(bad), "topic": TOPICS[k % 3], "session": f"s{k}"},
        }
        for k, (one, bad) in enumerate(zip(answers, wrong, strict=True))
    ]


def write_answers(path, n_rows, seed=0):
    """Write such answers as JSON lines."""
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in answer_lines(n_rows, seed)), "utf-8")


def write_texts(path, n_rows, seed=0):
    """Write such answers as a csv file of texts."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "response", *(f"sample_{k + 1}" for k in range(4)), "label"])
        for k, line in enumerate(answer_lines(n_rows, seed)):
            samples = [one["text"] for one in line["samples"]]
            writer.writerow([f"Who wrote book {k}?", line["greedy"]["text"], *samples, line["meta"]["label"]])


@cache
def _judge(n_rows):
    answers, wrong = sampled_answers(n_rows, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        made = AnswerPipeline(measures=["msp", "consistency"], accuracy=0.8).fit(answers, wrong)
    return made.to_bytes()


def save_judge(path, n_rows=600):
    """Write a judge of replies with four samples."""
    Path(path).write_bytes(_judge(n_rows))


def chat_reply(*texts, logprob=-0.02):
    """Return a reply as OpenAI's chat API sends it, one choice per text."""
    choices = [
        {
            "index": k,
            "message": {"role": "assistant", "content": text},
            "logprobs": {"content": [{"token": text, "logprob": logprob, "top_logprobs": []}]},
            "finish_reason": "stop",
        }
        for k, text in enumerate(texts)
    ]
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": choices}


def replies():
    """Return a reply and four further ones to the same question."""
    return chat_reply("Goethe wrote it"), chat_reply(*["Goethe wrote it"] * 3, "Schiller wrote it")
