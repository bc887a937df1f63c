"""Searches and uncertainty on a Dask cluster: `partita.distributed.estimate` and related functions.

Each function does the same as the function of that name in `partita`, on the workers of a `dask.distributed` client.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from partita._support.validate import check_count
from partita.distributed.arrays import credible_ball, distances, pairwise_distances, similarity
from partita.distributed.pool import connected
from partita.distributed.runs import engine_on, sample_chains
from partita.distributed.shards import search_shards
from partita.draws.sample import as_sample
from partita.estimation.estimate import estimate_with
from partita.estimation.result import Estimate
from partita.losses.base import Loss
from partita.losses.losses import as_loss
from partita.search import METHODS, as_method
from partita.search.core import find_native
from partita.search.method import SEARCH, Method
from partita.search.settings import Search

__all__ = ["credible_ball", "distances", "estimate", "pairwise_distances", "sample_chains", "similarity"]


def estimate(
    draws: Any,
    loss: str | Loss = "vi",
    method: str | Method = "search",
    search: Search | None = None,
    weights: Any = None,
    rng: Any = None,
    *,
    client: Any = None,
    workers: int | None = None,
    shards: int | None = None,
) -> Estimate:
    """The partition of least posterior expected loss, searched by the workers of a Dask cluster.

    By default the runs are spread over the workers, each of which has all draws: the answer is the same as that of
    `partita.estimate`. With `shards` the draws are spread instead, for draws that no single worker can hold: the
    answer is then the same for any number of shards and workers.

    Parameters
    ----------
    draws, loss, method, search, weights, rng
        As for `partita.estimate`; the method is "search", "salso" or "greedy".
    client : dask.distributed.Client or str, optional
        A client, or the address of a scheduler. None: a cluster on this machine for the duration of the search.
    workers : int, optional
        Number of processes of that cluster; by default one per core.
    shards : int, optional
        Number of parts into which the draws are split, for "search" only; more parts than the workers have threads
        are of no use.

    Returns
    -------
    Estimate

    Raises
    ------
    ConnectionError
        If there is no scheduler at the address, or it has no workers.

    Examples
    --------
    >>> from distributed import Client
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 2]]
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0", set_as_default=False) as client:
    ...     estimate(draws, rng=1, client=client).labels
    array([0, 0, 1, 1])
    """
    kind, how = as_loss(loss), Search() if search is None else search
    chosen = as_method(method)
    core = chosen.core
    if core is None:
        names = ", ".join(name for name, known in METHODS.items() if known.core is not None)
        raise ValueError(f"method must be one of {names} on a cluster, but it is {chosen.name!r}")
    if shards is not None:
        check_count(shards, "shards", minimum=1)
        if core is not SEARCH:
            raise ValueError(f"shards is for the method 'search', not for {chosen.name!r}")
    if workers is not None:
        check_count(workers, "workers", minimum=1)
    sample = as_sample(draws, weights=weights)
    with connected(client, workers) as pool:
        if shards is None:
            find = partial(find_native, core, engine=engine_on(pool))
        else:
            find = partial(search_shards, pool=pool, shards=shards)
        return estimate_with(find, sample, kind, chosen.name, how, rng)
