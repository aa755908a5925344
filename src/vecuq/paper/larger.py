"""Scores of larger language models, where their files are at hand: they are not ours to bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vecuq.errors import TableError
from vecuq.paper import choices
from vecuq.paper.score_sets import ScoreSets, read_score_sets
from vecuq.paper.splits import N_SPLITS

OWN_FOLDER = "text"
_SPLITS = f"mean and deviation over {N_SPLITS} splits"
# By file, in the order of the paper's tables that they are shown beside: LLaMA-8B, Mistral-7B, Falcon-7B.
_FILES = {
    "combining/reasoning.npz": ("reasoning", "PRR at 50 % of Llama-3.1-8B on four reasoning tasks, five runs each"),
    "combining/mcq.npz": ("mmlu", "PRR at 50 % of four models on MMLU, answered directly and after thinking"),
    choices.CHOICES_FILE: ("choices", "PRR at 50 % of three models on multiple-choice questions"),
    "combining/rank.npz": ("nq_open", "PRR at 50 % of Llama-2-7B on NQ-open"),
}
_NAMES = {
    "Llama_2_7b_chat_hf_nq_open_0_6": "chat, temperature 0.6",
    "Llama_2_7b_chat_hf_nq_open_1_0": "chat, temperature 1.0",
    "Llama_2_7b_hf_nq_open_0_6": "base, temperature 0.6",
    "Mistral_7B_instruct_v0_3": "Mistral-7B",
    "Yi_1_5_9B_Chat": "Yi-1.5-9B",
    "gemma2_9b_it": "Gemma-2-9B",
    "gpt4o": "GPT-4o",
    "gsm8k": "GSM8k",
    "svamp": "SVAMP",
}


@dataclass(frozen=True, eq=False)
class LargerTable:
    """What one file gives: the name and the title of its table, and the scores."""

    name: str
    title: str
    sets: ScoreSets


def larger_tables(folder: Path) -> tuple[LargerTable, ...]:
    """Return the tables that a folder has files for: the known ones, then any npz file in its folder ``text``."""
    tables = tuple(
        LargerTable(f"text_{name}", f"{title}, {_SPLITS}", _read(folder / file))
        for file, (name, title) in _paths(folder).items()
    )
    if not tables:
        raise TableError(
            f"data_dir must hold at least one of {', '.join(_FILES)} or {OWN_FOLDER}/NAME.npz; {folder} holds none."
        )
    return tables


def absent_files(folder: Path | None) -> tuple[str, ...]:
    """Return the known files that are not there; without a folder, all."""
    return tuple(file for file in _FILES if folder is None or not (folder / file).is_file())


def _paths(folder: Path) -> Mapping[str, tuple[str, str]]:
    own = {
        f"{OWN_FOLDER}/{path.name}": (f"own_{path.stem}", f"PRR at 50 % on {path.name}")
        for path in sorted((folder / OWN_FOLDER).glob("*.npz"))
        if path.is_file()
    }
    return {file: names for file, names in _FILES.items() if (folder / file).is_file()} | own


def _read(path: Path) -> ScoreSets:
    if path.name == choices.CHOICES_FILE:
        return choices.choice_scores(path)
    return read_score_sets(path, lambda name: _NAMES.get(name, name))
