"""Clustering ensembles: one clustering from many."""

from .base_clusterings import Base, as_base
from .bce import BCE
from .consensus import consensus
from .distributed import fit_distributed
from .evidence import evidence_accumulation
from .graphs import cspa, hgpa, mcla
from .hyper import Hyperpriors
from .kmeans import kmeans_ensemble
from .mixture import MixtureModel
from .nbce import NBCE
from .variational import Ascent

__all__ = [
    "BCE",
    "NBCE",
    "Ascent",
    "Base",
    "Hyperpriors",
    "MixtureModel",
    "as_base",
    "consensus",
    "cspa",
    "evidence_accumulation",
    "fit_distributed",
    "hgpa",
    "kmeans_ensemble",
    "mcla",
]
