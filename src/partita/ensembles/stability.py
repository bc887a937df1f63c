"""How stable the clusters of a clusterer are: which are found again, which items are certain, and which are noise."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from partita._support.arrays import Floats, Labels
from partita._support.hints import plural
from partita._support.shown import Shown, ShownAsText
from partita._support.validate import check_count, check_n_jobs, seed_and_generator
from partita.ensembles.base_clusterings import Base, as_base, spread_placed
from partita.ensembles.clusterers import as_data
from partita.ensembles.dependence import SEED, consensus_weights
from partita.ensembles.estimator import write_obs
from partita.ensembles.null import KINDS, NullComparison, mean_agreement, null_data
from partita.ensembles.repeat import grid_of, repeat, reporting, workers
from partita.ensembles.summary import ConsensusSummary, summarize
from partita.estimation.estimate import estimate
from partita.estimation.result import Estimate
from partita.losses.base import Loss
from partita.search.settings import Search
from partita.uncertainty.certainty import ClusterStability, cluster_stability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Recovery from which on a cluster is stable, and below which it is unstable (Hennig 2007).
STABLE, UNSTABLE = 0.75, 0.6
VERDICTS, CHANCE = ("stable", "doubtful", "unstable"), "chance"
#: Runs per data set without clusters.
NULL_RUNS = 10


@dataclass(frozen=True, eq=False)
class Stability(Shown, ShownAsText):
    """How stable a clustering is: the result of `stability`.

    Attributes
    ----------
    estimate : Estimate
        The consensus of least expected loss: −1 for noise.
    summary : ConsensusSummary
        The runs beside it: agreement, certainty of the items, dependence.
    clusters : ClusterStability
        Size, recovery (`jaccard`) and more of each cluster.
    null : NullComparison or None
        The comparison with data without clusters, if it was asked for.
    """

    estimate: Estimate
    summary: ConsensusSummary
    clusters: ClusterStability
    null: NullComparison | None = None
    presented_by: ClassVar[str] = "partita.results.stability.StabilityPresentation"

    @property
    def labels(self) -> Labels:
        """The consensus: −1 for noise, and for items that no run clustered."""
        return self.estimate.labels

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the consensus."""
        return self.estimate.n_clusters

    @property
    def base(self) -> Base:
        """The runs."""
        return self.summary.base

    @property
    def recovery(self) -> Floats:
        """For each cluster, the mean over the runs of the largest Jaccard coefficient with one of their clusters."""
        return self.clusters.jaccard

    @property
    def certainty(self) -> Floats:
        """For each item, the share of runs in which it is with its cluster; of noise, in which it is alone."""
        return self.summary.certainty

    @property
    def noise(self) -> Floats:
        """For each item, the share of the runs that call it noise, of those that clustered it."""
        return self.estimate.noise

    @cached_property
    def run_clusters(self) -> Labels:
        """Number of clusters of each run."""
        return np.array([np.unique(codes[codes >= 0]).size for codes in self.base.codes.T])

    @cached_property
    def agreement(self) -> float:
        """Mean adjusted Rand index of pairs of runs; one without clusters, or with a single one, agrees with none."""
        return mean_agreement(self.base)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """For each cluster, "stable" (recovery of at least 0.75), "unstable" (below 0.6), or "doubtful".

        All are "chance" if the runs agree no more than on data without clusters.
        """
        if self.null is not None and not self.null.is_more_than_chance:
            return (CHANCE,) * self.n_clusters
        return tuple(
            "stable" if value >= STABLE else "unstable" if value < UNSTABLE else "doubtful" for value in self.recovery
        )

    @property
    def settings(self) -> list[dict[str, Any]]:
        """One row for each value of each varied setting: its runs, their clusters and noise, and how far they agree."""
        varied, rows = getattr(self.base, "settings", ()), []
        for name in varied[0] if varied else ():
            for value in dict.fromkeys(own[name] for own in varied):
                runs = [r for r, own in enumerate(varied) if own[name] == value]
                rows.append({"setting": name, "value": value, **self._of_runs(runs)})
        return rows

    def levels(self, setting: str | None = None) -> dict[Any, Labels]:
        """The consensus of the runs with each value of a varied setting, that with the fewest clusters first.

        Parameters
        ----------
        setting : str, optional
            Its name; by default the first that was varied.
        """
        varied = getattr(self.base, "settings", ())
        names = list(varied[0]) if varied else []
        if not names:
            raise ValueError("the runs have no varied settings: use vary=")
        name = names[0] if setting is None else setting
        if name not in names:
            raise ValueError(f"setting must be one of {', '.join(names)}, but it is {setting!r}")
        clusters = {row["value"]: row["clusters"] for row in self.settings if row["setting"] == name}
        found = {}
        for value in sorted(clusters, key=clusters.__getitem__):
            keep = [r for r, own in enumerate(varied) if own[name] == value]
            part = self.base.columns(keep)
            seen = part.labelled
            best = _estimate_of(part.rows(seen), self.estimate.loss, self.summary.weights[keep], SEED)
            found[value] = spread_placed(best.labels, seen)
        return found

    def plot(self, setting: str | None = None, ax: Axes | None = None) -> Axes:
        """The tree of the values of a varied setting: where clusters split, and which values agree."""
        from partita.plots import clustering_tree

        return clustering_tree(self.levels(setting), ax=ax)

    def to_anndata(self, adata: Any, key_added: str = "stability") -> None:
        """Write the consensus into `obs` of an AnnData object whose cells are the items, in their order.

        Columns: `key_added`, the labels as text (a categorical, missing for noise), `key_added` with _certainty, and
        with _noise.

        Parameters
        ----------
        adata : AnnData
            Or any object with `obs`, a pandas data frame.
        key_added : str
            Name of the column of labels.
        """
        write_obs(adata, key_added, self.labels, {"certainty": self.certainty, "noise": self.noise})

    def _of_runs(self, runs: list[int]) -> dict[str, Any]:
        part = self.base.columns(runs)
        noise = 0.0 if part.noise is None else float(part.noise.sum() / max(1, part.seen.sum()))
        return {
            "runs": len(runs),
            "clusters": float(self.run_clusters[runs].mean()),
            "noise": noise,
            "agreement": mean_agreement(part) if len(runs) > 1 else float("nan"),
            "with_consensus": float(self.summary.agreement[runs].mean()),
        }

    def answer(self) -> str:
        """The result in a sentence."""
        counts = {word: self.verdicts.count(word) for word in VERDICTS}
        parts = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        noise = int(self.estimate.is_noise.sum())
        clusters = f"{plural(self.n_clusters, 'cluster')}" + (f" ({parts})" if parts else "")
        and_noise = f"; {plural(noise, 'item')} {'is' if noise == 1 else 'are'} noise" if noise else ""
        found = f"{plural(self.base.n_clusterings, 'run')} of {plural(len(self.labels), 'item')}: {clusters}{and_noise}"
        if self.null is not None and not self.null.is_more_than_chance:
            return f"{found}; no stable clusters: the runs agree no more than on data without clusters"
        return found

    def __repr__(self) -> str:
        return f"Stability: {self.answer()}"


