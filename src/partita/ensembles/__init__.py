"""Clustering ensembles: one clustering from many."""

from .association import co_association
from .base_clusterings import Base, as_base
from .bce import BCE
from .consensus import consensus
from .dependence import Dependence, dependence
from .distributed import fit_distributed
from .evidence import evidence_accumulation
from .graphs import cspa, hgpa, mcla
from .hyper import Hyperpriors
from .kmeans import kmeans_ensemble
from .mixture import MixtureModel
from .nbce import NBCE
from .stability import Stability, stability
from .summary import ConsensusSummary, summarise
from .variational import Ascent
from .voting import voting

__all__ = [
    "BCE",
    "NBCE",
    "Ascent",
    "Base",
    "ConsensusSummary",
    "Dependence",
    "Hyperpriors",
    "MixtureModel",
    "Stability",
    "as_base",
    "co_association",
    "consensus",
    "cspa",
    "dependence",
    "evidence_accumulation",
    "fit_distributed",
    "hgpa",
    "kmeans_ensemble",
    "mcla",
    "stability",
    "summarise",
    "voting",
]
