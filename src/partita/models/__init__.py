"""Models that draw partitions from data, and the chains they draw."""

from partita.models.chains.chain import Chain
from partita.models.chains.checkpoint import RunFormatError, RunInUseError
from partita.models.chains.plan import Sampling
from partita.models.chains.sampling import resume
from partita.models.mixtures.curves import Curves
from partita.models.mixtures.dpm import MixtureDPM
from partita.models.mixtures.gaussian_dpm import GaussianDPM
from partita.models.mixtures.imputation import Imputation
from partita.models.mixtures.maximum import MixtureFit
from partita.models.mixtures.priors import (
    DiscreteBase,
    FiniteMixture,
    GammaAlpha,
    PowerAlpha,
    SplitMergeMoves,
    WishartGrid,
)
from partita.models.networks.fit import BlockFit
from partita.models.networks.graph import Graph, as_bipartite, as_graph
from partita.models.networks.layers import LayeredBlockModel, LayeredFit
from partita.models.networks.lbm import BipartiteChain, LatentBlockFit, LatentBlockModel
from partita.models.networks.nested import NestedBlockModel, NestedFit, NestedLevel
from partita.models.networks.other_methods import RivalFit, affiliation_vb, louvain, variational_em
from partita.models.networks.prediction import HeldOut, ModelComparison, compare_models, edge_probability, held_out
from partita.models.networks.sbm import StochasticBlockModel
from partita.models.search_runs import MergePath

__all__ = [
    "BipartiteChain",
    "BlockFit",
    "Chain",
    "Curves",
    "DiscreteBase",
    "FiniteMixture",
    "GammaAlpha",
    "GaussianDPM",
    "Graph",
    "HeldOut",
    "Imputation",
    "LatentBlockFit",
    "LatentBlockModel",
    "LayeredBlockModel",
    "LayeredFit",
    "MergePath",
    "MixtureDPM",
    "MixtureFit",
    "ModelComparison",
    "NestedBlockModel",
    "NestedFit",
    "NestedLevel",
    "PowerAlpha",
    "RivalFit",
    "RunFormatError",
    "RunInUseError",
    "Sampling",
    "SplitMergeMoves",
    "StochasticBlockModel",
    "WishartGrid",
    "affiliation_vb",
    "as_bipartite",
    "as_graph",
    "compare_models",
    "edge_probability",
    "held_out",
    "louvain",
    "resume",
    "variational_em",
]
