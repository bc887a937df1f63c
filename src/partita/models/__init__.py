"""Models that draw partitions from data, and the chains they draw."""

from partita.models.block_fit import BlockFit, MergePath
from partita.models.chain import Chain
from partita.models.checkpoint import RunFormatError
from partita.models.gaussian_dpm import GaussianDPM
from partita.models.graph import Graph, as_bipartite, as_graph
from partita.models.lbm import BipartiteChain, LatentBlockFit, LatentBlockModel
from partita.models.priors import FiniteMixture, GammaAlpha, PowerAlpha, WishartGrid
from partita.models.running import resume
from partita.models.sbm import StochasticBlockModel
from partita.models.variational import RivalFit, affiliation_vb, louvain, variational_em

__all__ = [
    "BipartiteChain",
    "BlockFit",
    "Chain",
    "FiniteMixture",
    "GammaAlpha",
    "GaussianDPM",
    "Graph",
    "LatentBlockFit",
    "LatentBlockModel",
    "MergePath",
    "PowerAlpha",
    "RivalFit",
    "RunFormatError",
    "StochasticBlockModel",
    "WishartGrid",
    "affiliation_vb",
    "as_bipartite",
    "as_graph",
    "louvain",
    "resume",
    "variational_em",
]
