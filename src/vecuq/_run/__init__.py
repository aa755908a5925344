"""How work is spread over threads and processes, and cut into blocks of rows. Knows nothing of scores or tables."""

from vecuq._run.blas import one_blas_thread
from vecuq._run.blocks import BLOCK, in_blocks, spans
from vecuq._run.memory import memory_kept
from vecuq._run.pools import ahead, in_order, resolve_jobs
from vecuq._run.scratch import scratch
from vecuq._run.side_by_side import side_by_side
from vecuq._run.workers import Tick, as_done

__all__ = [
    "BLOCK",
    "Tick",
    "ahead",
    "as_done",
    "in_blocks",
    "in_order",
    "memory_kept",
    "one_blas_thread",
    "resolve_jobs",
    "scratch",
    "side_by_side",
    "spans",
]
