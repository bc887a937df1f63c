"""The stability of clusters: which are found again, certainty and noise of the items, runs and settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from partita._support.arrays import Floats
from partita._support.hints import plural
from partita.ensembles.stability import VERDICTS
from partita.losses.agreement import adjusted_rand
from partita.partitions.labels import each_alone
from partita.plots.ensembles import LEAST_SHARE
from partita.results.drawings import levels_drawing
from partita.results.ensembles import pairs_figure
from partita.results.parts import drawing, figure, section
from partita.results.presentation import Note, Presentation, cautions, facts
from partita.results.tables import Table, columns

NOT_TRUTH = (
    "Stability is not truth: runs of one clusterer can agree on clusters that the data do not have, because they share "
    "its assumptions."
)
COMPARE = " A comparison with data without clusters tells whether the runs agree more than by chance."


class StabilityPresentation(Presentation):
    """Runs of one clusterer, their consensus, and what is found again."""

    kind = "stability"
    names_at = "result.base.names"
    heading = "Stability of clusters"
    whose = "a stability analysis"
    written = ("items", "clusters", "runs", "settings", "splits")
    printed: ClassVar[dict[str, int]] = {"clusters": 50, "settings": 50, "splits": 50}
    own = facts("""
        recovery | for each cluster, mean over the runs of the largest overlap (Jaccard) with one of their clusters
        verdicts | for each cluster, stable (recovery of at least 0.75), unstable (below 0.6), doubtful, or chance
        noise | for each item, the share of the runs that call it noise
        n_noise = n_noise | number of items that are reported as noise
        n_runs = result.base.n_clusterings | number of runs
        settled = result.base.settled | whether the runs ended early because more would change little; null if not known
        run_clusters | number of clusters of each run
        run_agreement = result.agreement | mean adjusted Rand index of pairs of runs
        expected_loss = result.estimate.expected_loss | mean loss between the consensus and the runs
        effective_runs = result.summary.dependence.effective | how many independent clusterings the runs count as
        null = null_facts | agreement on data without clusters, p-value and verdict; null if it was not asked for
        seed = result.base.seed | seed that gives the same runs again; null if not known""")

    @cached_property
    def certainty(self) -> Floats:
        """The share of runs in which an item is with the members of its cluster, or alone if it is noise."""
        return np.asarray(self.result.certainty, np.float64)

    @property
    def interrupted(self) -> bool:
        return bool(getattr(self.result.base, "interrupted", False))

    def more_answer(self) -> Iterator[str]:
        found = self.result
        counts = {word: found.verdicts.count(word) for word in VERDICTS}
        parts = [f"{count} {'is' if count == 1 else 'are'} {word}" for word, count in counts.items() if count]
        if parts:
            told = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
            yield f"Of the {plural(found.n_clusters, 'cluster')}, {told}."
        if noise := int(found.estimate.is_noise.sum()):
            yield f"{noise:,} {'item is' if noise == 1 else 'items are'} noise."
        runs = f"{plural(found.base.n_clusterings, 'run')} with {_range(found.run_clusters)}"
        if found.run_clusters.max() < 2:
            yield f"{runs} have nothing to agree about."
        else:
            yield f"{runs} agree by {found.agreement:.2f} on average (adjusted Rand index)."
            if not found.base.independent:
                yield f"They count as {found.summary.dependence.effective:.1f} independent ones."
        if found.null is not None and not found.null.is_more_than_chance:
            yield "They agree no more than on data without clusters: there is no sign of stable clusters."

    def find_notes(self) -> Iterator[Note]:
        null = self.result.null
        if null is not None:
            yield Note(null.in_words(), warning=not null.is_more_than_chance)
        yield from cautions(self.result.summary.cautions)
        if small := self.small_clusters():
            yield Note(small)
        yield Note(NOT_TRUTH + ("" if null is not None else COMPARE))
        if getattr(self.result.base, "settled", False):
            yield Note(f"{self.result.base.in_words()}.")

    def small_clusters(self) -> str:
        """What clusters mean that are smaller than all clusters of the runs; nothing if there are none."""
        sizes = [np.bincount(codes[codes >= 0]) for codes in self.result.base.codes.T]
        smallest = min((int(own[own > 0].min()) for own in sizes if own.any()), default=0)
        small = int((self.result.clusters.size < smallest).sum())
        if not small:
            return ""
        which = f"{plural(small, 'cluster')} of the consensus {'is' if small == 1 else 'are'} smaller"
        return (
            f"{which} than every cluster of the runs ({smallest} items): the runs disagree on where those items belong."
        )

    @property
    def n_noise(self) -> int:
        """Number of items that are reported as noise."""
        return int(self.result.estimate.is_noise.sum())

    @property
    def null_facts(self) -> dict[str, Any] | None:
        """The comparison with data without clusters."""
        null = self.result.null
        return null and {
            "kind": null.kind,
            "values": null.values,
            "p_value": null.p_value,
            "more_than_chance": null.is_more_than_chance,
        }

    @property
    def noise(self) -> Floats:
        return np.asarray(self.result.noise)

    def clusters_table(self) -> Table:
        """With the recovery of each cluster by the runs, and what it says."""
        table, found = super().clusters_table(), self.result
        more = columns("""
            Recovery | Mean overlap (Jaccard) with the most similar cluster of a run
            Verdict | stable from 0.75 on, unstable below 0.6""")
        cells = (found.recovery, found.verdicts)
        return replace(table, caption="Clusters of the consensus").beside(len(table.columns) - 1, more, cells)

    def more_tables(self) -> Iterator[Table | None]:
        found, base = self.result, self.result.base
        noise = np.zeros(base.n_clusterings) if base.noise is None else base.noise.sum(axis=0)
        shares = (noise / np.maximum(1, base.seen.sum(axis=0))).tolist()
        header = columns("""
            Run:text; Clusters
            Noise | Share of the items that the run calls noise, of those that it clustered
            Agreement | Adjusted Rand index of the run and the consensus""")
        rows = zip(found.summary.clusterings, found.run_clusters.tolist(), shares, found.summary.agreement, strict=True)
        yield Table("runs", "Runs", header, [(*row[:3], float(row[3])) for row in rows], indexed=True)
        yield self._settings()
        yield self._splits()

    def _settings(self) -> Table | None:
        rows = self.result.settings
        header = columns("""
            Setting; Value; Runs; Clusters:mean | Mean number of clusters
            Noise | Mean share of noise
            Agreement | Mean adjusted Rand index of pairs of runs with this value
            With consensus | Mean adjusted Rand index of these runs and the consensus""")
        keys = ("setting", "value", "runs", "clusters", "noise", "agreement", "with_consensus")
        told = [row | {"setting": setting_words(row["setting"]), "value": str(row["value"])} for row in rows]
        cells = [tuple(row[key] for key in keys) for row in told]
        return Table("settings", "Effect of the settings", header, cells) if rows else None

    def _splits(self) -> Table | None:
        """Where the clusters of the runs with one value go with the next value, from few clusters to many."""
        header = columns("""
            Setting; Value; Cluster; Items; Next value
            Goes to | Clusters of the next value and noise, with the shares of the items""")
        rows = []
        for setting, levels in self.levels.items():
            for (value, own), (after, other) in pairwise(levels.items()):
                rows += [
                    (setting_words(setting), value, k, size, after, told) for k, size, told in self._moves(own, other)
                ]
        return Table("splits", "Where clusters split", header, rows) if rows else None

    def _moves(self, upper: Any, lower: Any) -> Iterator[tuple[int, int, str]]:
        for k in range(int(upper.max()) + 1):
            into, counts = np.unique(lower[upper == k], return_counts=True)
            order = np.argsort(-counts, kind="stable")
            shares = zip(into[order].tolist(), (counts[order] / counts.sum()).tolist(), strict=True)
            parts = [f"{'noise' if c < 0 else c + self.first} ({s:.0%})" for c, s in shares if s >= LEAST_SHARE]
            yield k, int(counts.sum()), ", ".join(parts)

    @cached_property
    def levels(self) -> dict[str, dict[str, Any]]:
        """For each varied setting with several values, the consensus of each, that with the fewest clusters first."""
        names = dict.fromkeys(row["setting"] for row in self.result.settings)
        levels = {name: {str(value): own for value, own in self.result.levels(name).items()} for name in names}
        return {name: own for name, own in levels.items() if len(own) > 1}

    def _trees(self) -> Iterator[Any]:
        """For each varied setting, where clusters split, and which values agree."""
        for name, levels in self.levels.items():
            told = setting_words(name)
            yield f"Consensus of the runs with each value of the {told}; the lines show where the items go."
            yield drawing(f"tree-{name}", levels_drawing(levels, self.first), f"Clusters by {told}")
            whole = [each_alone(own) for own in levels.values()]
            pairs = np.array([[adjusted_rand(x, y) for y in whole] for x in whole])
            told = f"Agreement of the values of the {told} (adjusted Rand index)"
            yield figure(f"agreement-{name}", "pairs", pairs_figure(pairs, tuple(levels)), told, f"{told}.")

    def settings(self) -> Iterator[tuple[str, str]]:
        yield from super().settings()
        yield "Runs", f"{self.result.base.n_clusterings:,}"
        yield "Loss", self.result.estimate.loss.words

    def more_sections(self) -> Iterator[dict[str, Any] | None]:
        if "settings" in self.tables:
            tables = (self.tables.get(name) for name in ("settings", "splits"))
            yield section("settings", "Settings", *tables, *self._trees())
        yield section("runs", "Runs", self.tables["runs"])
        yield self.items_section()


def setting_words(name: str) -> str:
    """The name of a setting for readers who do not know the program.

    >>> setting_words("n_clusters"), setting_words("min_cluster_size"), setting_words("resolution")
    ('number of clusters', 'minimum cluster size', 'resolution')
    """
    first, _, rest = name.partition("_")
    told = {"n": "number of", "min": "minimum", "max": "maximum"}.get(first, first)
    return f"{told} {rest.replace('_', ' ')}" if rest else name


def _range(counts: Any) -> str:
    fewest, most = int(counts.min()), int(counts.max())
    return plural(fewest, "cluster") if fewest == most else f"{fewest} to {most} clusters"