def stability(
    clusterer: Any,
    X: Any = None,
    runs: int = 50,
    resample: float | str | None = 0.8,
    vary: Mapping[str, Sequence[Any]] | None = None,
    rng: Any = None,
    *,
    loss: str | Loss = "vi",
    null: str | None = None,
    null_sets: int = 20,
    columns: float | None = None,
    stop: bool = True,
    n_jobs: int = 1,
    progress: Any = False,
    path: str | PathLike[str] | None = None,
) -> Stability:
    """How stable the clusters of a clusterer are: many runs, their consensus, and which clusters are recovered.

    The runs are those of `repeat`, the consensus is that of least expected loss. A cluster is found again as far as the
    runs have one like it: its recovery is the mean over the runs of max_T |S ∩ T| / |S ∪ T|.

    Parameters
    ----------
    clusterer : scikit-learn estimator or pipeline, function (X, seed) -> labels, or base clusterings
        What to run, as for `repeat`; or runs that were made before, in any form that `as_base` takes, and no X.
    X, runs, resample, vary, rng, columns, stop, n_jobs, progress, path
        As for `repeat`; here each run clusters 80 % of the items by default.
    loss : str or Loss
        The loss of the consensus.
    null : "both", "gaussian" or "permuted", optional
        Compare with `null_sets` data sets without clusters: from a normal distribution with the means and covariances
        of X, or with each column of X permuted, or with both kinds. This makes 10 runs more for each of them, by
        default 200 of each kind. A column with several modes, which has clusters by itself, is not permuted but drawn
        from the nearest distribution with one mode.
    null_sets : int
        Number of data sets without clusters of each kind.

    Returns
    -------
    Stability

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(60, centers=3, cluster_std=0.5, random_state=1)
    >>> found = stability(KMeans(3), X, runs=10, rng=1)
    >>> found
    Stability: 10 runs of 60 items: 3 clusters (3 stable)
    >>> found.recovery.round(2).tolist()
    [1.0, 1.0, 1.0]

    References
    ----------
    Hennig (2007), Cluster-wise assessment of cluster stability, Computational Statistics & Data Analysis 52.
    """
    _, generator = seed_and_generator(rng)
    if X is None:
        if callable(clusterer) or hasattr(clusterer, "fit"):
            raise TypeError("X is missing: the data that the clusterer is to cluster")
        if null is not None:
            raise ValueError("null= needs the clusterer and X: there is no way to run other data")
        return of_runs(as_base(clusterer).hardened(), loss, generator)
    data = as_data(X)
    if null not in (None, "both", *KINDS):
        raise ValueError(f"null must be 'both', 'gaussian' or 'permuted', but it is {null!r}")
    kinds = () if null is None else KINDS if null == "both" else (null,)
    make_null = {kind: null_data(data, kind) for kind in kinds}
    sets = check_count(null_sets, "null_sets", minimum=2)
    how: dict[str, Any] = {"resample": resample, "vary": vary, "columns": columns, "n_jobs": n_jobs}
    with workers(check_n_jobs(n_jobs)):
        base = repeat(clusterer, X, runs, rng=generator, stop=stop, progress=progress, path=path, **how)
        found = of_runs(base, loss, generator)
        count = max(NULL_RUNS, len(grid_of(vary)))
        done, compared = itertools.count(1), []
        with reporting(progress, count * sets * len(kinds), "data without clusters") as report:
            for kind in () if base.interrupted else kinds:
                values, began = [], time.perf_counter()
                for own in generator.spawn(sets):
                    runs_on_null = repeat(clusterer, make_null[kind](own), count, rng=own, stop=False, **how)
                    if runs_on_null.interrupted:
                        raise KeyboardInterrupt("stopped before the comparison with data without clusters was complete")
                    values.append(mean_agreement(runs_on_null))
                    each = (time.perf_counter() - began) / len(values)
                    made = next(done)
                    report(made * count, each * (sets * len(kinds) - made), 0)
                compared.append(NullComparison(kind, found.agreement, np.array(values)))
    strongest = max(compared, key=lambda each: each.p_value, default=None)
    return Stability(found.estimate, found.summary, found.clusters, strongest)


def of_runs(base: Base, loss: str | Loss, rng: np.random.Generator) -> Stability:
    """The consensus of runs and its stability."""
    if base.seen.any(axis=0).sum() == 1:
        raise ValueError("stability is how far runs agree: it needs two runs at least, but there is one")
    weights = consensus_weights(base)
    best = _estimate_of(base, loss, weights, rng)
    summary = summarize(best.labels, base, weights=weights, method=f"least expected {best.loss.words}")
    return Stability(best, summary, cluster_stability(best))


def _estimate_of(base: Base, loss: str | Loss, weights: Floats, rng: Any) -> Estimate:
    useful = np.asarray(base.seen.any(axis=0))
    if not useful.any():
        raise ValueError(f"base has no labels: all labels of the {base.n_items} items are missing")
    return estimate(base.draws(useful, weights[useful]), loss, search=Search(), rng=rng, check_draws=False)
