"""AddingUp: cells that grow by many batches, added up when there are enough of them to pay."""

from __future__ import annotations

from dataclasses import dataclass, field

from vecuq.conformal import Cells, added


@dataclass
class AddingUp:
    """A sum of cells; batches wait until they have as many cells as the sum may have."""

    sum: Cells
    waiting: list[Cells] = field(default_factory=list)

    @property
    def shift(self) -> int:
        """The shift that all rows are known to need, at least."""
        return self.sum.shift

    def add(self, cells: Cells) -> None:
        """Add the cells of a batch."""
        self.waiting.append(cells)
        if sum(map(len, self.waiting)) >= self.sum.most:
            self.total()

    def total(self) -> Cells:
        """Return the cells of all batches."""
        if self.waiting:
            self.sum, self.waiting = added([self.sum, *self.waiting]), []
        return self.sum
