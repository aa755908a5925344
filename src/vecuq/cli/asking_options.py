"""The options of `vecuq ask`, in the panels of its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vecuq.cli.options import choice

_PROMPT, _ANSWERS, _ENDPOINT, _COST = "Prompt", "Answers", "Endpoint", "Cost"

Questions = Annotated[
    Path,
    typer.Argument(
        help='JSON lines such as {"id": "q1", "question": "...", "references": ["..."]}; id and references are '
        'optional, and "messages" with roles and contents may replace the question.',
        metavar="QUESTIONS",
        show_default=False,
    ),
]
Model = Annotated[str, typer.Option(help="The model's name there.", show_default=False)]
Out = Annotated[
    Path,
    typer.Option("--out", "-o", help="File for the answers. A run that was stopped continues with the same file."),
]
Url = Annotated[
    str | None, typer.Option(help="OpenAI-compatible server, such as http://localhost:8080/v1.", metavar="URL")
]

Template = Annotated[str, choice("Prompt with {question} in it, or @FILE with the prompt.", _PROMPT)]
System = Annotated[str | None, choice("System message, or @FILE with the message.", _PROMPT)]
Raw = Annotated[
    bool | None,
    typer.Option(
        "--raw/--chat",
        help="Send the prompt as it is, or in chat format, the default.",
        rich_help_panel=_PROMPT,
    ),
]

Samples = Annotated[int, choice("Answers drawn at random besides the greedy one.", _ANSWERS)]
NoGreedy = Annotated[
    bool,
    typer.Option("--no-greedy", help="Samples alone, for models without temperature 0.", rich_help_panel=_ANSWERS),
]
Temperature = Annotated[float, choice("Temperature of the samples.", _ANSWERS)]
MaxTokens = Annotated[int, choice("Largest number of tokens of one answer, reasoning included.", _ANSWERS)]
Stop = Annotated[
    list[str] | None,
    choice(r"Text that ends an answer, \n for a line end; repeat the option for several.", _ANSWERS, metavar="TEXT"),
]
Seed = Annotated[int, choice("Random state of the samples: the same number gives the same samples.", _ANSWERS)]
Confidences = Annotated[
    list[str] | None,
    choice(
        "Ask also how sure the model is of its answer: p_true, verbalised (a percentage), linguistic (an expression); "
        "comma-separated. If QUESTIONS is a file of answers, only this is asked, and the answers are kept.",
        _ANSWERS,
        metavar="A,B",
        show_default=False,
    ),
]

ApiKeyEnv = Annotated[str | None, choice("Environment variable with the key.", _ENDPOINT, metavar="NAME")]
KeyHeader = Annotated[
    str | None,
    choice("Header that carries the key; default: Authorization, and api-key on Azure.", _ENDPOINT, metavar="NAME"),
]
ApiVersion = Annotated[
    str | None, choice("Azure: version of its interface, such as 2024-10-21.", _ENDPOINT, metavar="VERSION")
]
TopLogprobs = Annotated[int, choice("Most likely tokens to request, for entropies; 0: no log-probs.", _ENDPOINT)]
Renormalise = Annotated[
    bool,
    typer.Option(
        "--renormalise",
        help="Divide the probabilities of these tokens by their sum before entropies.",
        rich_help_panel=_ENDPOINT,
    ),
]
ExtraBody = Annotated[
    str | None,
    choice(
        """JSON object with further fields of every request, such as '{"reasoning_effort": "low"}', or @FILE. """
        "Written beside the answers.",
        _ENDPOINT,
        metavar="JSON",
    ),
]
Stream = Annotated[
    bool,
    typer.Option(
        "--stream",
        help="Request streams; without it, only from servers that answer in no other way.",
        rich_help_panel=_ENDPOINT,
    ),
]
Concurrency = Annotated[
    str,
    typer.Option(
        "--concurrency",
        "--jobs",
        help="Number of questions at once, fewer while the server asks for fewer requests; auto finds the number, -1 "
        "is as many as cores.",
        metavar="N|auto",
        rich_help_panel=_ENDPOINT,
    ),
]
Timeout = Annotated[float, choice("Most seconds for one request, to the last byte of its reply.", _ENDPOINT)]
Tries = Annotated[
    int, choice("How often a request is sent if the server is busy or away, after growing pauses.", _ENDPOINT)
]

PriceInput = Annotated[
    float | None, choice("Price of a million tokens read; the cost is printed.", _COST, metavar="PRICE")
]
PriceOutput = Annotated[float | None, choice("Price of a million tokens written.", _COST, metavar="PRICE")]
MaxCost = Annotated[
    float | None,
    choice("Start no further question when this run has cost so much.", _COST, metavar="COST"),
]
