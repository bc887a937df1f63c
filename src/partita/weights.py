"""Weights of a loss that give a wanted number of clusters, and the path of estimates along them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita._facts import facts_table
from partita._validate import check_count
from partita.estimate import Estimate, Search, estimate
from partita.losses import VI, Binder, as_loss
from partita.sample import as_sample


@dataclass(frozen=True, eq=False, repr=False)
class WeightPath:
    """Estimates along the weight a of a loss, b fixed; `weights_for` makes it.

    Attributes
    ----------
    a : float
        The weight whose estimate has the wanted number of clusters.
    loss : Binder or VI
        The loss with that weight.
    estimate : Estimate
        Its estimate.
    path : tuple of Estimate
        All estimates made on the way, by increasing a: fewer clusters as a grows.
    """

    a: float
    loss: Binder | VI
    estimate: Estimate
    path: tuple[Estimate, ...]

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the estimate."""
        return self.estimate.n_clusters

    def to_pandas(self) -> Any:
        """Weight, number of clusters and expected loss along the path."""
        import pandas as pd

        rows = [(e.loss.a, e.n_clusters, e.expected_loss) for e in self.path]  # type: ignore[attr-defined]
        return pd.DataFrame(rows, columns=["a", "n_clusters", "expected_loss"])

    def __repr__(self) -> str:
        return f"WeightPath(a={self.a:.6g}, n_clusters={self.n_clusters}, {len(self.path)} estimates)"

    def _repr_html_(self) -> str:
        rows = ((f"a = {e.loss.a:.6g}", f"{e.n_clusters} clusters") for e in self.path)  # type: ignore[attr-defined]
        return facts_table(f"Weights for {self.n_clusters} clusters", rows)


def weights_for(
    draws: Any,
    loss: str | Binder | VI = "vi",
    *,
    n_clusters: int,
    search: Search | None = None,
    weights: Any = None,
    rng: Any = 0,
    steps: int = 40,
) -> WeightPath:
    """The weight a, with b as given, for which the estimate has a wanted number of clusters.

    A small a makes splitting cheap and gives many clusters, a large one few: the weight is bracketed by doubling and
    then halved in on, on the scale of log a.

    Parameters
    ----------
    draws : anything that `as_sample` takes
    loss : "vi", "binder", or such a loss
        Its b is kept; its a is where the search starts.
    n_clusters : int
        Wanted number of clusters.
    search : Search, optional
        Effort of each estimate. The limit on clusters is n_clusters plus what the draws have, unless one is given.
    rng : None, int or numpy Generator
    steps : int
        Most estimates to make.

    Returns
    -------
    WeightPath

    Raises
    ------
    ValueError
        If no weight gives n_clusters: as a grows the number may jump past it. The message says between which weights.

    Examples
    --------
    >>> from partita.datasets import make_draws
    >>> draws = make_draws(30, 100, 4, rng=1)
    >>> weights_for(draws, "vi", n_clusters=2).n_clusters
    2
    """
    start = as_loss(loss)
    if not isinstance(start, Binder | VI):
        raise TypeError(f"loss must be Binder or VI, which have weights, not {type(start).__name__}")
    sample = as_sample(draws, weights=weights)
    wanted = check_count(n_clusters, "n_clusters", minimum=1)
    if wanted > sample.n_items:
        raise ValueError(f"n_clusters is {wanted}, but there are {sample.n_items} items")
    how = search or Search(runs=8)
    if how.max_clusters is None:
        how = replace(how, max_clusters=min(sample.n_items, wanted + int(sample.n_clusters.max())))
    seed = int(np.random.default_rng(rng).integers(2**32))
    found: dict[float, Estimate] = {}

    def clusters_at(a: float) -> int:
        found[a] = estimate(sample, replace(start, a=a), search=how, rng=seed)
        return found[a].n_clusters

    a, low, high = start.a, 0.0, np.inf  # too many clusters at low, too few at high
    for _ in range(steps):
        clusters = clusters_at(a)
        if clusters == wanted:
            return WeightPath(a, replace(start, a=a), found[a], tuple(found[key] for key in sorted(found)))
        low, high = (a, high) if clusters > wanted else (low, a)
        a = 2 * low if np.isinf(high) else high / 2 if low == 0 else float(np.sqrt(low * high))
        if a in (low, high):
            break
    tried = " and ".join(f"{found[a].n_clusters} clusters at a={a!r}" for a in (low, high) if a in found)
    raise ValueError(f"no weight a was found whose estimate has {wanted} clusters: {tried}")
