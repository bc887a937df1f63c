"""The methods that Rastelli & Friel compare, and our own search."""

from __future__ import annotations

from typing import Any

import partita as pt

GREEDY = {"GreedyVI": "vi", "GreedyB": "binder", "GreedyNVI": "nvi", "GreedyNID": "nid"}
OURS = "our search, VI"


def run_method(name: str, sample: pt.PartitionSample, k_up: int, seed: int = 1) -> pt.Estimate:
    """One run on one thread; the greedy ones start from a random partition into K_up groups."""
    settings: dict[str, dict[str, Any]] = {
        "W&G": {"method": "hasse", "criterion": "lower-bound", "neighbors": 2 * sample.n_items},
        "MEDV": {"method": "medv", "cut": "original"},
        "PEAR": {"method": "pear"},
        "L&G": {"loss": "binder", "method": "laugreen"},
        OURS: {"method": "search"},
        **{greedy: {"loss": loss, "method": "greedy"} for greedy, loss in GREEDY.items()},
    }
    search = pt.Search(runs=1, max_clusters=k_up, n_jobs=1)
    return pt.estimate(sample, search=search, rng=seed, **settings[name])
