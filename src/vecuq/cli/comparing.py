"""Options of commands that compare answers, and the settings that they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vecuq.cli.asking import key_from
from vecuq.cli.talk import note
from vecuq.errors import SettingError

if TYPE_CHECKING:
    from vecuq.measures import text

PANEL = "Comparing answers"


def _option(text: str, metavar: str, **more: Any) -> Any:
    return typer.Option(help=text, rich_help_panel=PANEL, metavar=metavar, **more)


Similarity = Annotated[
    str | None,
    _option(
        "auto (final answers where there are some, content words elsewhere), exact, numeric, choice, rouge_l, rouge_1, "
        "rouge_2, bleu, jaccard; with a model: embedding, nli, judge.",
        "NAME",
        show_default="auto, or the model that is given",
    ),
]
Extract = Annotated[
    str | None,
    _option(
        "Compare only this part: last_number, choice, boxed, json:FIELD or regex:PATTERN; --quality judges it too.",
        "WHAT",
    ),
]
StripThink = Annotated[
    bool,
    typer.Option("--strip-think", help="Remove <think>...</think> and the like first.", rich_help_panel=PANEL),
]
ChosenAnswer = Annotated[
    str,
    _option("Where there is no greedy answer, the sample that stands for it: first, majority or medoid.", "WHICH"),
]
EmbedUrl = Annotated[str | None, _option("Endpoint for embeddings, such as http://localhost:8080/v1.", "URL")]
EmbedModel = Annotated[str | None, _option("The model's name there.", "NAME")]
Nli = Annotated[
    str | None,
    _option("NLI: folder with model.onnx and tokenizer.json, or the endpoint of a language model.", "PATH|URL"),
]
NliModel = Annotated[str | None, _option("With a URL in --nli: the model's name there.", "NAME")]
JudgeUrl = Annotated[str | None, _option("Endpoint of a language model that judges whether two answers agree.", "URL")]
JudgeModel = Annotated[str | None, _option("The model's name there.", "NAME")]
ApiKeyEnv = Annotated[str | None, _option("Environment variable with the key of the endpoints.", "NAME")]
NAMES = (
    *("similarity", "extract", "strip_think", "answer", "embed_url", "embed_model", "nli", "nli_model"),
    *("judge_url", "judge_model", "api_key_env"),
)


# Comparisons by a model: the setting that holds it, and the options that give it.
_BY_MODEL = {
    "embedding": ("embed", "--embed-url and --embed-model"),
    "nli": ("nli", "--nli"),
    "judge": ("judge", "--judge-url and --judge-model"),
}


def text_settings(given: Mapping[str, Any]) -> text.TextSettings:
    """Return how answers are compared, by the options above; what cannot be is refused."""
    from vecuq.measures import text

    models = supplied_models(given)
    return text.TextSettings(
        similarity=_similarity(given["similarity"], models),
        extract=given["extract"],
        strip_think=given["strip_think"],
        answer=given["answer"],
        **models,
    )


MODELS = tuple(name for name in NAMES if name not in ("similarity", "extract", "strip_think", "answer"))


def supplied_models(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the models of the options above, for a saved pipeline that only names them."""
    _refuse_lone(given, "embed_url", "embed_model")
    _refuse_lone(given, "judge_url", "judge_model")
    return _models(given)


def _similarity(name: str | None, models: Mapping[str, Any]) -> str:
    """Return the comparison by name; without one, that of the only model, if there is one."""
    by_model = {"embed": "embedding"}
    if name in _BY_MODEL and _BY_MODEL[name][0] not in models:
        raise SettingError(f"--similarity {name} needs {_BY_MODEL[name][1]}.")
    if name is None:
        if len(models) > 1:
            raise SettingError(f"--similarity must choose between {[by_model.get(one, one) for one in models]}.")
        return next((by_model.get(one, one) for one in models), "auto")
    if "judge" in models and name != "judge":
        raise SettingError(f"--similarity {name} does not use judge; leave it out, or choose it.")
    return name


def _models(given: Mapping[str, Any]) -> dict[str, Any]:
    from vecuq.compare import EndpointEmbedding, EndpointJudge, Remembered

    key = key_from(given["api_key_env"])
    found: dict[str, Any] = {}
    if given["embed_url"] is not None:
        found["embed"] = EndpointEmbedding(given["embed_url"], given["embed_model"], api_key=key, on_retry=note)
    if given["nli"] is not None:
        found["nli"] = _nli(given, key)
    if given["judge_url"] is not None:
        found["judge"] = EndpointJudge(given["judge_url"], given["judge_model"], api_key=key, on_retry=note)
    return {name: Remembered(model) for name, model in found.items()}


def _nli(given: Mapping[str, Any], key: str | None) -> Any:
    from vecuq.compare import EndpointNLI, OnnxNLI

    if not given["nli"].startswith(("http://", "https://")):
        if given["nli_model"] is not None:
            raise SettingError("--nli-model names a model of an endpoint; --nli is a file here.")
        return OnnxNLI(given["nli"])
    if given["nli_model"] is None:
        raise SettingError("--nli with a URL needs --nli-model: the model's name there.")
    return EndpointNLI(given["nli"], given["nli_model"], api_key=key, on_retry=note)


def _refuse_lone(given: Mapping[str, Any], *names: str) -> None:
    missing = [name for name in names if given[name] is None]
    if len(missing) == 1:
        options = [f"--{name.replace('_', '-')}" for name in names]
        raise SettingError(f"{' and '.join(options)} must be given together.")
