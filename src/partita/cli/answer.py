"""What the user gives beside the draws: measurements, the truth, time for a bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partita.cli.deliver import presented
from partita.cli.given import refuse
from partita.cli.inputs import read_data, read_partition
from partita.cli.options import BoundSeconds, DataColumns, DataFile, TruthFile
from partita.cli.steps import extra

if TYPE_CHECKING:
    from partita._support.names import Named
    from partita.results.presentation import Presentation


@dataclass(frozen=True)
class ExtraOptions:
    """Files and settings that go with the draws."""

    data: DataFile = None
    columns: DataColumns = None
    truth: TruthFile = None
    bound: BoundSeconds = None

    def read(self, *, with_data: bool = True) -> dict[str, Named]:
        """The files, before the draws are read: a bad one is noticed at once."""
        from partita._support.validate import check_positive

        files = {}
        if self.bound is not None:
            from partita._support.validate import check_positive

            check_positive(self.bound, "--bound")
        if with_data and self.data is not None:
            files["data"] = read_data(self.data, self.columns)
        elif with_data:
            refuse(["columns"], "is for the columns of the data; give --data too")
        if self.truth is not None:
            files["truth"] = read_partition(self.truth)
        return files

    def presented(self, best: Any, files: Mapping[str, Named], more: Iterable[Any] = ()) -> Presentation:
        """The presentation of an estimate with its bound, its data and its truth."""
        extras = list(more)
        if self.bound is not None:
            shown = (best.search.progress,) if hasattr(best, "sample") else ()
            extra(extras, "bound", lambda: best.bound(self.bound, *shown), has_progress=bool(shown), seconds=self.bound)
        return presented(best, extras, **files)
