"""Models that draw partitions from data, and the chains they draw."""

from partita.models.chain import Chain
from partita.models.checkpoint import RunFormatError
from partita.models.gaussian_dpm import GaussianDPM
from partita.models.priors import FiniteMixture, GammaAlpha, PowerAlpha, WishartGrid
from partita.models.running import resume

__all__ = [
    "Chain",
    "FiniteMixture",
    "GammaAlpha",
    "GaussianDPM",
    "PowerAlpha",
    "RunFormatError",
    "WishartGrid",
    "resume",
]
