"""ColumnGroups: which score columns are ranked together before the groups are ranked; given, or found."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vecuq._check import unique_names, wanted_columns
from vecuq.errors import ColumnError, SettingError
from vecuq.transport import MAX_COLUMNS


@dataclass(frozen=True, eq=False, repr=False)
class ColumnGroups(Mapping[str, tuple[str, ...]]):
    """Score columns by the name of their group. A dict that cannot be changed.

    Examples
    --------
    >>> ColumnGroups.of([["entropy", "msp"], ["knn"]])
    ColumnGroups(group 1: entropy, msp; group 2: knn)
    """

    names: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.names) <= MAX_COLUMNS or len(set(self.names)) < len(self.names):
            raise SettingError(
                f"column_groups must be 1 to {MAX_COLUMNS} groups, each with a name of its own; got {len(self.names)}."
            )
        for name, columns in self.items():
            if not 1 <= len(columns) <= MAX_COLUMNS:
                raise SettingError(
                    f"column_groups must hold 1 to {MAX_COLUMNS} columns in each group; {name!r} holds {len(columns)}."
                )
        try:
            unique_names(self.columns)
        except ColumnError:
            twice = sorted({name for name in self.columns if self.columns.count(name) > 1})
            raise SettingError(f"column_groups must hold every column once; {twice} come twice.") from None

    @staticmethod
    def of(given: Any) -> ColumnGroups | None:
        """Return groups as they are, or made of a dict by group name, or of a list of lists; None for none."""
        if given is None or isinstance(given, ColumnGroups):
            return given
        listed = isinstance(given, Sequence) and not isinstance(given, str)
        named = dict(given) if isinstance(given, Mapping) else _numbered(given) if listed else {}
        if not named or not all(
            isinstance(group, Collection) and not isinstance(group, str) for group in named.values()
        ):
            raise SettingError(
                f"column_groups must be None, a dict from group names to lists of columns, or a list of such lists; "
                f"got {given!r}."
            )
        return ColumnGroups(tuple(map(str, named)), tuple(tuple(map(str, group)) for group in named.values()))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of all groups."""
        return tuple(name for group in self.members for name in group)

    def __getitem__(self, name: str) -> tuple[str, ...]:
        try:
            return self.members[self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __hash__(self) -> int:
        return hash((self.names, self.members))

    def __repr__(self) -> str:
        return f"ColumnGroups({self})"

    def __str__(self) -> str:
        return "; ".join(f"{name}: {', '.join(columns)}" for name, columns in self.items())

    def to_dict(self) -> dict[str, list[str]]:
        """Return plain values."""
        return {name: list(columns) for name, columns in self.items()}

    def check_columns(self, columns: tuple[str, ...]) -> None:
        """Raise unless these are groups of all columns of a table."""
        wanted_columns(self.columns, columns, purpose="which have a group", where="The choice of score columns")
        lacking = [name for name in columns if name not in self.columns]
        if lacking:
            raise ColumnError(f"`column_groups` lacks {lacking}. Put every score column into a group.")

    def only(self, columns: Collection[str]) -> ColumnGroups:
        """Return the groups with some of their columns; a group without any is left out."""
        kept = {name: [one for one in group if one in columns] for name, group in self.items()}
        found = ColumnGroups.of({name: group for name, group in kept.items() if group})
        if found is None:
            raise ColumnError("None of the columns has a group.")
        return found

    def places(self, columns: Sequence[str], active: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Return where among the active columns those of each group are."""
        place = {columns[k]: number for number, k in enumerate(active)}
        return tuple(tuple(sorted(place[name] for name in group)) for group in self.values())


def _numbered(groups: Sequence[Any]) -> dict[str, Any]:
    """Return groups by the names that they get without any."""
    return {f"group {number}": group for number, group in enumerate(groups, start=1)}
