"""Natural-language inference by a cross-encoder in an ONNX file: contradiction, neutral, entailment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from vecuq._check import Array, existing_file, one_line
from vecuq.errors import SettingError, TableError

_BATCH = 32
_MOST_TOKENS = 512
_LABELS = ("contra", "neutral", "entail")


class OnnxNLI:
    """A cross-encoder: a folder with ``model.onnx`` and ``tokenizer.json``, or the path of the ONNX file beside it.

    ``id2label`` in a ``config.json`` beside it gives the order of the classes; without that file the order is
    contradiction, neutral, entailment. Needs the packages onnxruntime and tokenizers: ``pip install 'vecuq[nli]'``.

    Parameters
    ----------
    path
        The folder or the file. Nothing is loaded before the first pair.
    """

    def __init__(self, path: str | Path) -> None:
        given = Path(path)
        self.path = existing_file(given / "model.onnx" if given.is_dir() else given)
        self.name = self.path.name if self.path.name != "model.onnx" else f"{self.path.parent.name}/model.onnx"
        existing_file(self.path.parent / "tokenizer.json")

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> Array:
        """Return the probabilities of contradiction, neutral and entailment, (pairs, 3)."""
        session, tokenizer = _loaded(str(self.path))
        batches = [pairs[start : start + _BATCH] for start in range(0, len(pairs), _BATCH)]
        logits = np.concatenate([self._logits(session, tokenizer.encode_batch(list(some))) for some in batches])
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray((shifted / shifted.sum(axis=1, keepdims=True))[:, _order(self.path.parent)])

    def _logits(self, session: Any, encoded: Sequence[Any]) -> Array:
        given = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        wanted = [each.name for each in session.get_inputs()]
        unknown = [name for name in wanted if name not in given]
        if unknown:
            raise TableError(f"{self.name} needs the inputs {unknown}; a cross-encoder has {list(given)}.")
        found = np.asarray(session.run(None, {name: np.array(given[name], np.int64) for name in wanted})[0], float)
        if found.shape != (len(encoded), 3):
            raise TableError(
                f"{self.name} must return three numbers per pair of texts; it returned shape {found.shape[1:]}. "
                f"Is it a cross-encoder for NLI?"
            )
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "name": self.name}


@lru_cache(maxsize=2)
def _loaded(path: str) -> tuple[Any, Any]:
    """Return the session and the tokenizer of a file, loaded once per process."""
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError:
        raise SettingError("NLI by an ONNX file needs onnxruntime and tokenizers: pip install 'vecuq[nli]'.") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # processes share the work
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(Path(path).parent / "tokenizer.json"))
    except Exception as error:
        raise SettingError(f"{path} cannot be loaded: {one_line(error)}") from None
    tokenizer.enable_truncation(_MOST_TOKENS)
    tokenizer.enable_padding(**(tokenizer.padding or {}) | {"length": None})
    return session, tokenizer


def _order(folder: Path) -> list[int]:
    """Return where contradiction, neutral and entailment are among the classes."""
    try:
        labels = json.loads((folder / "config.json").read_text("utf-8"))["id2label"]
        named = {int(place): str(label).lower() for place, label in labels.items()}
    except FileNotFoundError:
        return [0, 1, 2]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise SettingError(f"{folder / 'config.json'} must be a JSON object with `id2label`.") from None
    order = [place for label in _LABELS for place, name in named.items() if label in name]
    if sorted(order) != [0, 1, 2]:
        raise SettingError(
            f"{folder / 'config.json'}: id2label must name contradiction, neutral and entailment; got {named}."
        )
    return order
