"""What every result can say of itself: its notes and its tables, as its presentation has them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar


class Noted:
    """A result: what a careful reader needs beyond its answer is in `notes`, which is empty if there is nothing."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a careful reader needs to know beyond the answer, the most important first: as sentences."""
        return ()


class Shown(Noted):
    """A result whose class names its presentation, "module.Class": see `partita.results`."""

    presented_by: ClassVar[str]

    @cached_property
    def _presentation(self) -> Any:
        from partita.results.present import present

        return present(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a careful reader needs to know beyond the answer, the most important first: as sentences."""
        return tuple(note.text for note in self._presentation.notes)

    def to_pandas(self, table: str = "items") -> Any:
        """A table as a pandas DataFrame: by default one row per item, with its cluster and its certainty.

        Parameters
        ----------
        table : str
            Name of the table: "items", "clusters" and others, which the message about a wrong name lists.
        """
        return self._presentation.frame(table)
