"""`vecuq measure` and `vecuq measures`: from a model's outputs to a table of scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from vecuq import workflows
from vecuq._check import in_range, one_of, whole_number
from vecuq._run import resolve_jobs
from vecuq.cli import comparing
from vecuq.cli.catalogue import catalogue, print_catalogue
from vecuq.cli.explaining_answers import explain as explain_answers
from vecuq.cli.explaining_answers import mapped, measure_choices
from vecuq.cli.measuring_answers import measure_texts
from vecuq.cli.options import AsJson, Force, NoFormulas, listed, refuse_options
from vecuq.cli.part_options import (
    Format,
    Parts,
    Resume,
    SkipBad,
    folder_options,
    into_folder,
    out_path,
    parts_in_words,
    saying_how_to_go_on,
)
from vecuq.cli.talk import counted, echo, friendly_errors, print_json, usage_errors, watching
from vecuq.errors import SettingError
from vecuq.measures import EMBEDDINGS, find_measures
from vecuq.outputs import TEMPERATURES
from vecuq.workflows import WantedOfAnswers, files_of_answers, holds_choices, is_answers

_FOR_CLASSIFIERS = ("train", "temperature", "embedding")
# What log-likelihoods of given choices have no use for.
_FOR_TEXTS = ("samples", "quality", "renormalise", "complete", "keep", "jobs", "map", "kind", *comparing.NAMES)
_FOR_ANSWERS = (*_FOR_TEXTS, "strict", "explain")


def measure(
    ctx: typer.Context,
    outputs: Annotated[
        list[Path],
        typer.Argument(
            help="A classifier: npz with logits or probs, optionally embeddings, labels and ids; or npy with logits; "
            "several files: one per ensemble member. A language model: jsonl with answers, as `vecuq ask`, servers and "
            "harnesses write it; also a JSON document, .eval of Inspect AI, csv or parquet of texts, npz with texts "
            "and log-probs, or a folder of such files.",
            metavar="OUTPUTS",
            show_default=False,
        ),
    ],
    scores: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="File for the scores; FOLDER/ for one table per file of a classifier's outputs.",
            parser=out_path,
            metavar="PATH",
        ),
    ] = Path("scores.parquet"),
    train: Annotated[
        list[Path] | None,
        typer.Option(
            help="Training outputs with labels, for densities; repeat the option for one file per member.",
            metavar="FILE",
        ),
    ] = None,
    measures: Annotated[
        str | None,
        typer.Option(
            help="Measures or compositions, comma-separated; see `vecuq measures`. Default: "
            f"{','.join(workflows.DEFAULT_MEASURES)} for a classifier, all that the file allows for answers.",
            metavar="A,B",
        ),
    ] = None,
    temperature: Annotated[float, typer.Option(help="Classifier: divide the logits by this number.")] = 1.0,
    embedding: Annotated[
        str, typer.Option(help="Classifier: densities use embeddings or logits; auto: embeddings if there are any.")
    ] = "auto",
    samples: Annotated[
        list[Path] | None,
        typer.Option(
            help="Answers: files with sampled answers only; single answers in OUTPUTS are then greedy.", metavar="FILE"
        ),
    ] = None,
    quality: Annotated[
        str | None,
        typer.Option(
            help="Answers: add a column `quality`, against the references: exact_match, numeric_match, "
            "numeric_closeness, token_f1, rouge_l or chrf.",
            metavar="KIND",
        ),
    ] = None,
    renormalise: Annotated[
        bool,
        typer.Option(
            "--renormalise",
            help="Answers: divide the probabilities of the most likely tokens by their sum before entropies.",
        ),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Answers: stop at a line that cannot be read, instead of skipping it.")
    ] = False,
    complete: Annotated[
        bool,
        typer.Option("--complete", help="Answers: leave out rows with a missing measure, which `vecuq fit` refuses."),
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Answers: fields of the lines to write as columns, such as a label; comma-separated.", metavar="A,B"
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Answers, part files: number of processes; -1 for all cores.", show_default="all cores"),
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="Answers: names or paths of fields that no format knows, comma-separated, for answer, samples, "
            "references, question, id, logprobs, tokens, quality; and records, where they lie in a JSON document: "
            "'answer=output.text,samples=runs[*].text'.",
            metavar="KEY=FIELD",
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option(help="Answers: the format, if it should not be recognised; --explain prints which it is.")
    ] = "auto",
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Answers: print how the first records were understood, and write nothing."),
    ] = False,
    first: Annotated[int, typer.Option(help="With --explain: how many records are printed.", metavar="N")] = 3,
    similarity: comparing.Similarity = None,
    extract: comparing.Extract = None,
    strip_think: comparing.StripThink = False,
    answer: comparing.ChosenAnswer = "first",
    embed_url: comparing.EmbedUrl = None,
    embed_model: comparing.EmbedModel = None,
    nli: comparing.Nli = None,
    nli_model: comparing.NliModel = None,
    judge_url: comparing.JudgeUrl = None,
    judge_model: comparing.JudgeModel = None,
    api_key_env: comparing.ApiKeyEnv = None,
    no_formulas: NoFormulas = False,
    force: Force = False,
    as_json: AsJson = False,
    parts: Parts = False,
    resume: Resume = False,
    skip_bad: SkipBad = False,
    format: Format = None,
) -> None:
    """Compute uncertainty scores from the outputs of a classifier or the answers of a language model."""
    with friendly_errors():
        outputs, samples = files_of_answers(outputs), files_of_answers(samples or ())
    of_answers = [is_answers(path) for path in outputs]
    with usage_errors():
        _refuse_mixture(of_answers, outputs)
        in_folder = into_folder(scores, ctx.params)
        if in_folder and any(of_answers):
            raise SettingError(
                "Answers are measured as one table, for lines of several files may belong together; name one file, "
                "such as -o scores.parquet."
            )
        if any(of_answers):
            refuse_options(ctx, _FOR_CLASSIFIERS, "a classifier", "answers of a language model")
        else:
            ours = ("jobs",) if in_folder else ()
            refuse_options(
                ctx, [name for name in _FOR_ANSWERS if name not in ours], "answers of a language model", "a classifier"
            )
    if not any(of_answers):
        _measure_classifier(ctx.params, outputs, in_folder=in_folder)
    elif not explain and map is None and holds_choices(outputs[0]):
        _measure_choices(ctx, outputs)
    else:
        _measure_texts(ctx, outputs, samples)


def _measure_choices(ctx: typer.Context, outputs: Sequence[Path]) -> None:
    given = ctx.params
    with usage_errors():
        refuse_options(ctx, _FOR_TEXTS, "generated texts", "log-likelihoods of given choices")
    names = tuple(listed(given["measures"]) or workflows.CHOICE_MEASURES)
    how = {"measures": names, "strict": given["strict"], **_writing(given)}
    measure_choices(outputs, given["scores"], how, as_json=given["as_json"])


def _measure_texts(ctx: typer.Context, outputs: Sequence[Path], samples: Sequence[Path]) -> None:
    given = ctx.params
    with usage_errors():
        named = mapped(given["map"], given["kind"])
        whole_number("first", given["first"], 1)
        if not given["explain"]:
            refuse_options(ctx, ("first",), "--explain", "measuring")
        n_jobs = resolve_jobs(-1 if given["jobs"] is None else given["jobs"])
        settings = comparing.text_settings({name: given[name] for name in comparing.NAMES})
        wanted = WantedOfAnswers(listed(given["measures"]), settings, given["quality"])
    reading = {"samples": samples, "kind": given["kind"], "map": named, "renormalise": given["renormalise"]}
    if given["explain"]:
        explain_answers(outputs, wanted, {**reading, "first": given["first"]}, as_json=given["as_json"])
        return
    rows = {"strict": given["strict"], "complete": given["complete"], "keep": tuple(listed(given["keep"]) or ())}
    how = {**reading, **rows, "n_jobs": n_jobs, **_writing(given)}
    measure_texts(outputs, given["scores"], wanted, how, as_json=given["as_json"])


def _writing(given: dict[str, Any]) -> dict[str, bool]:
    return {"formulas": not given["no_formulas"], "force": given["force"]}


def _refuse_mixture(of_answers: Sequence[bool], outputs: Sequence[Path]) -> None:
    if any(of_answers) and not all(of_answers):
        other = outputs[of_answers.index(False)]
        raise SettingError(
            f"{outputs[of_answers.index(True)]} has answers of a language model, by its name or its texts, and "
            f"{other} does not; measure them one at a time."
        )


def _measure_classifier(given: dict[str, Any], outputs: Sequence[Path], *, in_folder: bool) -> None:
    scores = given["scores"]
    how = {
        "train": given["train"] or (),
        "measures": workflows.DEFAULT_MEASURES if given["measures"] is None else tuple(listed(given["measures"]) or ()),
        "temperature": given["temperature"],
        "embedding": given["embedding"],
        **_writing(given),
    }
    with usage_errors():
        find_measures(how["measures"])
        in_range("temperature", how["temperature"], *TEMPERATURES, ends="[]")
        one_of("embedding", how["embedding"], EMBEDDINGS)
    if in_folder:
        _measure_parts(given, outputs, how)
        return
    with friendly_errors():
        with watching(rows="measuring") as watch:
            done = workflows.measure(outputs, scores, **how, watch=watch)
        if given["as_json"]:
            print_json({"out": str(scores), **vars(done)})
            return
        wrong = "" if done.n_errors is None else f", {done.n_errors:,} predicted wrong"
        echo(f"{done.n_rows:,} rows of {done.n_members} x {done.n_classes:,} outputs measured{wrong} -> {scores}")
        echo(f"columns: {', '.join(done.columns)}")


def _measure_parts(given: dict[str, Any], outputs: Sequence[Path], how: dict[str, Any]) -> None:
    """Measure every file of outputs by itself into a folder."""
    out = given["scores"]
    with friendly_errors(), saying_how_to_go_on(out):
        with watching(rows="measuring") as watch:
            how = {**how, **folder_options(given), "n_jobs": given["jobs"], "watch": watch}
            done = workflows.measure_parts(outputs, out, **how)
        if given["as_json"]:
            print_json({"out": str(out), **vars(done)})
            return
        wrong = "" if done.n_errors is None else f", {done.n_errors:,} predicted wrong"
        echo(f"{counted(done.n_rows, 'row')} measured{wrong} in {parts_in_words(done)} -> {out}")
        echo(f"columns: {', '.join(done.columns)}")


def list_measures(as_json: AsJson = False) -> None:
    """List everything that `vecuq measure` can compute."""
    with friendly_errors():
        if as_json:
            print_json(catalogue())
        else:
            print_catalogue()
