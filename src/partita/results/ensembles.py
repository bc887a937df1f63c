"""A consensus of base clusterings: the map, certainty, agreement and dependence."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.hints import plural
from partita.draws.sample import PartitionSample
from partita.plots.matrices import leaf_order
from partita.results.heatmap import percent
from partita.results.parts import figure, section
from partita.results.presentation import Note, cautions, facts
from partita.results.tables import Table, columns
from partita.results.uncertain import SampledPresentation
from partita.uncertainty.certainty import cluster_recovery

NAMES_SHOWN = 12
CONSENSUS = "the consensus"


class EnsemblePresentation(SampledPresentation):
    """A consensus beside its base clusterings."""

    kind = "ensemble"
    names_at = "result.base.names"
    heading = "Consensus of clusterings"
    whose = "an ensemble"
    takes: ClassVar[dict[str, str]] = {"partita.models.chains.chain.Chain": "draws"}
    written = ("items", "clusters", "base")
    own = facts("""
        method = method | name of the method, or how the consensus was found; empty if it is not known
        outliers = outliers | number of clusters of a single item
        clusterings = result.clusterings | names of the base clusterings
        weights | weight of each base clustering
        effective_clusterings = n_effective | sum of the weights: how many independent clusterings the base counts as
        base_agreement = result.agreement | adjusted Rand index of each base clustering and the consensus
        redundant = redundant | clusterings that add little to another one
        seed = result.model.seed | seed of the method
        loss = result.model.loss | loss of the consensus; null for other methods
        expected_loss = result.model.expected_loss | its expected loss by the draws (nbce with gibbs), else null
        inference = result.model.inference | inference of nbce, else null
        prior = result.model.prior | prior of nbce, else null
        alpha = result.model.alpha | concentration of the clusters (nbce), else null
        beta = result.model.beta | concentration of the labels (nbce), else null
        perplexity = result.model.perplexity | perplexity of the base clusterings (nbce), else null
        bound = result.model.bound | variational bound (nbce with vb or cvb), else null""")

    @cached_property
    def certainty(self) -> Floats:
        """The certainty of the consensus."""
        return np.asarray(self.result.certainty, np.float64)

    @property
    def noise(self) -> Floats | None:
        base, weights = self.result.base, self.result.weights
        if base.noise is None:
            return None
        seen = base.seen @ weights
        return np.asarray(np.divide(base.noise @ weights, seen, out=np.full(seen.size, np.nan), where=seen > 0))

    @property
    def sample(self) -> PartitionSample:
        """The base clusterings as draws."""
        found: PartitionSample = self.result.sample
        return found

    def more_answer(self) -> Iterator[str]:
        found = self.result
        method = f", found by {found.method}" if found.method else ""
        yield (
            f"It is the consensus of {plural(found.base.n_clusterings, 'base clustering')}{method}; the effective"
            f" number of independent clusterings is {found.dependence.effective:.1f}. Their mean agreement with the"
            f" consensus is {found.agreement.mean():.2f} (adjusted Rand index, from {found.agreement.min():.2f} to"
            f" {found.agreement.max():.2f})."
        )

    def find_notes(self) -> Iterator[Note]:
        yield from cautions(self.result.cautions)
        if self.result.redundant:
            yield Note(self._redundancy(self.result.base.clusterings))

    @property
    def clusterings(self) -> tuple[str, ...]:
        """The names of the base clusterings, or their numbers."""
        count = self.result.base.n_clusterings
        return self.result.base.clusterings or tuple(map(str, range(self.first, count + self.first)))

    @property
    def method(self) -> str:
        """Name of the method, or how the consensus was found."""
        return str(self.result.model.get("name", self.result.method))

    @property
    def outliers(self) -> int:
        """Number of clusters of a single item."""
        return int((np.bincount(self.labels[self.in_clusters]) == 1).sum())

    @property
    def n_effective(self) -> float:
        """The sum of the weights."""
        return float(np.sum(self.result.weights))

    @property
    def redundant(self) -> list[dict[str, Any]]:
        """Clusterings that add little, each with the one beside which it does."""
        names, found = self.result.clusterings, self.result.redundant
        return [{"clustering": names[p.which], "beside": names[p.beside], "said": p.said} for p in found]

    def clusters_table(self) -> Table:
        """With the recovery of each cluster by the base clusterings."""
        table, (jaccard, _) = (
            super().clusters_table(),
            cluster_recovery(self.labels[self.in_clusters], self.result.sample),
        )
        more = columns("Recovery | Mean overlap (Jaccard) with the most similar cluster of a base clustering")
        table = replace(table, caption="Clusters of the consensus")
        return table.beside(len(table.columns) - 1, more, [jaccard])

    def more_tables(self) -> Iterator[Table | None]:
        yield self.uncertain_table()
        yield self._base()

    def arrays(self) -> dict[str, NDArray[Any]]:
        chain = self.extras.get("draws")
        return {} if chain is None else {"draws": chain.labels.reshape(-1, chain.n_items)}

    def _base(self) -> Table:
        """One row per base clustering, those that agree most with the consensus first."""
        found = self.result
        others = found.dependence.matrix - 2 * np.eye(found.base.n_clusterings)
        nearest, names = others.argmax(axis=1), self.clusterings
        labelled = (found.base.codes >= 0).mean(axis=0)
        rows = []
        for m in np.argsort(-found.agreement, kind="stable").tolist():
            beside = [names[nearest[m]], float(others[m, nearest[m]])] if len(names) > 1 else [None, None]
            facts = (names[m], int(found.base.sizes[m]), float(labelled[m]), float(found.agreement[m]))
            rows.append((*facts, float(found.weights[m]), float(found.dependence.weights[m]), *beside))
        header = columns("""
            Clustering; Clusters; Labelled
            Agreement | Adjusted Rand index with the consensus, on the items that it labels
            Weight | In this consensus
            Counts as | What it adds, of one independent clustering, given the others
            Nearest | The clustering on which it depends most, beyond the consensus
            Dependence | On that clustering: 0 if independent given the consensus, 1 for copies""")
        return Table("base", "Base clusterings, those nearest to the consensus first", header, rows, indexed=True)

    def _redundancy(self, names: tuple[str, ...] | None) -> str:
        """Which base clusterings could be left out: only how many, if there are no names."""
        redundant = self.result.redundant
        if not redundant:
            return (
                "No base clustering is redundant: each contains information that neither the consensus nor another one"
                " has."
            )
        count = plural(len(redundant), "base clustering")
        verb = "is redundant," if len(redundant) == 1 else "are redundant, each"
        told = f"{count} of {self.result.base.n_clusterings} {verb} nearly identical to another one"
        if names is None:
            return f"{told}."
        pairs = "; ".join(f"{names[p.which]} beside {names[p.beside]} ({p.said:.0%})" for p in redundant[:NAMES_SHOWN])
        more = f"; and {len(redundant) - NAMES_SHOWN} more" if len(redundant) > NAMES_SHOWN else ""
        return f"{told}: {pairs}{more}."

    # The page.

    def settings(self) -> Iterator[tuple[str, str]]:
        base, found = self.result.base, self.result
        yield from super().settings()
        yield "Base clusterings", f"{base.n_clusterings:,}"
        yield "Clusters in each", f"{base.sizes.min():,} to {base.sizes.max():,}"
        yield "Missing labels", f"{(base.codes < 0).mean():.1%}"
        if found.method:
            yield "Method", found.method
        equal = np.ptp(found.weights) == 0
        yield "Weights", "equal" if equal else f"from {found.weights.min():.2f} to {found.weights.max():.2f}"
        yield from ((name.capitalize(), f"{value:.6g}") for name, value in found.model.items() if type(value) is float)

    def more_sections(self) -> Iterator[dict[str, Any] | None]:
        found, tables = self.result, self.tables
        yield self.uncertain_section()
        told = "Share of the base clusterings, by weight, in which two items are together."
        yield self.map_section(told, "Consensus map", "consensus")
        told = (
            "Agreement of each base clustering with the consensus and with the others (adjusted Rand index: 0 by"
            " chance, 1 if equal)."
        )
        pairs = np.block([[np.ones((1, 1)), found.agreement[None, :]], [found.agreement[:, None], found.pairs]])
        label = "Agreement of each pair of clusterings, the consensus among them"
        hint = "Point at or tap a cell for the pair."
        data = pairs_figure(pairs, (CONSENSUS, *self.clusterings))
        yield section(
            "base", "Base clusterings", told, tables["base"], figure("agreement", "pairs", data, label, "", hint)
        )
        told = (
            "What two base clusterings share beyond the consensus, of what they could share: 0 if they are independent"
            " given the consensus, 1 if one repeats the other. Dependent clusterings count less."
        )
        label = "Dependence of each pair of base clusterings beyond the consensus"
        data = pairs_figure(found.dependence.matrix, self.clusterings)
        yield section(
            "dependence",
            "Dependence",
            told,
            self._redundancy(self.clusterings),
            figure("dependence", "pairs", data, label, "", hint),
        )


def pairs_figure(matrix: Floats, names: tuple[str, ...]) -> dict[str, Any]:
    """A table of pairs as a picture, in an order that puts similar ones side by side."""
    order = leaf_order(np.clip(matrix, 0, 1))
    cells = percent(np.clip(matrix, 0, 1)[np.ix_(order, order)])
    return {"z": base64.b64encode(cells.tobytes()).decode(), "names": [names[m] for m in order.tolist()]}
