"""Good things to begin with: rows, a saved file of each kind, and a folder in which every command has work to do."""

from __future__ import annotations

import io
import json
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vecuq._check import Array

COLUMNS = ("entropy", "knn")


def gamma_rows(n_rows: int, seed: int) -> dict[str, Array]:
    """Return scores as they often lie: positive, most of them small."""
    rng = np.random.default_rng(seed)
    return {name: rng.gamma(1.0 + k, size=n_rows) for k, name in enumerate(COLUMNS)}


def logits(n_rows: int, seed: int) -> Array:
    """Return logits of three members and four classes, (3, rows, 4)."""
    return np.random.default_rng(seed).normal(size=(3, n_rows, 4))


@lru_cache
def example(kind: str) -> Any:
    """Return something fitted of each kind that vecuq saves."""
    if kind not in _MAKERS:
        raise LookupError(f"Add an example of the saved kind {kind!r} to vecuq/testing/examples.py.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _MAKERS[kind]()


def _model() -> Any:
    from vecuq.ranker import fit_ranker

    return fit_ranker(gamma_rows(120, 0))


def _sketch() -> Any:
    from vecuq.ranker import sketch

    return sketch(gamma_rows(120, 0))


def _partial() -> Any:
    from vecuq.ranker import PartialFit

    return PartialFit(n_rows=10_000).update(gamma_rows(400, 0))


def _pipeline() -> Any:
    from vecuq.outputs import ClassifierOutputs
    from vecuq.pipeline import VecUQPipeline

    train = logits(150, 1)
    known = ClassifierOutputs.of(logits=train, labels=train.mean(axis=0).argmax(axis=1))
    return VecUQPipeline().fit(logits(150, 0), train=known)


def class_rows(n_rows: int, seed: int) -> tuple[Array, Any]:
    """Return rows of two features in three classes, and the classes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n_rows)
    return rng.normal(size=(n_rows, 2)) + 2.0 * np.eye(3)[labels][:, :2], labels


@lru_cache
def classifier() -> Any:
    """Return a fitted classifier of scikit-learn."""
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB().fit(*class_rows(90, 12))


def _estimator_pipeline() -> Any:
    from vecuq.pipeline import from_estimator

    return from_estimator(classifier(), *class_rows(90, 12), class_rows(120, 13)[0])


def sampled_answers(n_rows: int, seed: int) -> tuple[list[dict[str, Any]], Any]:
    """Return answers with samples that agree more or less, and whether each is wrong."""
    rng = np.random.default_rng(seed)
    doubts = rng.random(n_rows)
    answers = [_sampled(doubt, rng) for doubt in doubts]
    return answers, rng.random(n_rows) < doubts**2 / 2


def _sampled(doubt: float, rng: np.random.Generator) -> dict[str, Any]:
    logprobs = np.log1p(-doubt * rng.random(3) * 0.9).tolist()
    said = ["Goethe wrote it" if rng.random() > doubt else f"Schiller {rng.integers(9)}" for _ in range(4)]
    samples = [{"text": text, "logprobs": logprobs} for text in said]
    return {"text": "Goethe wrote it", "logprobs": logprobs, "samples": samples}


def _answer_pipeline() -> Any:
    from vecuq.pipeline import AnswerPipeline

    answers, wrong = sampled_answers(240, 9)
    return AnswerPipeline(measures=["msp", "consistency"], accuracy=0.7).fit(answers, wrong)


def _monitor() -> Any:
    from vecuq.monitor import Monitor

    watcher = Monitor(example("model"))
    watcher.observe(gamma_rows(30, 2))
    return watcher


def _gate() -> Any:
    from vecuq.gate import Gate

    rows = gamma_rows(300, 6)
    correct = np.random.default_rng(6).random(300) > sum(rows.values()) / 20
    return Gate(example("model"), accuracy=0.8).fit(rows, correct, by=np.where(np.arange(300) % 3, "a", "b"))


def _live() -> Any:
    from vecuq.gate import LiveGate

    watched = LiveGate(example("gate"), audit=0.5)
    done = watched.decide(gamma_rows(40, 8), range(40), by=["a", "b"] * 20)
    drawn = [name for name, audited in zip(done.ids, done.audit, strict=True) if audited]
    watched.update(drawn[:-2], [int(name) % 5 > 0 for name in drawn[:-2]])
    return watched


def _conformal() -> Any:
    from vecuq.baselines import Conformal, z_sum

    return Conformal(z_sum()).fit(gamma_rows(120, 0))


def _cross() -> Any:
    from vecuq.ranker import Settings, fit_ranker

    return fit_ranker(gamma_rows(60, 0), Settings(holdback="cross", n_targets=25))


def _evaluation() -> Any:
    from vecuq.evaluation import PartialEvaluation

    rows = gamma_rows(300, 6)
    return PartialEvaluation(cells=64).update(rows, error=np.random.default_rng(6).random(300) < rows["knn"] / 9)


def _drift() -> Any:
    from vecuq.monitor import DriftCounts

    return DriftCounts(example("model")).update(gamma_rows(50, 2))


def _partial_gate() -> Any:
    from vecuq.gate import Gate, PartialGate

    rows = gamma_rows(300, 6)
    correct = np.random.default_rng(6).random(300) > sum(rows.values()) / 20
    return PartialGate(Gate(example("model"), accuracy=0.8)).update(rows, correct)


_MAKERS = {
    "cross": _cross,
    "gate": _gate,
    "live": _live,
    "model": _model,
    "sketch": _sketch,
    "partial": _partial,
    "pipeline": _pipeline,
    "answer_pipeline": _answer_pipeline,
    "estimator_pipeline": _estimator_pipeline,
    "monitor": _monitor,
    "conformal": _conformal,
    "evaluation": _evaluation,
    "drift": _drift,
    "partial_gate": _partial_gate,
}


def load_again(made: Any) -> Any:
    """Return something fitted as it comes back from its file."""
    from vecuq._load import load

    return load(made.to_bytes())


@lru_cache
def workspace() -> dict[str, bytes]:
    """Return a folder's files by name: tables, labels, saved files, classifier outputs, questions and answers."""
    return {
        "calibration.parquet": _parquet(gamma_rows(120, 0)),
        "new.csv": _csv({"id": np.arange(12), **gamma_rows(12, 1)}),
        "labelled.csv": _csv({**gamma_rows(40, 3), "is_ood": np.arange(40) % 2, "quality": np.linspace(0, 1, 40)}),
        "judged.csv": _csv(
            {**gamma_rows(200, 7), "is_correct": (np.arange(200) % 7 > 0) * 1, "topic": np.arange(200) % 2}
        ),
        "audited.csv": _csv({"id": np.arange(60), "is_correct": (np.arange(60) % 5 > 0) * 1}),
        "outputs.npz": _npz({"logits": logits(20, 4), "labels": np.arange(20) % 4}),
        "train.npz": _npz({"logits": logits(60, 5), "labels": np.arange(60) % 4}),
        **{f"{kind}.vecuq": example(kind).to_bytes() for kind in _MAKERS},
        "answers.jsonl": _lines(*_answers()),
        "labelled_answers.jsonl": _lines(*_labelled_answers()),
        "questions.jsonl": _lines(
            {"id": "q1", "question": "Who wrote Faust?", "answer": "Goethe"}, {"question": "2+2?"}
        ),
        "service.sqlite": _store(),
        "notes.txt": b"Not a table, and dear to somebody.\n",
    }


def _store() -> bytes:
    from vecuq.table import ScoreTable
    from vecuq.testing.example_store import store_bytes

    return store_bytes(example("model"), ScoreTable.of(gamma_rows(12, 1)))


def _answers() -> list[dict[str, Any]]:
    one = {"text": "Goethe", "tokens": ["Goe", "the"], "logprobs": [-0.1, -0.2], "entropies": [0.3, 0.1]}
    other = {"text": "Schiller", "tokens": ["Schiller"], "logprobs": [-2.0], "entropies": [1.5]}
    fields = {"vecuq_answers": 1, "question": "Who wrote Faust?", "references": ["Goethe"]}
    return [{"id": f"q{k}", **fields, "greedy": one, "samples": [one, other]} for k in range(3)]


def _labelled_answers() -> list[dict[str, Any]]:
    answers, wrong = sampled_answers(90, 10)
    return [
        {
            "vecuq_answers": 1,
            "id": f"q{k}",
            "greedy": {name: value for name, value in one.items() if name != "samples"},
            "samples": one["samples"],
            "meta": {"label": int(said), "topic": "ab"[k % 2]},
        }
        for k, (one, said) in enumerate(zip(answers, wrong, strict=True))
    ]


def _parquet(columns: dict[str, Any]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def _csv(columns: dict[str, Any]) -> bytes:
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows), ""]).encode()


def _npz(arrays: dict[str, Any]) -> bytes:
    sink = io.BytesIO()
    np.savez(sink, **arrays)
    return sink.getvalue()


def _lines(*records: dict[str, Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()
