"""`vecuq ask`: from questions to answers with log-probs, ready to measure."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vecuq.cli import asking_options as given
from vecuq.cli.asking_report import asking_bar, print_done
from vecuq.cli.options import AsJson, listed
from vecuq.cli.talk import friendly_errors, keep_secret, note, usage_errors
from vecuq.errors import SettingError

if TYPE_CHECKING:
    from vecuq.answers import Prices


def ask(
    questions: given.Questions,
    model: given.Model,
    out: given.Out = Path("answers.jsonl"),
    url: given.Url = None,
    template: given.Template = "{question}",
    system: given.System = None,
    raw: given.Raw = None,
    samples: given.Samples = 10,
    no_greedy: given.NoGreedy = False,
    temperature: given.Temperature = 1.0,
    max_tokens: given.MaxTokens = 64,
    stop: given.Stop = None,
    seed: given.Seed = 0,
    confidence: given.Confidences = None,
    api_key_env: given.ApiKeyEnv = None,
    key_header: given.KeyHeader = None,
    api_version: given.ApiVersion = None,
    top_logprobs: given.TopLogprobs = 20,
    renormalise: given.Renormalise = False,
    extra_body: given.ExtraBody = None,
    stream: given.Stream = False,
    concurrency: given.Concurrency = "1",
    timeout: given.Timeout = 300,
    tries: given.Tries = 5,
    price_input: given.PriceInput = None,
    price_output: given.PriceOutput = None,
    max_cost: given.MaxCost = None,
    as_json: AsJson = False,
) -> None:
    """Ask a language model: one greedy answer and several samples to each question, with log-probs and entropies."""
    from vecuq.answers import Endpoint, Plan
    from vecuq.workflows import ask as ask_all

    with usage_errors():
        if url is None:
            raise SettingError(
                "--url is needed: the address of a server. A model file is served on this machine, such as by "
                "`llama-server -m FILE`, and asked by --url http://localhost:8080/v1."
            )
        stops = tuple(text.replace("\\n", "\n").replace("\\t", "\t") for text in stop or ())
        system = None if system is None else _text(system)
        sure = tuple(dict.fromkeys(listed(confidence) or ()))
        plan = Plan(samples, temperature, max_tokens, stops, seed, _text(template), system, raw, not no_greedy, sure)
        at_once, prices, extra = _at_once(concurrency), _prices(price_input, price_output, max_cost), _json(extra_body)
    with friendly_errors():  # what there is to note about the endpoint comes before the first request
        answerer = Endpoint(
            url,
            model,
            api_key=key_from(api_key_env),
            key_header=key_header,
            api_version=api_version,
            top_logprobs=top_logprobs,
            renormalise=renormalise,
            extra_body=extra,
            stream=stream,
            timeout=timeout,
            tries=tries,
            on_retry=note,
        )
    with friendly_errors():
        with _resumable(out), asking_bar() as progress:
            done = ask_all(questions, out, answerer, plan, n_jobs=at_once, prices=prices, progress=progress)
        print_done(done, out, as_json=as_json)


def _at_once(typed: str) -> int | Literal["auto"]:
    if typed == "auto":
        return "auto"
    if typed != "-1" and not re.fullmatch(r"[1-9][0-9]{0,2}", typed):
        raise SettingError(f"--concurrency must be from 1 to 999, -1 for as many as cores, or auto; got {typed[:40]}.")
    return int(typed)


def _prices(price_input: float | None, price_output: float | None, max_cost: float | None) -> Prices | None:
    from vecuq.answers import Prices

    if price_input is None and price_output is None and max_cost is None:
        return None
    return Prices(price_input or 0.0, price_output or 0.0, max_cost)


def _json(typed: str | None) -> dict[str, Any] | None:
    if typed is None:
        return None
    try:
        found = json.loads(_text(typed))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise SettingError("""--extra-body must be a JSON object, such as '{"reasoning_effort": "low"}'.""")
    return found


@contextmanager
def _resumable(out: Path) -> Iterator[None]:
    """Say on an interrupt that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        if out.exists():
            note(f"Stopped; {out} keeps all answers so far, and the same command continues from there.")
        raise


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
