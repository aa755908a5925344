"""How many rows of a kind a metric needs before its value, or its interval, means what it says.

Measured with normal scores, 200 test sets each: the percentile interval at 95 % held the true false-positive rate at
95 % true positives in 46-54 % of test sets with 10 positive rows, 67-76 % with 20, 90-93 % with 50; and the true
coverage at an error rate in 6-95 % where it allowed fewer than 10 errors among the rows kept, 91-96 % above.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FewPositives:
    """What the false-positive rate at 95 % true positives needs: of fewer than 20 positives, 95 % are all of them."""

    value: int = 20
    interval: int = 50

    def defect(self, n_positive: int) -> str | None:
        """Return why there is no value, in one line; None if there is."""
        if n_positive >= self.value:
            return None
        return f"fpr_at_95_tpr needs {self.value} positive rows, there are {n_positive}"

    def doubt(self, value: float, n_positive: int, n_rows: int) -> str | None:
        """Return why there is no interval, in one line; None if there is."""
        if n_positive >= self.interval:
            return None
        return f"no interval: that of fpr_at_95_tpr needs {self.interval} positive rows, there are {n_positive}"


@dataclass(frozen=True)
class FewErrors:
    """What coverage at an error rate needs: the largest share that happens to fit is too large where few errors may be.

    Parameters
    ----------
    error
        The error rate that is allowed.
    allowed
        How many errors must be allowed among the rows kept.
    """

    error: float
    allowed: int = 10

    def defect(self, n_positive: int) -> str | None:
        """Return None: a value there is always."""
        return None

    def doubt(self, value: float, n_positive: int, n_rows: int) -> str | None:
        """Return why there is no interval, in one line; None if there is."""
        if self.error * value * n_rows >= self.allowed - 1e-9:
            return None
        return (
            f"no interval: coverage at an error rate that allows fewer than {self.allowed} errors tends to be too high"
        )
