"""Chains of a model on the workers of a cluster, with one task per chain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from partita._support.validate import check_count, seed_and_generator
from partita.distributed.pool import connected
from partita.models.chains.chain import Chain
from partita.models.chains.plan import only_chain


def sample_chains(
    model: Any,
    data: Any,
    *,
    chains: int = 4,
    rng: Any = None,
    client: Any = None,
    workers: int | None = None,
    **options: Any,
) -> Chain:
    """Chains of a model, sampled by the workers of a Dask cluster.

    The chains are those of ``model.sample(data, chains=chains, rng=rng)`` with the same integer `rng`, starts included,
    on any number of workers.

    Parameters
    ----------
    model : a model with `sample`, such as `models.GaussianDPM()`
        The model to sample.
    data : what `model.sample` takes
        The data.
    chains : int
        Number of chains.
    rng : None, int or numpy Generator
        Seed or source of random numbers; the same seed gives the same result.
    client, workers
        As for `estimate`.
    **options
        Other arguments of `model.sample`, such as ``draws`` and ``warmup``.

    Returns
    -------
    Chain

    Examples
    --------
    >>> from distributed import Client
    >>> from partita.models import GaussianDPM
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0", set_as_default=False) as client:
    ...     chain = sample_chains(GaussianDPM(), [[0.0], [0.1], [5.0]], chains=2, draws=5, rng=1, client=client)
    >>> chain.labels.shape
    (2, 5, 3)
    """
    check_count(chains, "chains", minimum=1)
    seed, generator = seed_and_generator(rng)
    settings = {**options, "chains": chains, "rng": int(generator.integers(2**63)) if seed is None else seed}
    with connected(client, workers) as pool:
        shared = pool.share((model, data, settings))
        return _side_by_side(pool.map(one_chain, [(shared, number) for number in range(chains)]))


def one_chain(shared: tuple[Any, Any, dict[str, Any]], number: int) -> Chain:
    """One of the chains; runs on a worker."""
    model, data, settings = shared
    with only_chain(number):
        chain: Chain = model.sample(data, n_jobs=1, **settings)
    return chain


def _side_by_side(parts: list[Chain]) -> Chain:
    first = parts[0]
    stats = {name: np.concatenate([part.stats[name] for part in parts]) for name in first.stats}
    labels = np.concatenate([part.labels for part in parts])
    joint: dict[str, Any] = {"labels": labels, "stats": stats}
    if hasattr(first, "columns"):  # of a latent block model, which clusters the columns too
        joint["columns"] = np.concatenate([part.columns for part in parts])  # type: ignore[attr-defined]
    return replace(first, **joint)
