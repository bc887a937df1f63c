"""Bayesian cluster analysis: from draws, data or networks to one clustering, with its uncertainty."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

# Where each public name lives. Modules are imported when a name is first used, so that `partita --help` starts at once;
# __init__.pyi tells type checkers the same.
_HOME = {
    "partitions": "align_labels bell canonical covers enumerate_partitions join meet refines stirling2",
    "sample": "PartitionSample as_sample open_sample",
    "io": "read_draws write_draws",
    "label_files": "write_labels",
    "growing": "growing_draws",
    "losses": "ID NID NVI VI Binder CustomLoss Loss OneMinusARI ZeroOne distances expected_loss pairwise_distances"
    " partition_loss",
    "similarity": "lau_green pear similarity vi_lower_bound",
    "pair_probabilities": "Similarity as_similarity",
    "pair_losses": "ApproximateARI VILowerBound pair_loss",
    "pair_estimate": "PairEstimate",
    "search.components": "Components",
    "search.constraints": "Constraints",
    "agreement": "adjusted_rand compare_partitions f1 nmi",
    "estimate": "Estimate estimate",
    "search.settings": "Search",
    "held_out": "HeldOut",
    "weight_path": "WeightPath weights_for",
    "mixing": "MixingWarning",
    "uncertainty": "Bound ClusterParameters ConformalSet CredibleBall Diagnostics Hierarchy Modes Monitor"
    " MonteCarloError PartialClustering PosteriorComparison cluster_parameters cluster_stability compare_posteriors"
    " conformal_set credible_ball diagnostics exemplars hierarchy item_certainty items_to_check lower_bound merge_tree"
    " modes monitor monte_carlo_error n_clusters_posterior partial_clustering",
    "models": "resume",
    "profiles": "Profiles profiles",
    "report": "report",
    "report.reopen": "ReportData read_report",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}
_MODULES = (
    "agreement",
    "datasets",
    "distributed",
    "ensembles",
    "io",
    "losses",
    "models",
    "partitions",
    "plots",
    "sample",
    "search",
    "uncertainty",
)

__all__ = sorted([*_MODULE_OF, *_MODULES])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("partita")
    if name in _MODULE_OF:
        value = getattr(import_module(f"partita.{_MODULE_OF[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"partita.{name}")
    else:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _Package(ModuleType):
    """Some functions have the name of their module: importing the module must not hide the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and _MODULE_OF.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
