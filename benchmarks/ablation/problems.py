"""Problems of each kind: functions from a seed to the value that the default search reaches, the lower the better."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Fit = Callable[[int], float]
#: Reference draws and losses: the hard cells, and of the easy ones a few.
REFERENCE = {
    "iris": ("vi .5", "nvi", "omari", "binder .5", "vi"),
    "galaxy": ("vi .5", "nvi", "binder"),
    "cls15": ("vi .5", "nvi", "vi", "binder", "binder .5"),
    "gaskins_like": ("vi .5", "nid", "binder .5"),
    "simce_like": ("vi", "vi 1.5", "binder"),
}


def generated() -> dict[str, tuple[NDArray[Any], dict[str, Any], tuple[str, ...]]]:
    """Draws of other shapes, settings, losses."""
    from benchmarks.many_clusters import small_clusters
    from partita.datasets import make_draws

    dependent = make_draws(120, 400, 8, doubt=0.3, rng=5)
    for row in range(1, len(dependent)):  # nine labels of ten stay
        stays = np.random.default_rng(row).random(120) < 0.9
        dependent[row, stays] = dependent[row - 1, stays]
    return {
        "limit 10": (make_draws(150, 400, 20, rng=1), {"max_clusters": 10}, ("vi .5", "nvi", "binder", "binder .5")),
        "limit 5": (make_draws(80, 2000, 12, doubt=0.2, rng=2), {"max_clusters": 5}, ("vi", "omari", "binder")),
        "noisy": (make_draws(90, 300, 8, doubt=0.6, rng=3), {}, ("vi", "vi .5", "id", "binder", "binder .5")),
        "split": (make_draws(120, 1500, 15, split=0.3, merge=0.3, rng=4), {}, ("vi", "vi .5", "nvi", "binder")),
        "dependent": (dependent, {}, ("vi", "vi .5", "omari", "binder")),
        "wide": (make_draws(1500, 200, 40, doubt=0.2, rng=6), {}, ("vi", "binder")),
        "small clusters": (small_clusters(600, 200), {}, ("vi", "binder", "nvi")),
    }


def draws_problems() -> Iterator[tuple[str, Fit]]:
    import partita as pt
    from benchmarks.data import reference_draws
    from benchmarks.search import LOSSES

    policy = dict(part.split("=") for part in os.environ["PARTITA_POLICY"].split(",") if part)
    settings = {name[7:]: int(value) for name, value in policy.items() if name.startswith("search.")}
    sets = {name: (reference_draws(name), {}, losses) for name, losses in REFERENCE.items()} | generated()
    for name, (draws, own, losses) in sets.items():
        sample, search = pt.as_sample(draws), pt.Search(n_jobs=1, **own, **settings)
        for loss in losses:
            fit = partial(pt.estimate, sample, LOSSES[loss], search=search, check_draws=False)
            yield f"{name}, {loss}", lambda seed, fit=fit: fit(rng=seed).expected_loss  # type: ignore[misc]


def network_problems() -> Iterator[tuple[str, Fit]]:
    from benchmarks.networks import KINDS, NETWORKS, real_case, uneven_planted
    from partita.models import StochasticBlockModel, as_graph

    cases = {f"{name}, {kind}": real_case(f"{name} {kind}") for name in NETWORKS[:6] for kind in KINDS}
    for kind, spread in (("free", 0.0), ("DC", 0.7)):
        graph = as_graph(uneven_planted(np.random.default_rng(3), 700, 12, 0.35, 1, spread)[1])
        cases[f"weak, {kind}"] = StochasticBlockModel(degree_corrected=spread > 0), graph
    for case, (model, graph) in cases.items():
        yield case, lambda seed, m=model, g=graph: -m.maximize(g, rng=seed, n_jobs=1).icl  # type: ignore[misc]


def mixture_problems() -> Iterator[tuple[str, Fit]]:
    from benchmarks.networks import SHARED
    from partita.models import MixtureDPM

    tables = {"glass": slice(9), "ecoli": slice(1, 8), "old_faithful": slice(2), "house_votes_84": slice(1, None)}
    for name, columns in tables.items():
        rows = np.genfromtxt(SHARED / "data" / f"{name}.csv", dtype=str, delimiter=",", skip_header=1)[:, columns]
        votes = name.startswith("house")
        fit, table = MixtureDPM("categorical" if votes else None).maximize, rows if votes else rows.astype(float)
        yield name, lambda seed, fit=fit, table=table: -fit(table, rng=seed, n_jobs=1).icl  # type: ignore[misc]


PROBLEMS = {"draws": draws_problems, "networks": network_problems, "mixtures": mixture_problems}
