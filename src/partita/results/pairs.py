"""An estimate from pair probabilities: uncertain pairs, components and proofs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from partita._support.arrays import Floats, Ints
from partita._support.hints import plural
from partita.estimation.linkage_ids import Changes
from partita.results.components import SIZES_LISTED, sizes_table
from partita.results.parts import button, section
from partita.results.presentation import Note, Presentation, cautions, facts, first_names, means_of
from partita.results.sentences import UNSURE
from partita.results.tables import ColumnRows, Table, columns, table
from partita.uncertainty.linkage_reasons import questions
from partita.uncertainty.uncertain_pairs import pair_certainty, uncertain_pairs

PAIRS_WRITTEN, PAIRS_LISTED, PAIRS_NAMED = 1000, 500, 3
CLUSTERS_LISTED = 200
MEMBERS_SHOWN = 6  # of a cluster that an update changed
ID = "Id | Lasting identifier of the cluster"
LOSS_WORDS = {
    "binder": "expected Binder loss",
    "vi-lower-bound": "lower bound to the variation of information",
    "pear": "approximate one minus adjusted Rand index",
}


class PairPresentation(Presentation):
    """An estimate from pair probabilities, its bound, what an update changed, and what to ask a reviewer."""

    kind = "pairs"
    names_at = "result.similarity.names"
    whose = "an estimate from pair probabilities"
    of_pairs = True
    takes: ClassVar[dict[str, str]] = {"partita.proofs.bounds.Bound": "bound"}
    written: ClassVar[tuple[str, ...]] = ("items", "clusters", "pairs")
    printed: ClassVar[dict[str, int]] = {"pairs": 10}
    own = facts("""
        expected_loss | loss of the partition by the pair probabilities
        loss = result.loss.name | name of the loss
        loss_weights = result.loss.weights | weights of the loss; empty if it has none
        method | method of the search
        proven | whether no partition is better
        gap | how much lower the loss of another partition may be, as a share; null if no bound is known
        bound = extras.bound | lower bound on the loss; null if none was asked for
        seed | seed that gives the same answer again
        n_pairs = result.similarity.n_pairs | number of pairs with a probability of their own
        components = components | count, largest size and number of proven components
        ids | lasting identifier of each item's cluster, which updates of the linkage carry on
        changes = changes | number of identifiers of each kind since the last state; null without an update""")

    @cached_property
    def certainty(self) -> Floats:
        """Mean probability of each item of being with the other members of its cluster."""
        return pair_certainty(self.result)

    @cached_property
    def details(self) -> str:
        """The loss, and what is proven."""
        best, parts = self.result, self.result.components
        obeying = "" if best.constraints is None else f" Constraints: {best.constraints.summary()}."
        found, proof = "of all partitions", ", which is proven"
        if not best.proven:
            found, proof = "that was found", f"; {parts.proven:,} of {parts.count:,} components are provably optimal"
        bound = f" {self.extras['bound'].in_words()}" if "bound" in self.extras else ""
        n_pairs = best.similarity.n_pairs
        given = "1 pair probability" if n_pairs == 1 else f"{n_pairs:,} pair probabilities"
        return (
            f"Given {given}, this partition has the lowest"
            f" {LOSS_WORDS[best.loss.name]} {found}, {best.expected_loss:.6g}{proof}.{obeying}{bound}"
        )

    def more_answer(self) -> Iterator[str]:
        against = [pair for pair in self.doubtful if pair.doubt > UNSURE]
        if against:
            named = [f"{self.item_names[p.left]} and {self.item_names[p.right]}" for p in against[:PAIRS_NAMED]]
            count = f"{'At least ' * (len(against) == PAIRS_WRITTEN)}{plural(len(against), 'pair')}"
            verb = "is decided against its" if len(against) == 1 else "are decided against their"
            told = "; ".join([*named, *["…"] * (len(against) > PAIRS_NAMED)])
            yield f"{count} {verb} own probability, because of other pairs or of constraints ({told})."
        if self.changes is not None:
            counted = ", ".join(f"{count:,} {kind}" for kind, count in self.changes.items() if count)
            yield f"Since the last state: {counted}."

    def find_notes(self) -> Iterator[Note]:
        yield from cautions(self.result.cautions)
        if not all(pair.listed for pair in self.doubtful[:PAIRS_LISTED]):
            yield Note(
                f"A pair that is not listed has probability {self.result.similarity.default:g} only because it is not"
                " in the input: if such pairs were never compared, other pairs hold their cluster together."
            )

    @cached_property
    def doubtful(self) -> list[Any]:
        """The pairs about which the estimate is most likely wrong, the worst first."""
        return uncertain_pairs(self.result, PAIRS_WRITTEN)

    @property
    def components(self) -> dict[str, int]:
        """Their number, the size of the largest, and how many are proven."""
        parts = self.result.components
        return {"count": parts.count, "largest": int(parts.sizes.max()), "proven": parts.proven}

    @cached_property
    def moved(self) -> Changes | None:
        """What the last update did with the identifiers that are not as they were; None without one."""
        return None if self.result._ledger is None else self.result._ledger.moved(self.names)

    @property
    def changes(self) -> dict[str, int] | None:
        """The number of identifiers of each kind; None without an update."""
        if self.moved is None:
            return None
        return self.moved.counts | {"kept": self.n_clusters - int((self.moved.kind != "gone").sum())}

    @cached_property
    def ids(self) -> Ints:
        """The lasting identifier of each cluster."""
        found = np.empty(self.n_clusters, np.int64)
        found[self.labels] = self.result.ids
        return found

    def clusters_table(self) -> Table:
        """With the identifier of each cluster."""
        return super().clusters_table().beside(1, columns(ID), [self.ids])

    def items_table(self) -> Table:
        cells = (self.result.components.labels, self.result.ids)
        own = columns(f"Component:cluster; {ID}")
        return super().items_table().beside(2, own, cells)

    def more_tables(self) -> Iterator[Table | None]:
        yield self.pairs_table()
        yield sizes_table(self.result.sizes)
        yield self._components()
        yield self._open_components()
        yield self._reasons()
        yield self._changes()
        yield self._moved()

    def _reasons(self, clusters: Any = None) -> Table | None:
        """What to show a reviewer, in the order of what the answer would change."""
        asked = questions(self.result, PAIRS_WRITTEN, clusters)
        if not asked:
            return None
        header = columns("""
            Item=left; Other item=right; Would=kind | What an answer against the estimate would do
            Probability | That the two belong together, by itself
            Change | Expected number of listed pairs whose verdict the answer reverses
            Cost | Increase of the loss if the clusters are split or merged there
            Ids | Identifiers of the clusters concerned""")
        rows = [(q.left, q.right, q.kind, q.probability, q.change, q.cost, " ".join(map(str, q.ids))) for q in asked]
        return Table("reasons", "Questions for a reviewer, by what the answer would change", header, rows, search=True)

    def _changes(self) -> Table | None:
        """The identifiers that are not as they were."""
        if self.moved is None or self.changes is None:
            return None
        header = columns(f"""
            {ID}
            Kind | Grown, shrunk, split, merged, new or gone
            Records | Records that came or left; all of a cluster that is new or gone
            Now | The first records of the cluster now""")
        concerned = np.zeros(self.result._ledger.next_id, np.bool_)
        concerned[self.moved.id] = True
        items = np.flatnonzero(concerned[self.result.ids])
        items = items[np.argsort(self.result.ids[items], kind="stable")]
        begins, ends = (np.searchsorted(self.result.ids[items], self.moved.id, side) for side in ("left", "right"))
        rows = [
            (own, kind, "; ".join(records), first_names(self.item_names, items[begin:end], MEMBERS_SHOWN))
            for (own, kind, records), begin, end in zip(self.moved, begins, ends, strict=True)
        ]
        kept = self.changes["kept"]
        note = "One cluster is as it was." if kept == 1 else f"{kept:,} clusters are as they were."
        return Table("changes", "Changes since the last state", header, rows, note=note)

    def _moved(self) -> Table | None:
        """The records whose identifier is another one than before."""
        if (ledger := self.result._ledger) is None:
            return None
        moved, gone = np.flatnonzero(ledger.before != ledger.ids), len(ledger.gone_names)
        names = [*(self.item_names[i] for i in moved.tolist()), *ledger.gone_names]
        before = np.concatenate([ledger.before[moved], ledger.gone_before]).tolist()
        now = [*ledger.ids[moved].tolist(), *[None] * gone]
        header = columns("""
            Item
            Before:number=before | Identifier of the cluster before; empty for an item that is new
            Id | Identifier now; empty for an item that is gone""")
        rows = ColumnRows(names, [None if own < 0 else own for own in before], now)
        return Table("moved", "Items that changed their cluster", header, rows)

    def pairs_table(self) -> Table:
        """The pairs that speak most against the estimate."""
        name, verdicts, yes = self.item_names, ("apart", "together"), ("no", "yes")
        rows = [
            (name[p.left], name[p.right], verdicts[p.together], p.probability, p.doubt, yes[p.listed])
            for p in self.doubtful
        ]
        header = columns(f"""
            Item=left; Other item=right; Estimate
            Probability | That the two belong together, by itself
            Doubt | The probability, by itself, that the estimate is wrong about the pair
            Listed | Pairs that are not listed have probability {self.result.similarity.default:g}""")
        return Table("pairs", "Pairs, the most uncertain first", header, rows, search=True)

    def _components(self) -> Table:
        parts = self.result.components
        sizes, count = np.unique(parts.sizes, return_counts=True)
        proven = [int(parts.is_proven[parts.sizes == size].sum()) for size in sizes]
        header = columns("""
            Items | In each of these components
            Components | How many have this size
            Proven:number | For how many of them no partition is better""")
        rows = list(zip(sizes.tolist(), count.tolist(), proven, strict=True))[::-1]
        return Table("components", "Components by size", header, rows[:SIZES_LISTED])

    def _open_components(self) -> Table | None:
        parts = self.result.components
        unproven = np.flatnonzero(~parts.is_proven)
        if not unproven.size:
            return None
        largest = unproven[np.argsort(-parts.sizes[unproven], kind="stable")][:SIZES_LISTED]
        first = np.unique(parts.labels, return_index=True)[1]
        clusters = [int(np.unique(self.labels[parts.labels == c]).size) for c in largest]
        rows = [
            (self.item_names[int(first[c])], int(parts.sizes[c]), k) for c, k in zip(largest, clusters, strict=True)
        ]
        told = f"{unproven.size:,} in all." if unproven.size > SIZES_LISTED else None
        spec = "First item; Items; Clusters"
        return table("open", "Components that are not proven, largest first", spec, rows, note=told)

    def settings(self) -> Iterator[tuple[str, str]]:
        best = self.result
        yield from super().settings()
        others = f"probability {best.similarity.default:g} for all others"
        yield "Pairs", f"{best.similarity.n_pairs:,} listed pairs; {others}"
        weights = ", ".join(f"{name} = {value:g}" for name, value in best.loss.weights.items())
        yield "Loss", LOSS_WORDS[best.loss.name] + (f" ({weights})" if weights else "")
        yield "Method", best.method
        if best.constraints is not None:
            yield "Constraints", best.constraints.summary()

    def clusters_blocks(self) -> Iterator[Any]:
        yield from (button(), self._members(), self.tables["sizes"])

    def more_sections(self) -> Iterator[dict[str, Any] | None]:
        tables = self.tables
        if self.moved:
            yield section("changes", "Changes", tables["changes"].head(PAIRS_LISTED, "changes"))
        if "reasons" in tables:
            told = "The answer to the first questions would change most. Answers go back as constraints of an update."
            yield section("reasons", "Review", told, tables["reasons"].head(PAIRS_LISTED, "questions"))
        told = (
            "The pairs about which the estimate is most likely wrong. First come those where it goes against the"
            " pair's own probability, because of other pairs or of constraints."
        )
        yield section("pairs", "Pairs to look at first", told, tables["pairs"].head(PAIRS_LISTED, "pairs"))
        yield self.items_section(of_all=False)

    def diagnostics_blocks(self) -> Iterator[Any]:
        yield "No best partition joins two components, so that each was searched by itself."
        yield from (self.tables.get(name) for name in ("components", "open"))

    def _members(self) -> Table:
        """The clusters of several items with their members, the largest first."""
        sizes, known = self.result.sizes, means_of(self.certainty, self.labels)
        several = int((sizes > 1).sum())
        order, ends = np.argsort(self.labels, kind="stable"), np.cumsum(sizes)
        largest = np.argsort(-sizes, kind="stable")[: min(several, CLUSTERS_LISTED)]
        members = [order[ends[k] - sizes[k] : ends[k]] for k in largest.tolist()]
        rows = [
            (int(k), int(self.ids[k]), len(own), float(known[k]), first_names(self.item_names, own))
            for k, own in zip(largest, members, strict=True)
        ]
        header = columns(f"""
            Cluster; {ID}
            Items; Certainty | Mean certainty of its items
            Members""")
        single = self.n_clusters - several
        shown = f"The first {CLUSTERS_LISTED:,} of {several:,} clusters of several items."
        note = " ".join(
            [shown] * (several > len(rows)) + [f"{single:,} further clusters are single items."] * (single > 0)
        )
        return Table("clusters", "Clusters of several items, largest first", header, rows, note or None)

    def reproduce(self) -> Iterator[tuple[str, str]]:
        yield from super().reproduce()
        yield "Runs", str(self.result.search.most_runs)


class ChangePresentation(PairPresentation):
    """What an update changed, in time that depends on this alone: nothing of each item or each cluster."""

    of_all = False
    written = ()
    certainty = None  # type: ignore[assignment]
    doubtful = ()  # type: ignore[assignment]
    own: ClassVar[dict[str, tuple[str, str]]] = PairPresentation.own | {
        "ids": ("nothing", PairPresentation.own["ids"][1])
    }

    @cached_property
    def tables(self) -> dict[str, Table]:
        """The questions about what the update touched, and its changes."""
        ledger = self.result._ledger
        touched = np.zeros(self.n_clusters, np.bool_)
        touched[self.labels[ledger.touched]] = touched[self.labels[ledger.before != ledger.ids]] = True
        made = (self._reasons(touched), self._changes(), self._moved())
        return {table.id: table for table in made if table is not None}
