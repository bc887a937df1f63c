"""Convergence and mixing on partition space: R-hat, effective sample size, distances between chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Floats
from partita._support.optional import data_frame
from partita._support.shown import Noted, rows_table
from partita.draws.sample import PartitionSample, as_sample
from partita.estimation.convergence import Quantity, entropies, mixing_sentences, not_mixed, quantities, warn_mixing
from partita.estimation.estimate import estimate_step
from partita.estimation.result import Estimate, sample_of
from partita.estimation.standard_errors import by_chain
from partita.losses.base import Loss
from partita.losses.expected import loss_where_placed, unique_distances
from partita.losses.losses import as_loss
from partita.search.deadline import Deadline
from partita.search.settings import Search


@dataclass(frozen=True, eq=False)
class Diagnostics(Noted):
    """How well the chains explored the partitions: the result of `diagnostics`.

    Attributes
    ----------
    quantities : tuple of Quantity
        Mean, spread, R-hat and effective sample size of each summary of the draws.
    chain_distances : (chains, chains) array
        Loss between the estimates of the chains; element [s, t] takes the estimate of chain s as the truth.
    advice : tuple of str
        What to do about the problems found; empty if there are none.
    on_chains : tuple of str
        The part of the advice that compares the estimates of the chains.
    timed_out : bool
        Whether the time limit ended the search for these estimates: they are the best so far.
    chain_labels : tuple of (n_items,) integer arrays
        The estimate of each chain alone; empty for a single chain.
    """

    quantities: tuple[Quantity, ...]
    chain_distances: Floats
    advice: tuple[str, ...]
    on_chains: tuple[str, ...] = ()
    timed_out: bool = False
    chain_labels: tuple[NDArray[np.int64], ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The advice."""
        return self.advice

    @property
    def converged(self) -> bool:
        """Whether there is nothing to advise."""
        return not self.advice

    def to_pandas(self) -> Any:
        """The quantities as a pandas table, one row per quantity."""
        return data_frame([vars(q) for q in self.quantities]).set_index("name")

    def __repr__(self) -> str:
        rows = "".join(
            f"\n  {q.name:<22}{q.mean:>10.4g} ± {q.sd:<9.3g} R-hat {q.r_hat:.3f}  ESS {q.ess:.0f}"
            for q in self.quantities
        )
        return "Diagnostics" + rows + "".join(f"\n  {line}" for line in self.advice)

    def _repr_html_(self) -> str:
        header = ("quantity", "mean", "sd", "R-hat", "ESS")
        rows = [(q.name, f"{q.mean:.4g}", f"{q.sd:.3g}", f"{q.r_hat:.3f}", f"{q.ess:.0f}") for q in self.quantities]
        return rows_table("Diagnostics", header, rows) + "".join(f"<p>{escape(line)}</p>" for line in self.advice)


def diagnostics(
    draws: Any,
    loss: str | Loss | None = None,
    *,
    log_density: ArrayLike | None = None,
    search: Search | None = None,
    rng: Any = None,
) -> Diagnostics:
    """R-hat and effective sample size of summaries of the draws, and distances between the chains' estimates.

    The summaries are the number of clusters, the entropy in bits, the size of the largest cluster, the loss to the
    estimate, and the log density if it is given. R-hat is split and rank-normalised. Weights of the draws are ignored.

    Parameters
    ----------
    draws : Estimate, or anything that `as_sample` takes, best with chains: a (chain, draw, item) array
        Posterior draws, or an estimate, whose own draws are used. Chains are compared if they are known.
    loss : str or Loss, optional
        For distances; by default the estimate's own, or VI.
    log_density : (draws,) or (chain, draw) array_like, optional
        Log posterior density of each draw, to be examined too.
    search : Search, optional
        Settings of the searches for estimates; by default four runs. Its time limit applies to the whole call.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.

    Returns
    -------
    Diagnostics
        With a warning that says what to do if chains disagree or draws are too strongly correlated.

    Examples
    --------
    >>> chains = np.random.default_rng(1).integers(2, size=(4, 200, 6))
    >>> diagnostics(chains, rng=1).converged
    True

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Rank-normalization, folding, and localization.
    """
    how = search or Search(runs=4)
    sample = sample_of(draws)
    kind = as_loss(loss if loss is not None else draws.loss if isinstance(draws, Estimate) else "vi")
    until = Deadline.after(how.seconds)
    first = how if how.seconds is None else replace(how, seconds=how.seconds / 2)  # the chains get the other half
    best = draws if isinstance(draws, Estimate) else estimate_step(sample, kind, first, rng)
    by_draw = _summaries(sample, unique_distances(best.partition, sample, kind))
    if log_density is not None:
        by_draw["log density"] = _checked_density(log_density, sample)
    arrays = {name: by_chain(values, sample) for name, values in by_draw.items()}
    found = tuple(quantities(arrays))
    alone = _chain_estimates(sample, kind, how, rng, until)
    apart = _distances_between(alone, kind)
    shape = arrays["clusters"].shape
    unmixed = bool(not_mixed(found, *shape))
    on_chains = tuple(_on_chain_estimates(unmixed, apart))
    advice = (*mixing_sentences(found, *shape), *on_chains)
    warn_mixing(advice)
    return Diagnostics(found, apart, advice, on_chains, until.is_past, alone)


def _summaries(sample: PartitionSample, distance: Floats) -> dict[str, Floats]:
    found = {
        "clusters": sample.n_clusters.astype(np.float64),
        "entropy": entropies(sample),
        "largest cluster": np.array([np.bincount(row[row >= 0], minlength=1).max() for row in sample.labels], float),
        "distance to estimate": distance,
    }
    return {name: values[sample.index] for name, values in found.items()}


def _checked_density(log_density: ArrayLike, sample: PartitionSample) -> Floats:
    values = np.asarray(log_density, np.float64).ravel()
    if values.size != sample.n_draws:
        raise ValueError(f"log_density has {values.size} values, but there are {sample.n_draws} draws")
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"log_density[{place}] is {values[place]}; it must be finite")
    return values


def _chain_estimates(
    sample: PartitionSample, loss: Loss, search: Search, rng: Any, until: Deadline
) -> tuple[NDArray[np.int64], ...]:
    """The estimate of each chain alone; none for a single chain."""
    if sample.n_chains == 1:
        return ()
    assert sample.chains is not None
    draws = sample.to_numpy()
    gap = -1 if sample.has_gaps else None
    parts = [as_sample(draws[sample.chains == chain], missing=gap) for chain in range(sample.n_chains)]
    found = []
    for place, part in enumerate(parts):
        share = until.limit(search)
        share = share if share.seconds is None else replace(share, seconds=share.seconds / (len(parts) - place))
        found.append(estimate_step(part, loss, share, rng).labels)
    return tuple(found)


def _distances_between(partitions: Sequence[NDArray[np.int64]], loss: Loss) -> Floats:
    if not partitions:
        return np.zeros((1, 1))
    return np.array([[loss_where_placed(x, y, loss) for y in partitions] for x in partitions])


def _on_chain_estimates(unmixed: bool, apart: Floats) -> list[str]:
    """Advice from the estimates of the single chains, if the chains have not mixed."""
    if not unmixed or len(apart) == 1:
        return []
    if apart.max() == 0:
        return [
            "The estimates of the chains are the same nevertheless: the clustering can probably be trusted, but its"
            " uncertainty is computed from draws that have not converged."
        ]
    return [
        f"The estimates of the chains are up to {apart.max():.3g} apart: they may be in different modes. Compare them"
        " with each other and with the modes of the posterior."
    ]
