"""`vecuq score`: from new rows to an order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vecuq import workflows
from vecuq.cli import comparing
from vecuq.cli.answer_options import FOR_READING, Jobs, Keep, Kind, Map, Renormalise, Samples, Strict, reading_of
from vecuq.cli.living import AuditShare, IdColumn, Overdue, State, decide, refuse_stray, say_decided
from vecuq.cli.measuring_answers import print_notes
from vecuq.cli.options import (
    Alpha,
    AsJson,
    ByColumn,
    Confidence,
    Explain,
    Force,
    Missing,
    ModelOrGate,
    NewFiles,
    NoFormulas,
    Replace,
    Select,
    Sort,
    Top,
    listed,
    refuse_options,
)
from vecuq.cli.part_options import (
    EngineName,
    Format,
    Parts,
    Resume,
    Scheduler,
    SkipBad,
    folder_options,
    into_folder,
    making,
    out_path,
    parts_in_words,
    refuse_engine,
    refuse_together,
    saying_how_to_go_on,
)
from vecuq.cli.talk import counted, echo, friendly_errors, print_json, usage_errors, watching
from vecuq.errors import SettingError
from vecuq.options import ScoreOptions

if TYPE_CHECKING:
    from vecuq.pipeline import AnswerPipeline


# What only a pipeline of answers takes; its part files are scored as one table.
_ANSWERS_ONLY = ("keep", *(name for name in FOR_READING if name != "jobs"), *comparing.MODELS)
_NO_STATE = (
    "--state keeps the decisions of a gate on a table, and this is a pipeline of answers. Leave --state out and check "
    "the promise on later labels with `vecuq audit`; or measure the answers (`vecuq measure`), fit the table and "
    "gate it, and score tables of measures with --state."
)


def score(
    context: typer.Context,
    model: ModelOrGate,
    new: NewFiles,
    ranked: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Where to write the ranked table, as one file; - for stdout; FOLDER/ for one output per input file.",
            parser=out_path,
            metavar="PATH",
        ),
    ] = Path("ranked.parquet"),
    alpha: Alpha = None,
    explain: Explain = False,
    missing: Missing = "nan",
    select: Select = None,
    sort: Sort = False,
    top: Top = None,
    replace: Replace = False,
    by: ByColumn = None,
    state: State = None,
    ids: IdColumn = None,
    audit: AuditShare = None,
    overdue: Overdue = None,
    stdout_format: Annotated[
        str, typer.Option(help="What -o - writes: jsonl, or arrow (an IPC stream).", metavar="jsonl|arrow")
    ] = "jsonl",
    no_formulas: NoFormulas = False,
    force: Force = False,
    as_json: AsJson = False,
    confidence: Confidence = None,
    keep: Keep = None,
    samples: Samples = None,
    map: Map = None,
    kind: Kind = "auto",
    renormalise: Renormalise = False,
    strict: Strict = False,
    jobs: Jobs = None,
    embed_url: comparing.EmbedUrl = None,
    embed_model: comparing.EmbedModel = None,
    nli: comparing.Nli = None,
    nli_model: comparing.NliModel = None,
    judge_url: comparing.JudgeUrl = None,
    judge_model: comparing.JudgeModel = None,
    api_key_env: comparing.ApiKeyEnv = None,
    parts: Parts = False,
    resume: Resume = False,
    skip_bad: SkipBad = False,
    format: Format = None,
    engine: EngineName = None,
    scheduler: Scheduler = None,
) -> None:
    """Score new rows with a saved model: the same rows, with `uncertainty` and `p_value` added.

    A gate adds `accept` and `p_wrong` as well; with `--state` it also draws rows for an audit. A saved pipeline
    (VecUQPipeline in Python) takes a file of a classifier's outputs instead of a table, and one that was fitted to
    answers takes files of answers: it writes their ids and measures too. Several files are one table if they have the
    same columns. Into a folder (`-o OUT/`) every file is scored by itself, on all cores; `--resume` goes on after a
    kill.
    """
    to_stdout = str(ranked) == "-"
    with usage_errors():
        asked = asked_of(context.params)
        refuse_stray(state, id=ids, audit=audit, overdue=overdue)
        if to_stdout and as_json:
            raise typer.BadParameter("--json prints to stdout too; write the table to a file.")
    with usage_errors():
        in_folder = into_folder(ranked, context.params)
        refuse_engine(context.params, in_folder=in_folder)
        models = comparing.supplied_models({name: context.params[name] for name in comparing.MODELS})
    with friendly_errors():
        if state is not None and workflows.holds_judge(model):
            raise SettingError(_NO_STATE)
        pipeline = workflows.load_answers(model, **models)
    if in_folder:
        if pipeline is not None:
            with usage_errors():
                raise SettingError(
                    "Answers are scored as one table, for lines of several files may belong together; name one file, "
                    "such as -o decided.parquet."
                )
        _score_parts(context, asked)
        return
    if pipeline is not None:
        _score_answers(pipeline, new, ranked, asked, context.params)
        return
    with usage_errors():
        refuse_options(
            context, ("keep", *FOR_READING, *comparing.MODELS), "a pipeline of answers", "a model of a table"
        )
    with friendly_errors():
        if state is not None:
            with watching(new) as watch:
                how = {"asked": asked, "stdout_format": stdout_format, "force": force, "watch": watch}
                decided = decide(model, new, ranked, state, ids, audit=audit, overdue=overdue, **how)
            say_decided(decided, as_json=as_json, out=ranked, summary=_summary(decided.scored, asked))
            return
        with watching(new) as watch:
            done = workflows.score(model, new, ranked, asked, stdout_format=stdout_format, force=force, watch=watch)
        _say(done, asked, ranked, as_json=as_json)


def asked_of(given: dict[str, Any]) -> ScoreOptions:
    """Return what the options of a command ask for, by their names."""
    named = {name: given[name] for name in ScoreOptions.__struct_fields__ if name in given}
    return ScoreOptions(**named, formulas=not given["no_formulas"])


def _score_parts(context: typer.Context, asked: ScoreOptions) -> None:
    """Score every input file by itself into a folder."""
    given = context.params
    out, new = given["ranked"], given["new"]
    with usage_errors():
        refuse_together(context, ("state", "stdout_format", *_ANSWERS_ONLY))
    with friendly_errors(), saying_how_to_go_on(out):
        with making(given) as how, watching(new) as watch:
            done = workflows.score_parts(given["model"], new, out, asked, **folder_options(given), **how, watch=watch)
        if given["as_json"]:
            print_json({"out": str(out), **done.to_dict()})
        else:
            echo(f"{_summary(done.scored, asked)} in {parts_in_words(done)} -> {out}")


def _score_answers(
    pipeline: AnswerPipeline, new: Sequence[Path], ranked: Path, asked: ScoreOptions, given: dict[str, Any]
) -> None:
    """Decide files of answers; ``given`` are the options by name."""
    with usage_errors():
        reading = reading_of(new, given)
    with friendly_errors():
        how = {name: given[name] for name in ("stdout_format", "force")}
        with watching(rows="deciding") as watch:
            done, measured = workflows.score_answers(
                pipeline, reading, ranked, asked, keep=listed(given["keep"]) or (), **how, watch=watch
            )
        print_notes(measured, given["renormalise"])
        _say(done, asked, ranked, as_json=given["as_json"])


def _say(done: workflows.Scored, asked: ScoreOptions, ranked: Path, *, as_json: bool) -> None:
    """Print what scoring came to; beside a table on stdout, on stderr."""
    to_stdout = str(ranked) == "-"
    if as_json:
        print_json({"out": str(ranked), **done.to_dict()})
    else:
        echo(f"{_summary(done, asked)} -> {'stdout' if to_stdout else ranked}", err=to_stdout)


def _summary(done: workflows.Scored, asked: ScoreOptions) -> str:
    """Return the counts in words; rows without a score are counted apart."""
    rows = counted(done.n_rows, "row")
    rows = f"{done.n_rows - done.n_missing:,} of {rows}" if done.n_missing else rows
    sure = "" if asked.confidence is None else f" with confidence {asked.confidence:g}"
    flagged = "" if done.n_flagged is None else f", {done.n_flagged:,} flagged at alpha {asked.alpha:g}{sure}"
    if flagged and done.n_missing and done.n_written is None:
        flagged += f" and {done.n_missing:,} because {'it has' if done.n_missing == 1 else 'they have'} no score"
    selected = "" if done.n_selected is None else f", {done.n_selected:,} selected"
    written = "" if done.n_written is None else f", {done.n_written:,} most uncertain"
    accepted = "" if done.n_accepted is None else f", {done.n_accepted:,} accepted"
    return f"{rows} scored{accepted}{flagged}{selected}{written}"
