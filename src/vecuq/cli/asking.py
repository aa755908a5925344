"""`vecuq ask`: from questions to answers with log-probs, ready to be measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vecuq.cli.options import AsJson
from vecuq.cli.talk import err, friendly_errors, print_json, usage_errors
from vecuq.errors import SettingError

if TYPE_CHECKING:
    from vecuq.ask import Answerer

__all__ = ["ask"]


def ask(
    questions: Annotated[
        Path,
        typer.Argument(
            help='JSON lines such as {"id": "q1", "question": "...", "references": ["..."]}; id and references may '
            "be left out.",
            metavar="QUESTIONS",
            show_default=False,
        ),
    ],
    model: Annotated[str, typer.Option(help="GGUF file; with --url, the model's name there.", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where the answers go. A file of them is taken up where it stopped.")
    ] = Path("answers.jsonl"),
    url: Annotated[
        str | None, typer.Option(help="OpenAI-compatible endpoint, such as http://localhost:8080/v1.", metavar="URL")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds the endpoint's key.", metavar="NAME")
    ] = None,
    samples: Annotated[int, typer.Option(help="Answers drawn besides the greedy one.")] = 10,
    temperature: Annotated[float, typer.Option(help="Temperature of the samples.")] = 1.0,
    max_tokens: Annotated[int, typer.Option(help="Most tokens of one answer.")] = 64,
    stop: Annotated[
        list[str] | None, typer.Option(help=r"Text that ends an answer, \n for a line's end; repeat it for several.")
    ] = None,
    template: Annotated[
        str, typer.Option(help="Prompt with {question} in it, or @FILE that holds it; examples may come before.")
    ] = "{question}",
    system: Annotated[str | None, typer.Option(help="What the model is told first, or @FILE that holds it.")] = None,
    raw: Annotated[
        bool | None,
        typer.Option("--raw/--chat", help="Prompt as it is, or in chat format; without it, chat if the model has one."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Makes the samples repeatable.")] = 0,
    threads: Annotated[int, typer.Option(help="Threads of a local model.")] = 1,
    context: Annotated[int, typer.Option(help="Tokens a local model holds: a prompt and all its answers.")] = 4096,
    jobs: Annotated[int, typer.Option(help="Questions at once at an endpoint.")] = 1,
    top_logprobs: Annotated[
        int, typer.Option(help="Likeliest tokens asked of an endpoint, for entropies; 0: no log-probs.")
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Ask a language model; keep one greedy answer and several samples with log-probs and entropies."""
    from vecuq.ask import Endpoint, LocalModel, Plan
    from vecuq.workflows.asking import ask as ask_all

    with usage_errors():
        stops = tuple(text.replace("\\n", "\n").replace("\\t", "\t") for text in stop or ())
        plan = Plan(
            samples,
            temperature,
            max_tokens,
            stops,
            seed,
            _text(template),
            None if system is None else _text(system),
            raw,
        )
        if url is None and jobs != 1:
            raise SettingError("A local model answers one question at a time; give it --threads instead of --jobs.")
    with friendly_errors():
        answerer: Answerer
        if url is None:
            answerer = LocalModel(model, threads=threads, context=context)
        else:
            answerer = Endpoint(url, model, api_key=_key(api_key_env), top_logprobs=top_logprobs)
        with _asking() as progress:
            done = ask_all(questions, out, answerer, plan, jobs=jobs, progress=progress)
        if as_json:
            print_json({"out": str(out), **vars(done)})
            return
        before = f", {done.n_questions - done.n_asked:,} answered before" if done.n_asked < done.n_questions else ""
        rate = f", {done.n_tokens / done.seconds:,.0f} tokens/s" if done.n_tokens else ""
        typer.echo(f"{done.n_asked:,} questions asked{before}{rate} -> {out}")


def _text(given: str) -> str:
    """Return the option, or what the file holds that it names; a last line end does not count."""
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text("utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{given[1:]} cannot be read: {error}") from None


def _key(name: str | None) -> str | None:
    if name is None:
        return None
    if not os.environ.get(name):
        raise SettingError(f"The environment variable {name} is not set; it must hold the endpoint's key.")
    return os.environ[name]


@contextmanager
def _asking() -> Iterator[Callable[[int, int, int], None] | None]:
    """Yield what moves a bar with the rate and the time left; nothing moves when nobody is watching."""
    if not err.is_terminal:
        yield None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("asking"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bars:
        bar = bars.add_task("", total=None, rate="")
        spent = 0

        def told(done: int, total: int, tokens: int) -> None:
            nonlocal spent
            spent += tokens
            elapsed = bars.tasks[bar].elapsed or 0.0
            rate = f"{spent / elapsed:,.0f} tokens/s" if spent and elapsed else ""
            bars.update(bar, completed=done, total=total, rate=rate)

        yield told
