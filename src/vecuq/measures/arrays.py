"""Arrays of any library, in blocks of rows: what the classifier measures share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecuq._check import shape_of
from vecuq.errors import TableError
from vecuq.outputs import LEAST_LOG, rows_per_block


def namespace(array: Any) -> Any:
    """Return the array's own library, with the names of the array API standard."""
    from array_api_compat import array_namespace

    return array_namespace(array)


def members_first(outputs: Any) -> Any:
    """Return outputs as (members, rows, classes): a list is stacked, one model becomes an ensemble of one."""
    from array_api_compat import is_array_api_obj

    if isinstance(outputs, list | tuple) and outputs and all(is_array_api_obj(part) for part in outputs):
        outputs = namespace(outputs[0]).stack(list(outputs))
    if not is_array_api_obj(outputs):
        outputs = np.asarray(outputs)
    if len(outputs.shape) == 2:
        outputs = outputs[None, ...]
    if len(outputs.shape) != 3 or 0 in (outputs.shape[0], outputs.shape[2]):
        raise TableError(
            f"Logits must have shape (members, rows, classes) or (rows, classes); got {shape_of(outputs)}."
        )
    return outputs


def in_row_blocks(function: Callable[[Any], Any], outputs: Any) -> Any:
    """Apply a row-wise function to (members, rows, classes) block by block, in double precision; returns (rows,)."""
    members, rows, classes = outputs.shape
    xp, dtype = namespace(outputs), _double(outputs)
    size = rows_per_block(members, classes)
    spans = (slice(start, min(start + size, rows)) for start in range(0, max(rows, 1), size))
    # A logit that is NaN or +inf makes its own row NaN, and needs no further words.
    with np.errstate(invalid="ignore"):
        parts = [function(xp.astype(outputs[:, span, :], dtype)) for span in spans]
    return parts[0] if len(parts) == 1 else xp.concat(parts)


def _double(array: Any) -> Any:
    """Return double precision, or the most that JAX allows as it is set up."""
    from array_api_compat import is_jax_array

    xp = namespace(array)
    return xp.asarray(1.0).dtype if is_jax_array(array) else xp.float64


def probabilities(logits: Any) -> tuple[Any, Any]:
    """Return log-probabilities and probabilities; an impossible class (a logit of -inf) gets the least there is."""
    from array_api_compat import device

    xp = namespace(logits)
    shifted = logits - xp.max(logits, axis=-1, keepdims=True)
    weights = xp.exp(shifted)
    total = xp.sum(weights, axis=-1, keepdims=True)
    log_p = shifted - xp.log(total)
    least = xp.asarray(LEAST_LOG, dtype=log_p.dtype, device=device(log_p))
    return xp.where(xp.isinf(log_p), least, log_p), weights / total


def one_hot(index: Any, like: Any) -> Any:
    """Return 1 at the index of the last axis and 0 elsewhere."""
    from array_api_compat import device

    xp = namespace(like)
    classes = xp.arange(like.shape[-1], dtype=index.dtype, device=device(like))
    return xp.astype(index[..., None] == classes, like.dtype)
