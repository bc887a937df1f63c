"""The uncertainty of an estimate: credible balls, certainty, bounds, modes, partial clusterings, diagnostics."""

from partita.uncertainty.ball import CredibleBall, credible_ball
from partita.uncertainty.bounds import Bound, lower_bound
from partita.uncertainty.certainty import (
    cluster_stability,
    exemplars,
    item_certainty,
    items_to_check,
    n_clusters_posterior,
)
from partita.uncertainty.diagnostics import Diagnostics, diagnostics
from partita.uncertainty.merges import merge_tree
from partita.uncertainty.modes import Modes, modes
from partita.uncertainty.partial import PartialClustering, partial_clustering

__all__ = [
    "Bound",
    "CredibleBall",
    "Diagnostics",
    "Modes",
    "PartialClustering",
    "cluster_stability",
    "credible_ball",
    "diagnostics",
    "exemplars",
    "item_certainty",
    "items_to_check",
    "lower_bound",
    "merge_tree",
    "modes",
    "n_clusters_posterior",
    "partial_clustering",
]
