"""Bayesian cluster analysis: from draws, data or networks to one clustering, with its uncertainty."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

# Where each public name lives. Modules are imported when a name is first used, so that `partita --help` starts at once;
# __init__.pyi tells type checkers the same.
_HOME = {
    "partitions": "align_labels bell canonical covers enumerate_partitions join meet refines stirling2",
    "draws.sample": "PartitionSample as_sample open_sample",
    "draws.io": "read_draws write_draws",
    "results.label_files": "write_labels",
    "models.chains.growing": "growing_draws",
    "losses.losses": "ID NID NVI VI Binder OneMinusARI ZeroOne",
    "losses.base": "Loss",
    "losses.custom": "CustomLoss",
    "losses.expected": "distances expected_loss pairwise_distances partition_loss",
    "losses.agreement": "adjusted_rand compare_partitions f1 nmi",
    "pairs.similarity": "lau_green pear similarity vi_lower_bound",
    "pairs.probabilities": "Similarity as_similarity",
    "pairs.losses": "ApproximateARI VILowerBound pair_loss",
    "search.components": "Components",
    "search.constraints": "Constraints",
    "search.settings": "Search",
    "estimation.estimate": "Estimate estimate",
    "estimation.pair_estimate": "PairEstimate",
    "estimation.linkage_ids": "Changes",
    "estimation.linkage_store": "read_linkage write_linkage",
    "estimation.update": "update",
    "estimation.held_out": "HeldOut",
    "estimation.weight_path": "WeightPath weights_for",
    "estimation.convergence": "MixingWarning",
    "proofs.bounds": "Bound lower_bound",
    "uncertainty": "ClusterParameters ConformalSet CredibleBall Diagnostics Hierarchy Memberships Modes Monitor"
    " MonteCarloError PartialClustering PosteriorComparison cluster_parameters cluster_stability compare_posteriors"
    " conformal_set credible_ball diagnostics exemplars hierarchy item_certainty items_to_check memberships merge_tree"
    " modes monitor monte_carlo_error n_clusters_posterior partial_clustering",
    "uncertainty.linkage_quality": "LinkageQuality linkage_quality",
    "models": "resume",
    "models.mixtures.cluster_numbers": "PriorClusters prior_clusters",
    "models.mixtures.fusing": "FusedEstimate fuse",
    "models.mixtures.sensitivity": "Sensitivity sensitivity",
    "profiling.profiles": "Profiles profiles",
    "profiling.relate": "Relation relate",
    "uncertainty.pooling": "PooledSample pool",
    "pages.report": "report",
    "pages.reopen": "ReportData read_report",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}
_PACKAGES = (
    "datasets",
    "distributed",
    "ensembles",
    "losses",
    "models",
    "partitions",
    "plots",
    "search",
    "uncertainty",
)

__all__ = sorted([*_MODULE_OF, *_PACKAGES])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("partita")
    if name in _MODULE_OF:
        value = getattr(import_module(f"partita.{_MODULE_OF[name]}"), name)
    elif name in _PACKAGES:
        value = import_module(f"partita.{name}")
    else:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
