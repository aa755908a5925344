"""`vecuq ask`: from questions to answers with log-probs, ready to measure."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vecuq.cli.options import AsJson, refuse_options
from vecuq.cli.talk import counted, echo, err, friendly_errors, keep_secret, note, print_json, usage_errors
from vecuq.errors import SettingError, VecuqError

if TYPE_CHECKING:
    from vecuq.answers import Answerer
    from vecuq.workflows import Asked, AskProgress

_LOCAL_ONLY = ("threads", "context")
# Seconds over which the time left is estimated; one question may take half a minute.
_RECENT = 600.0
_ENDPOINT_ONLY = ("api_key_env", "jobs", "top_logprobs", "renormalise", "timeout", "tries")


def ask(
    ctx: typer.Context,
    questions: Annotated[
        Path,
        typer.Argument(
            help='JSON lines such as {"id": "q1", "question": "...", "references": ["..."]}; id and references are '
            "optional.",
            metavar="QUESTIONS",
            show_default=False,
        ),
    ],
    model: Annotated[str, typer.Option(help="GGUF file; with --url, the model's name there.", show_default=False)],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="File for the answers. A run that was stopped continues with the same file."),
    ] = Path("answers.jsonl"),
    url: Annotated[
        str | None, typer.Option(help="OpenAI-compatible endpoint, such as http://localhost:8080/v1.", metavar="URL")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(help="Endpoint: environment variable with its key.", metavar="NAME")
    ] = None,
    samples: Annotated[int, typer.Option(help="Answers drawn at random besides the greedy one.")] = 10,
    temperature: Annotated[float, typer.Option(help="Temperature of the samples.")] = 1.0,
    max_tokens: Annotated[int, typer.Option(help="Largest number of tokens of one answer.")] = 64,
    stop: Annotated[
        list[str] | None,
        typer.Option(
            help=r"Text that ends an answer, \n for a line end; repeat the option for several.", metavar="TEXT"
        ),
    ] = None,
    template: Annotated[
        str, typer.Option(help="Prompt with {question} in it, or @FILE with the prompt.")
    ] = "{question}",
    system: Annotated[str | None, typer.Option(help="System message, or @FILE with the message.")] = None,
    raw: Annotated[
        bool | None,
        typer.Option(
            "--raw/--chat",
            help="Send the prompt as it is, or in chat format; default: chat format if the model has one.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random state of the samples: the same number gives the same samples.")] = 0,
    threads: Annotated[int, typer.Option(help="Local model: number of threads; -1 for all cores.")] = 1,
    context: Annotated[int, typer.Option(help="Local model: most tokens of a prompt and all its answers.")] = 4096,
    jobs: Annotated[int, typer.Option(help="Endpoint: number of questions at once; -1 for as many as cores.")] = 1,
    top_logprobs: Annotated[
        int, typer.Option(help="Endpoint: most likely tokens to request, for entropies; 0: no log-probs.")
    ] = 20,
    renormalise: Annotated[
        bool,
        typer.Option(
            "--renormalise", help="Endpoint: divide the probabilities of these tokens by their sum before entropies."
        ),
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="Endpoint: most seconds for one request, to the last byte of its reply.")
    ] = 300,
    tries: Annotated[
        int,
        typer.Option(help="Endpoint: how often a request is sent if the server is busy or away, after growing pauses."),
    ] = 5,
    as_json: AsJson = False,
) -> None:
    """Ask a language model: one greedy answer and several samples to each question, with log-probs and entropies."""
    from vecuq.answers import Endpoint, LocalModel, Plan
    from vecuq.workflows import ask as ask_all

    with usage_errors():
        if url is None:
            refuse_options(ctx, _ENDPOINT_ONLY, "an endpoint (--url)", "a local model")
        else:
            refuse_options(ctx, _LOCAL_ONLY, "a local model", "an endpoint (--url)")
        stops = tuple(text.replace("\\n", "\n").replace("\\t", "\t") for text in stop or ())
        system = None if system is None else _text(system)
        plan = Plan(samples, temperature, max_tokens, stops, seed, _text(template), system, raw)
        _refuse_zero({"--jobs": jobs, "--threads": threads})
    answerer: Answerer
    with friendly_errors():  # what there is to note about the endpoint comes before the first request
        if url is None:
            answerer = LocalModel(model, n_jobs=threads, context=context)
        else:
            answerer = Endpoint(
                url,
                model,
                api_key=key_from(api_key_env),
                top_logprobs=top_logprobs,
                renormalise=renormalise,
                timeout=timeout,
                tries=tries,
                on_retry=note,
            )
    with friendly_errors():
        with _resumable(out), asking_bar() as progress:
            done = ask_all(questions, out, answerer, plan, n_jobs=jobs, progress=progress)
        _print_done(done, out, as_json=as_json)


def _refuse_zero(given: dict[str, int]) -> None:
    for option, value in given.items():
        if value == 0:
            raise SettingError(f"{option} must be at least 1, or -1 for all cores; got 0.")


@contextmanager
def _resumable(out: Path) -> Iterator[None]:
    """Say on an interrupt that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        if out.exists():
            note(f"Stopped; {out} keeps all answers so far, and the same command continues from there.")
        raise


def _print_done(done: Asked, out: Path, *, as_json: bool) -> None:
    """Print what was done; refused questions make it a failure."""
    if as_json:
        print_json({"out": str(out), **vars(done)})
    else:
        n_before = done.n_questions - done.n_asked - len(done.refused)
        before = f", {n_before:,} before" if n_before else ""
        rate = f", {done.n_tokens / done.seconds:,.0f} tokens/s" if done.n_tokens else ""
        place = f" -> {out}" if out.exists() else ""
        echo(f"{counted(done.n_asked, 'question')} answered{before}{rate}{place}")
    if done.refused:
        raise VecuqError(
            f"{len(done.refused):,} of {done.n_questions:,} questions were refused, see above; the same command tries "
            f"only these again."
        )


def _text(given: str) -> str:
    """Return the option, or the content of the file that it names, without a last line end."""
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text("utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{given[1:]} cannot be read: {error}") from None


def key_from(name: str | None) -> str | None:
    """Return the key in an environment variable; None if none is named."""
    if name is None:
        return None
    if not os.environ.get(name):  # not repeated: it may be the key itself, given by mistake
        raise SettingError("--api-key-env must name an environment variable with the key; there is none of that name.")
    keep_secret(os.environ[name])
    return os.environ[name]


@contextmanager
def asking_bar() -> Iterator[Callable[[AskProgress], None]]:
    """Yield what reports refused questions and, on a terminal, moves a bar with the rate and the time left."""
    if not err.is_terminal:
        yield _report_refused
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    rate = TextColumn("{task.fields[rate]}")
    columns = (TextColumn("asking"), BarColumn(), MofNCompleteColumn(), rate, TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=err, transient=True, speed_estimate_period=_RECENT) as bars:
        bar = bars.add_task("", total=None, rate="")
        n_tokens = 0

        def report(now: AskProgress) -> None:
            nonlocal n_tokens
            n_tokens += now.tokens
            elapsed = bars.tasks[bar].elapsed or 0.0
            rate = f"{n_tokens / elapsed:,.0f} tokens/s" if n_tokens and elapsed else ""
            bars.update(bar, completed=now.done, total=now.total, rate=rate)
            _report_refused(now)

        yield report


def _report_refused(now: AskProgress) -> None:
    if now.refused is not None:
        note(now.refused)
