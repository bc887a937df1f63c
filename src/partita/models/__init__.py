"""Models that draw partitions from data, and the chains they draw."""

from partita.models.base_measure import GaussianBase
from partita.models.blocks.comparison import ModelComparison, compare_models
from partita.models.blocks.edge_prior import EdgePrior
from partita.models.blocks.fit import BlockFit
from partita.models.blocks.graph import Graph, as_bipartite, as_graph
from partita.models.blocks.informative import InformativeBlockModel, InformativeFit
from partita.models.blocks.layers import LayeredBlockModel, LayeredFit
from partita.models.blocks.lbm import BipartiteChain, LatentBlockFit, LatentBlockModel
from partita.models.blocks.nested import NestedBlockModel
from partita.models.blocks.nested_fit import NestedFit, NestedLevel
from partita.models.blocks.prediction import HeldOut, edge_probability, held_out
from partita.models.blocks.rivals import RivalFit, affiliation_vb, louvain, variational_em
from partita.models.blocks.sbm import StochasticBlockModel
from partita.models.chain import Chain
from partita.models.checkpoint import RunFormatError, RunInUseError
from partita.models.gaussian_dpm import GaussianDPM
from partita.models.merge_path import MergePath
from partita.models.mixtures.base import TableBase
from partita.models.mixtures.dpm import MixtureDPM
from partita.models.mixtures.imputation import Imputation
from partita.models.mixtures.maximum import MixtureFit
from partita.models.plan import Sampling
from partita.models.priors import FiniteMixture, GammaAlpha, PowerAlpha, WishartGrid
from partita.models.sampling import resume
from partita.models.split_merge import SplitMergeMoves

__all__ = [
    "BipartiteChain",
    "BlockFit",
    "Chain",
    "EdgePrior",
    "FiniteMixture",
    "GammaAlpha",
    "GaussianBase",
    "GaussianDPM",
    "Graph",
    "HeldOut",
    "Imputation",
    "InformativeBlockModel",
    "InformativeFit",
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
    "TableBase",
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
