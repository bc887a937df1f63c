"""An estimate together with what the user gave beside the draws: measurements, the truth, time for a bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from partita.cli.errors import INTERRUPTED
from partita.cli.inputs import in_order_of_draws, read_data, read_partition
from partita.cli.options import BoundSeconds, DataColumns, DataFile, TruthFile

if TYPE_CHECKING:
    from partita._support.names import Named
    from partita.draws.sample import PartitionSample
    from partita.estimation.result import Estimate
    from partita.proofs.bounds import Bound


@dataclass(frozen=True)
class ExtraOptions:
    """Files and settings that go with the draws."""

    data: DataFile = None
    columns: DataColumns = None
    truth: TruthFile = None
    bound: BoundSeconds = None

    def read(self) -> dict[str, Named | None]:
        """The files, before the draws are read: a bad one is noticed at once."""
        return {
            "data": None if self.data is None else read_data(self.data, self.columns),
            "truth": None if self.truth is None else read_partition(self.truth),
        }

    def answer(
        self,
        files: Mapping[str, Named | None],
        sample: PartitionSample,
        estimate: Callable[[PartitionSample], Estimate],
    ) -> Answer:
        """The estimate from the draws, its bound, and its agreement with the truth."""
        from partita.cli.results import agreement
        from partita.proofs.bounds import with_proof

        page = in_order_of_draws(files, sample)
        page["columns"] = None if files["data"] is None else files["data"].columns
        best = estimate(sample)
        bound = None if self.bound is None else best.bound(self.bound, best.search.progress)
        facts = {} if self.truth is None else {"agreement": agreement(best.labels, page["truth"])}
        return Answer(with_proof(best, bound), bound, page, facts, self.truth)


@dataclass(frozen=True)
class Answer:
    """What the command reports."""

    best: Estimate
    bound: Bound | None
    page: dict[str, Any]  # data and truth in the order of the draws, and the columns of the data
    facts: dict[str, Any]  # the agreement with the truth, if there is one
    truth: str | None

    def all_facts(self) -> dict[str, Any]:
        """The facts that scripts need."""
        from partita.cli.results import estimate_facts

        return estimate_facts(self.best, self.bound) | self.facts

    def print_agreement(self) -> None:
        """Prints the agreement with the truth, if there is one."""
        from partita.cli.results import agreement_sentence

        if self.truth is not None:
            print(agreement_sentence(self.facts["agreement"], self.truth))

    def exit_if_interrupted(self) -> None:
        """Ends the command with the exit code of Ctrl-C if that ended the search."""
        if self.best.interrupted:
            raise typer.Exit(INTERRUPTED)
