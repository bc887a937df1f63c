"""Chains of a model on the workers of a cluster, with one task per chain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from partita._validate import check_count, check_rng
from partita.distributed.pool import connected
from partita.models.chain import Chain


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

    Each chain has its own seed, drawn from `rng`, so that the chains are the same on any number of workers.

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
    seeds = check_rng(rng).integers(2**63, size=chains).tolist()
    with connected(client, workers) as pool:
        shared = pool.share((model, data, options))
        return _side_by_side(pool.map(one_chain, [(shared, seed) for seed in seeds]))


def one_chain(shared: tuple[Any, Any, dict[str, Any]], seed: int) -> Chain:
    """One chain; runs on a worker."""
    model, data, options = shared
    chain: Chain = model.sample(data, chains=1, rng=seed, n_jobs=1, **options)
    return chain


def _side_by_side(parts: list[Chain]) -> Chain:
    first = parts[0]
    stats = {name: np.concatenate([part.stats[name] for part in parts]) for name in first.stats}
    labels = np.concatenate([part.labels for part in parts])
    seeds = [part.attrs.get("seed") for part in parts]
    joint: dict[str, Any] = {"labels": labels, "stats": stats, "attrs": {**first.attrs, "seed": seeds}}
    if hasattr(first, "columns"):  # of a latent block model, which clusters the columns too
        joint["columns"] = np.concatenate([part.columns for part in parts])  # type: ignore[attr-defined]
    return replace(first, **joint)
