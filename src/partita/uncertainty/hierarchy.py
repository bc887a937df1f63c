"""A tree of clusterings: nested partitions from fine to coarse, around an estimate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats, Labels
from partita._support.hints import plural
from partita._support.optional import data_frame
from partita._support.shown import ShownAsFacts
from partita._support.tolerance import TIE
from partita._support.validate import check_count, check_rng
from partita.draws.sample import PartitionSample, as_sample, check_complete
from partita.estimation.estimate import estimate as estimate_partition
from partita.estimation.estimate import estimate_step
from partita.estimation.result import Estimate
from partita.losses.base import Loss
from partita.losses.expected import expected_loss
from partita.losses.losses import as_loss
from partita.partitions.labels import canonical
from partita.search.constraints import Constraints
from partita.search.settings import Search
from partita.uncertainty.merges import best_split, merge_tree, split_losses
from partita.uncertainty.support import Support, node_support

#: By default the finest level has as many clusters as this share of the draws has at most.
FINEST = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy(ShownAsFacts):
    """Nested partitions, and the nodes of their tree: the result of `hierarchy`.

    Attributes
    ----------
    levels : (levels, n) integer array
        The partitions, from fine to coarse.
    expected_loss : (levels,) array
        Of each level.
    members : (nodes, n) bool array
        The items of each node: first the clusters of the finest level, then every union that is a cluster of a coarser
        level, up to the coarsest.
    parents : (nodes,) integer array
        The node of which each node is a part; -1 for clusters of the coarsest level.
    first_level : (nodes,) integer array
        The finest level on which the node is a cluster.
    support : Support
        Posterior support of each node.
    estimate_level : int
        The level that is the estimate; of nested draws, the finest.
    loss : Loss
        The loss that was used.
    names : tuple of str or None
        Names of the items.
    """

    levels: Labels
    expected_loss: Floats
    members: NDArray[np.bool_]
    parents: Labels
    first_level: Labels
    support: Support
    estimate_level: int
    loss: Loss
    names: tuple[str, ...] | None = None

    @property
    def n_clusters(self) -> Labels:
        """Number of clusters of each level."""
        return np.asarray(self.levels.max(axis=1) + 1)

    def cut(self, k: int) -> Labels:
        """The labels of the level with k clusters.

        Examples
        --------
        >>> hierarchy([[0, 0, 1, 1]] * 3 + [[0, 0, 1, 2]] * 2, rng=1).cut(1)
        array([0, 0, 0, 0])
        """
        wanted, known = check_count(k, "k", minimum=1), self.n_clusters.tolist()
        if wanted not in known:
            raise ValueError(f"k is {wanted}, but the levels have {', '.join(map(str, known))} clusters")
        return np.asarray(self.levels[known.index(wanted)].copy())

    def newick(self) -> str:
        """The tree in Newick format, with the items as leaves and the transfer support of each node as its label.

        Examples
        --------
        >>> print(hierarchy([[0, 0, 1, 1]] * 3 + [[0, 0, 1, 2]] * 2, rng=1).newick())
        ((0,1)1.00,(2,3)1.00)1.00;
        """
        return _newick(self)

    def to_pandas(self) -> Any:
        """One row per node: its size, parent, levels and support."""
        return data_frame(
            {
                "size": self.members.sum(axis=1),
                "parent": self.parents,
                "clusters": self.n_clusters[self.first_level],
                "support": self.support.transfer,
                "compatible": self.support.compatible,
                "together": self.support.together,
                "exact": self.support.exact,
            }
        )

    def _facts(self) -> Iterator[tuple[str, str]]:
        clusters = self.n_clusters
        yield "items", f"{self.levels.shape[1]:,}"
        yield "clusters", f"{clusters[0]} to {clusters[-1]}"
        yield "estimate", plural(int(clusters[self.estimate_level]), "cluster")
        yield "expected loss", f"{self.expected_loss[self.estimate_level]:.4f} {self.loss}"
        known = self.support.transfer[~np.isnan(self.support.transfer)]
        yield "support", f"{known.min():.2f} to {known.max():.2f}" if known.size else "of single items only"


def hierarchy(
    draws: Any,
    loss: str | Loss = "vi",
    *,
    finest: int | None = None,
    coarser: Sequence[Any] = (),
    search: Search | None = None,
    rng: Any = None,
) -> Hierarchy:
    """Nested partitions from fine to coarse, with the posterior support of every node of their tree.

    From flat draws: the estimate y_K of least expected loss; above it, level k - 1 is the best of all merges of two
    clusters of level k; below it, level k + 1 is the best split of one cluster of level k in two. So each level has the
    least expected loss that is possible next to the level from which it was made. Splits of more than 10 items are
    found by moves of single items, and may be a little worse than the best.

    From nested draws (`coarser`): the finest level is the estimate from `draws`, and each coarser level is the estimate
    from its own draws among the partitions that the level below is nested in.

    The support of a node is 1 - E δ / (size - 1), where δ is the number of items to move in or out until no cluster of
    the draw crosses the node (of nested draws: until it is a cluster of some level). `Support` has probabilities, too.

    Parameters
    ----------
    draws : anything that `as_sample` takes, or an Estimate
        An estimate is used as it is, with its own draws and loss.
    loss : str or Loss
        The loss, by name or as an object such as ``VI(a=0.5, b=1)``.
    finest : int, optional
        Number of clusters of the finest level; by default that which 95 % of the draws do not exceed.
    coarser : sequence of what `as_sample` takes
        Draws of the coarser levels, from fine to coarse: draw t of every level belongs to the same tree.
    search : Search, optional
        Settings of the search.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    Hierarchy

    Examples
    --------
    >>> tree = hierarchy([[0, 0, 1, 1]] * 3 + [[0, 0, 1, 2]] * 2, rng=1)
    >>> tree.levels.tolist()
    [[0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 0, 0]]
    >>> tree.support.together.tolist()
    [1.0, 1.0, 1.0, 0.6, 0.0]

    References
    ----------
    Lemoine et al. (2018), Renewing Felsenstein's phylogenetic bootstrap in the era of big data, for transfer support.
    """
    best, sample = _estimate(draws, loss, search, rng)
    check_complete(sample, "hierarchy")
    if len(coarser):
        if finest is not None:
            raise ValueError("finest is for flat draws: nested ones have their own finest level")
        return _of_nested(best, [sample, *_checked_levels(coarser, sample)], search, rng)
    wanted = _finest(sample, int(best.partition.max()) + 1, finest)
    levels, losses = _levels(best.partition, sample, best.loss, wanted)
    own = next(k for k, row in enumerate(levels) if (row == best.partition).all())
    return _tree(np.array(levels), np.array(losses), [sample], own, best.loss)


def _estimate(draws: Any, loss: str | Loss, search: Search | None, rng: Any) -> tuple[Estimate, PartitionSample]:
    if isinstance(draws, Estimate):
        return draws, draws.sample
    best = estimate_step(as_sample(draws), as_loss(loss), search or Search(), check_rng(rng))
    return best, best.sample


def _finest(sample: PartitionSample, n_clusters: int, finest: int | None) -> int:
    if finest is None:
        order = np.argsort(sample.n_clusters, kind="stable")
        reached = int(np.searchsorted(np.cumsum(sample.weights[order]), FINEST - TIE))
        return max(n_clusters, int(sample.n_clusters[order[min(reached, order.size - 1)]]))
    wanted = check_count(finest, "finest", minimum=1)
    if not n_clusters <= wanted <= sample.n_items:
        raise ValueError(
            f"finest is {wanted}, but it must be at least the estimate's {n_clusters} clusters and at most the"
            f" {sample.n_items} items"
        )
    return wanted


def _levels(labels: Labels, sample: PartitionSample, loss: Loss, finest: int) -> tuple[list[Labels], list[float]]:
    """The partitions from fine to coarse, and their expected losses."""
    merges = merge_tree(labels, sample, loss=loss)
    above, ids = [labels], {k: np.flatnonzero(labels == k) for k in range(int(labels.max()) + 1)}
    for made, (left, right) in enumerate(merges.pairs.tolist(), start=len(ids)):
        ids[made] = np.union1d(ids[left], ids[right])
        row = above[-1].copy()
        row[ids[made]] = row[ids[made][0]]
        above.append(canonical(row))
    below = list(_splits(labels, sample, loss, finest, float(merges.expected_loss[0])))[::-1]
    levels = [row for row, _ in below] + above
    return levels, [value for _, value in below] + merges.expected_loss.tolist()


def _splits(
    labels: Labels, sample: PartitionSample, loss: Loss, finest: int, value: float
) -> Iterator[tuple[Labels, float]]:
    """The best splits, one after the other; the best one of each cluster is found once."""
    known: dict[bytes, tuple[Labels, float]] = {}
    additive = loss.additive is not None
    for _ in range(int(labels.max()) + 1, finest):
        clusters = [k for k, size in enumerate(np.bincount(labels)) if size > 1]
        keys = [np.flatnonzero(labels == k).tobytes() for k in clusters]
        for cluster, key in zip(clusters, keys, strict=True):
            if key not in known:
                part = best_split(labels, cluster, sample, loss)
                rise = float(split_losses(labels, [part], sample, loss)[0]) - value if additive else np.nan
                known[key] = (part, rise)
        parts = [known[key][0] for key in keys]
        after = (
            value + np.array([known[key][1] for key in keys]) if additive else split_losses(labels, parts, sample, loss)
        )
        chosen = int(np.argmin(after.round(12)))
        row = labels.copy()
        row[parts[chosen]] = labels.max() + 1
        labels, value = canonical(row), float(after[chosen])
        yield labels, value


def _checked_levels(coarser: Sequence[Any], sample: PartitionSample) -> list[PartitionSample]:
    levels = [as_sample(draws) for draws in coarser]
    for place, level in enumerate(levels):
        if (level.n_draws, level.n_items) != (sample.n_draws, sample.n_items):
            raise ValueError(
                f"coarser[{place}] has {level.n_draws} draws of {level.n_items} items, but draws has"
                f" {sample.n_draws} draws of {sample.n_items} items"
            )
        if level.has_gaps:
            raise ValueError(f"coarser[{place}] must label every item")
    return levels


def _of_nested(best: Estimate, samples: list[PartitionSample], search: Search | None, rng: Any) -> Hierarchy:
    """Each level is the estimate from its own draws in which the clusters of the level below stay together."""
    generator, rows = check_rng(rng), [best.partition]
    for sample in samples[1:]:
        rules = Constraints(together=_chained(rows[-1]))
        above = estimate_partition(
            sample, best.loss, search=search, rng=generator, check_draws=False, constraints=rules
        )
        if above.interrupted:
            raise KeyboardInterrupt
        rows.append(above.partition)
    distinct = [0, *(k for k in range(1, len(rows)) if not (rows[k] == rows[k - 1]).all())]
    losses = [float(expected_loss(rows[k], samples[k], best.loss)) for k in distinct]
    return _tree(np.array([rows[k] for k in distinct]), np.array(losses), samples, 0, best.loss)


def _chained(labels: Labels) -> list[tuple[int, int]]:
    """Pairs of items that keep each cluster together."""
    order = np.argsort(labels, kind="stable")
    same = labels[order[1:]] == labels[order[:-1]]
    return [(int(i), int(j)) for i, j in zip(order[:-1][same], order[1:][same], strict=True)]


def _tree(levels: Labels, losses: Floats, samples: Sequence[PartitionSample], own: int, loss: Loss) -> Hierarchy:
    """The nodes: the clusters of the finest level, then those that are new on each coarser one."""
    members, first, parents = [], [], list[int]()
    current: dict[int, int] = {}  # the node of each item on the level below
    for place, row in enumerate(levels):
        before, current = current, {}
        for cluster in range(int(row.max()) + 1):
            items = np.flatnonzero(row == cluster)
            inner = sorted({before[int(i)] for i in items}) if before else []
            if len(inner) != 1:
                members.append(row == cluster)
                first.append(place)
                parents.append(-1)
                for child in inner:
                    parents[child] = len(members) - 1
            node = inner[0] if len(inner) == 1 else len(members) - 1
            current |= dict.fromkeys(items.tolist(), node)
    nodes = np.array(members)
    leaves = np.array([np.flatnonzero(levels[0] == k)[0] for k in range(int(levels[0].max()) + 1)])
    support = node_support(nodes[:, leaves], levels[0], samples)
    names = samples[0].names
    return Hierarchy(levels, losses, nodes, np.array(parents), np.array(first), support, own, loss, names)


def _newick(tree: Hierarchy) -> str:
    """The items are the leaves; a node's label is its transfer support. Names that need it are quoted."""
    names = tree.names or tuple(map(str, range(tree.levels.shape[1])))
    written: list[str] = []
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parents.tolist()):  # children come before their parents
        parts = [written[child] for child in children.get(node, [])]
        parts = parts or [_quoted(names[item]) for item in np.flatnonzero(tree.members[node])]
        support = tree.support.transfer[node]
        label = "" if np.isnan(support) else f"{support:.2f}"
        written.append(parts[0] if len(parts) == 1 else f"({','.join(parts)}){label}")
        children.setdefault(parent, []).append(node)
    top = [written[node] for node in children[-1]]
    return (top[0] if len(top) == 1 else f"({','.join(top)})") + ";"


def _quoted(name: str) -> str:
    """The name, in quotes if it has characters with a meaning in the format; a quote inside is doubled."""
    return name if re.fullmatch(r"[\w.+-]+", name) else "'" + name.replace("'", "''") + "'"
