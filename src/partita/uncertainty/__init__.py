"""The uncertainty of an estimate: credible balls, certainty, bounds, modes, partial clusterings, diagnostics."""

from partita.uncertainty.ball import CredibleBall, credible_ball
from partita.uncertainty.certainty import (
    cluster_stability,
    exemplars,
    item_certainty,
    items_to_check,
    n_clusters_posterior,
)
from partita.uncertainty.compare import PosteriorComparison, compare_posteriors
from partita.uncertainty.conformal import ConformalSet, conformal_set
from partita.uncertainty.diagnostics import Diagnostics, diagnostics
from partita.uncertainty.hierarchy import Hierarchy, hierarchy
from partita.uncertainty.memberships import Memberships, memberships
from partita.uncertainty.merges import merge_tree
from partita.uncertainty.modes import Modes, modes
from partita.uncertainty.monitor import Monitor, monitor
from partita.uncertainty.monte_carlo import MonteCarloError, monte_carlo_error
from partita.uncertainty.parameters import ClusterParameters, cluster_parameters
from partita.uncertainty.partial import PartialClustering, partial_clustering

__all__ = [
    "ClusterParameters",
    "ConformalSet",
    "CredibleBall",
    "Diagnostics",
    "Hierarchy",
    "Memberships",
    "Modes",
    "Monitor",
    "MonteCarloError",
    "PartialClustering",
    "PosteriorComparison",
    "cluster_parameters",
    "cluster_stability",
    "compare_posteriors",
    "conformal_set",
    "credible_ball",
    "diagnostics",
    "exemplars",
    "hierarchy",
    "item_certainty",
    "items_to_check",
    "memberships",
    "merge_tree",
    "modes",
    "monitor",
    "monte_carlo_error",
    "n_clusters_posterior",
    "partial_clustering",
]
