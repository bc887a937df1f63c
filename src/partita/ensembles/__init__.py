"""Clustering ensembles: one clustering from many."""

from partita.ensembles.ambiguity import Ambiguity, ambiguity
from partita.ensembles.association import co_association, evidence_accumulation
from partita.ensembles.base_clusterings import Base, as_base
from partita.ensembles.bce import BCE
from partita.ensembles.consensus import consensus
from partita.ensembles.dependence import Dependence, dependence
from partita.ensembles.distributed import fit_distributed
from partita.ensembles.graphs import cspa, hgpa, mcla
from partita.ensembles.kmeans import kmeans_ensemble
from partita.ensembles.mixture import MixtureModel
from partita.ensembles.nbce import NBCE
from partita.ensembles.nbce_variational import Ascent
from partita.ensembles.null import NullComparison
from partita.ensembles.repeat import RepeatedRuns, repeat
from partita.ensembles.stability import Stability, stability
from partita.ensembles.summary import ConsensusSummary, summarize
from partita.ensembles.voting import voting

__all__ = [
    "BCE",
    "NBCE",
    "Ambiguity",
    "Ascent",
    "Base",
    "ConsensusSummary",
    "Dependence",
    "MixtureModel",
    "NullComparison",
    "RepeatedRuns",
    "Stability",
    "ambiguity",
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
    "repeat",
    "stability",
    "summarize",
    "voting",
]
