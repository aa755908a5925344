"""What ``n_jobs`` means: as in scikit-learn."""

from __future__ import annotations

import os

import numpy as np

from vecuq.errors import SettingError


def resolve_jobs(n_jobs: int | None) -> int:
    """Return the number of threads or processes: None is 1, -1 all cores, -2 all but one, and so on.

    Examples
    --------
    >>> resolve_jobs(None), resolve_jobs(3)
    (1, 3)
    >>> resolve_jobs(-1) == os.cpu_count()
    True
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool | np.bool_) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise SettingError(f"n_jobs must be None, a whole number of at least 1, or -1 for all cores; got {n_jobs!r}.")
    return int(n_jobs) if n_jobs > 0 else max((os.cpu_count() or 1) + 1 + int(n_jobs), 1)
