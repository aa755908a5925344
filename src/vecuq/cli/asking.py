"""`vecuq ask`: from questions to answers with log-probs, ready to be measured."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vecuq.cli.asking_bar import asking_bar
from vecuq.cli.options import AsJson
from vecuq.cli.talk import friendly_errors, note, print_json, usage_errors
from vecuq.errors import SettingError, VecuqError

if TYPE_CHECKING:
    from vecuq.answers import Answerer
    from vecuq.workflows import Asked

_LOCAL_ONLY = ("threads", "context")
_ENDPOINT_ONLY = ("api_key_env", "jobs", "top_logprobs", "renormalise", "timeout", "tries")


def ask(
    ctx: typer.Context,
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
        str | None, typer.Option(help="Endpoint: environment variable that holds its key.", metavar="NAME")
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
    threads: Annotated[int, typer.Option(help="Local model: its threads.")] = 1,
    context: Annotated[int, typer.Option(help="Local model: tokens it holds, a prompt and all its answers.")] = 4096,
    jobs: Annotated[int, typer.Option(help="Endpoint: questions at once.")] = 1,
    top_logprobs: Annotated[
        int, typer.Option(help="Endpoint: likeliest tokens asked for, for entropies; 0: no log-probs.")
    ] = 20,
    renormalise: Annotated[
        bool, typer.Option("--renormalise", help="Endpoint: make the likeliest tokens sum to 1 before entropies.")
    ] = False,
    timeout: Annotated[float, typer.Option(help="Endpoint: seconds of silence until a request counts as lost.")] = 300,
    tries: Annotated[
        int, typer.Option(help="Endpoint: requests made in all if it is busy, away or breaks off, ever further apart.")
    ] = 5,
    as_json: AsJson = False,
) -> None:
    """Ask a language model; keep one greedy answer and several samples with log-probs and entropies."""
    from vecuq.answers import Endpoint, LocalModel, Plan
    from vecuq.workflows import ask as ask_all

    with usage_errors():
        if url is None:
            _refuse_options(ctx, _ENDPOINT_ONLY, "an endpoint (--url)", "a local model")
        else:
            _refuse_options(ctx, _LOCAL_ONLY, "a local model", "an endpoint (--url)")
        stops = tuple(text.replace("\\n", "\n").replace("\\t", "\t") for text in stop or ())
        told_first = None if system is None else _text(system)
        plan = Plan(samples, temperature, max_tokens, stops, seed, _text(template), told_first, raw)
    with friendly_errors():
        answerer: Answerer
        if url is None:
            answerer = LocalModel(model, threads=threads, context=context)
        else:
            answerer = Endpoint(
                url,
                model,
                api_key=_key(api_key_env),
                top_logprobs=top_logprobs,
                renormalise=renormalise,
                timeout=timeout,
                tries=tries,
                on_retry=note,
            )
        with _taken_up_later(out), asking_bar() as progress:
            done = ask_all(questions, out, answerer, plan, jobs=jobs, progress=progress)
        _say_done(done, out, as_json=as_json)


def _refuse_options(ctx: typer.Context, names: Sequence[str], theirs: str, ours: str) -> None:
    """Raise if an option was given that the model asked has no use for."""
    sources = {name: ctx.get_parameter_source(name) for name in names}
    given = [f"--{name.replace('_', '-')}" for name, source in sources.items() if source and source.name != "DEFAULT"]
    if given:
        raise SettingError(f"{', '.join(given)}: for {theirs} only, and {ours} is asked; leave it out.")


@contextmanager
def _taken_up_later(out: Path) -> Iterator[None]:
    """Tell somebody who stops a run that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        if out.exists():
            note(f"Stopped; {out} keeps what was answered, and the same command goes on from there.")
        raise


def _say_done(done: Asked, out: Path, *, as_json: bool) -> None:
    """Say what was done; questions that were refused make it a failure."""
    if as_json:
        print_json({"out": str(out), **vars(done)})
    else:
        n_before = done.n_questions - done.n_asked - len(done.refused)
        before = f", {n_before:,} answered before" if n_before else ""
        rate = f", {done.n_tokens / done.seconds:,.0f} tokens/s" if done.n_tokens else ""
        place = f" -> {out}" if out.exists() else ""
        typer.echo(f"{done.n_asked:,} question{'' if done.n_asked == 1 else 's'} asked{before}{rate}{place}")
    if done.refused:
        raise VecuqError(
            f"{len(done.refused):,} of {done.n_questions:,} questions refused, as said above; the same command asks "
            f"only these again."
        )


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
    if not os.environ.get(name):  # not repeated: it may be the key itself, given by mistake
        raise SettingError(
            "--api-key-env must name an environment variable that holds the key; there is none so named."
        )
    return os.environ[name]
