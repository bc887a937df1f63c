"""Figures for matplotlib: each function draws into `ax` (or a new one) and returns the Axes.

Colours are safe for colour-blind readers. Clusters beyond the seventh also differ by marker, so that forty can be
distinguished in print.
"""

from partita.plots.ensembles import clustering_tree, consensus_cdf
from partita.plots.hierarchy import dendrogram, hasse, hierarchy
from partita.plots.matrices import adjacency_map, comparison_map, display_order, network, similarity_map
from partita.plots.points import ball_panels, density_plot, item_map, points
from partita.plots.posterior import cluster_counts, item_certainty, run_trace, weight_path
from partita.plots.uncertainty import cluster_intervals, partial_curve, posterior_difference, settling

__all__ = [
    "adjacency_map",
    "ball_panels",
    "cluster_counts",
    "cluster_intervals",
    "clustering_tree",
    "comparison_map",
    "consensus_cdf",
    "dendrogram",
    "density_plot",
    "display_order",
    "hasse",
    "hierarchy",
    "item_certainty",
    "item_map",
    "network",
    "partial_curve",
    "points",
    "posterior_difference",
    "run_trace",
    "settling",
    "similarity_map",
    "weight_path",
]
