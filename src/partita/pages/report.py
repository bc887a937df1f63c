"""One self-contained HTML page about a result: it needs no network, all tables and figures are in the file."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from partita.draws.sample import PartitionSample
    from partita.ensembles.summary import ConsensusSummary
    from partita.estimation.pair_estimate import PairEstimate
    from partita.estimation.result import Estimate
    from partita.models.chains.chain import Chain
    from partita.models.estimator import Estimator
    from partita.models.mixtures.maximum import MixtureFit
    from partita.models.networks.fit import BlockFit
    from partita.models.networks.lbm import LatentBlockFit
    from partita.models.networks.prediction import HeldOut
    from partita.profiling.profiles import Profiles
    from partita.proofs.bounds import Bound
    from partita.uncertainty.ball import CredibleBall
    from partita.uncertainty.hierarchy import Hierarchy
    from partita.uncertainty.monte_carlo import MonteCarloError
    from partita.uncertainty.parameters import ClusterParameters
    from partita.uncertainty.partial import PartialClustering

__all__ = ["report"]


def report(
    estimate: Estimate
    | PairEstimate
    | BlockFit
    | LatentBlockFit
    | MixtureFit
    | Chain
    | PartitionSample
    | CredibleBall
    | Estimator
    | ConsensusSummary,
    ball: CredibleBall | None = None,
    data: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    path: str | PathLike[str] = "report.html",
    *,
    title: str = "Cluster analysis",
    command: str | None = None,
    density: tuple[ArrayLike, ArrayLike] | None = None,
    bound: Bound | None = None,
    columns: Sequence[str] | None = None,
    profiles: Profiles | None = None,
    labels_file: str | None = None,
    draws: Chain | None = None,
    held_out: HeldOut | None = None,
    partial: PartialClustering | None = None,
    parameters: ClusterParameters | None = None,
    tree: Hierarchy | None = None,
    error: MonteCarloError | None = None,
    one_based: bool = False,
) -> Path:
    """Writes a page about an estimate and its uncertainty.

    The file appears only when it is complete. For up to 1,000 items the similarity map shows every pair; beyond that
    each cell is the exact mean over a block of pairs, and no n × n matrix is formed.

    Parameters
    ----------
    estimate : Estimate, PairEstimate, BlockFit, LatentBlockFit, MixtureFit, Chain, PartitionSample, CredibleBall,
        ConsensusSummary or fitted model
        Of an estimate from pair probabilities the page shows uncertain pairs, components and proofs; of a block model
        (what `StochasticBlockModel.maximize` returns) the blocks with their intervals, the matrix sorted by cluster,
        a drawing of up to 300 nodes, and the agreement between runs of the search; of a latent block model the clusters
        of rows and of columns and their blocks; of an ensemble (a fitted `NBCE`, or
        `ensembles.summarize(labels, base)`) the consensus map, the certainty of each item, and the agreement of the
        base clusterings with the consensus and their dependence.
        Draws (a chain, or what `as_sample` returns) are summarised first, under the variation of information with
        seed 0 and a ball of 95 %; a ball brings its own centre, and a fitted mixture its `estimate_`.
    ball : CredibleBall, optional
        The result of `credible_ball` for this estimate.
    data : (n,) or (n, d) array_like, optional
        The data behind the draws, to be plotted; more than two columns are shown by their first two principal
        components. A pandas table or Series with row names is matched by name with draws that have names.
    truth : (n,) array_like, optional
        A partition to compare with; matched by name like the data.
    path : path
        Name of the page.
    title : str
        Heading of the page.
    command : str, optional
        The command that made the estimate, for the section on reproducing it.
    density : pair of (m,) array_like, optional
        Grid and values of a density for one-dimensional data.
    bound : Bound, optional
        The result of `estimate.bound()`, which limits how much better another partition can be.
    columns : sequence of str, optional
        Names of the columns of the data, for the axes; by default those of a data frame.
    profiles : Profiles, optional
        The result of `profiles` for this estimate or fit of a table: what makes each cluster, as a table and a picture.
    labels_file : str, optional
        Name of a file with the labels of all items, which you write beside the page and to which the page refers.
    draws : Chain, optional
        For a block model, draws of `sample` of the same model and network: they show which nodes are uncertain.
        Without, a short run is made if the network is small; the page says so.
    held_out : HeldOut, optional
        For a block model, the result of `models.held_out`; computed if the network is small.
    partial : PartialClustering, optional
        The result of `partial_clustering` of the same draws: how many items can be clustered with how much confidence.
    parameters : ClusterParameters, optional
        The result of `cluster_parameters` for this estimate: a table and a picture of their intervals.
    tree : Hierarchy, optional
        The result of `hierarchy`: the tree with the support of its nodes.
    error : MonteCarloError, optional
        The result of `monte_carlo_error` for this estimate: what other draws would have given.
    one_based : bool
        Number clusters, and items without names, from 1 instead of 0, as R does.

    Returns
    -------
    Path
        The path of the page.
    """
    from partita.ensembles.estimator import EnsembleEstimator
    from partita.ensembles.summary import ConsensusSummary, summarize
    from partita.estimation.pair_estimate import PairEstimate
    from partita.models.mixtures.maximum import MixtureFit
    from partita.models.networks.fit import BlockFit
    from partita.models.networks.lbm import LatentBlockFit
    from partita.pages.chains import chain_diagnostics
    from partita.pages.content import content
    from partita.pages.other_losses import other_losses
    from partita.pages.page import write_page
    from partita.pages.results import estimate_of
    from partita.proofs.bounds import with_proof

    check_page(Path(path))
    first = int(one_based)
    settings: dict[str, Any] = {"title": title, "command": command, "labels_file": labels_file, "first": first}
    answers = {"partial": partial, "parameters": parameters, "tree": tree, "error": error}
    of_draws = {"ball": ball, "data": data, "density": density, "bound": bound, **answers}
    if not isinstance(estimate, BlockFit) and (draws is not None or held_out is not None):
        raise ValueError(f"{'draws' if draws is not None else 'held_out'} is for the fit of a block model of a network")
    if isinstance(estimate, PairEstimate):
        _refuse(answers, "pair probabilities")
        return _pair_report(estimate, ball, data, truth, Path(path), bound=bound, **settings)
    if isinstance(estimate, BlockFit):
        return _network_report(estimate, truth, Path(path), of_draws, settings, (draws, held_out))
    if isinstance(estimate, LatentBlockFit):
        return _matrix_report(estimate, Path(path), of_draws | {"truth": truth}, settings)
    if isinstance(estimate, MixtureFit):
        return _mixture_report(estimate, truth, profiles, Path(path), of_draws, settings)
    if isinstance(estimate, EnsembleEstimator | ConsensusSummary):
        found = estimate if isinstance(estimate, ConsensusSummary) else summarize(estimate)
        return _ensemble_report(found, truth, Path(path), of_draws | {"profiles": profiles}, settings)
    estimate, ball = estimate_of(estimate, ball)
    proven = with_proof(estimate, bound)
    settings |= {"density": density, "bound": bound, "profiles": profiles, "answers": answers}
    settings |= {"checked": chain_diagnostics(proven), "losses": other_losses(proven)}
    settings |= {"columns": None if columns is None else tuple(columns)}
    return write_page("draws", content(proven, ball, data, truth, **settings), Path(path))


def _pair_report(
    estimate: PairEstimate, ball: Any, data: Any, truth: ArrayLike | None, path: Path, **settings: Any
) -> Path:
    """The page about an estimate from pair probabilities; arguments that need draws are refused."""
    from partita.pages.page import write_page
    from partita.pages.pairs import pair_content

    if ball is not None or data is not None:
        raise ValueError(f"{'ball' if ball is not None else 'data'} is for estimates from draws")
    return write_page("pairs", pair_content(estimate, truth, **settings), path)


def _network_report(
    fit: BlockFit,
    truth: ArrayLike | None,
    path: Path,
    refused: dict[str, Any],
    settings: dict[str, Any],
    checked: tuple[Chain | None, HeldOut | None],
) -> Path:
    """The page about a block model; what is for estimates from draws is refused."""
    from partita.pages.network_checks import make_checks
    from partita.pages.networks import network_content
    from partita.pages.page import write_page

    _refuse(refused, "a block model")
    checks = make_checks(fit, *checked)
    return write_page("network", network_content(fit, truth, checks=checks, **settings), path)


def _matrix_report(fit: LatentBlockFit, path: Path, refused: dict[str, Any], settings: dict[str, Any]) -> Path:
    """The page about a latent block model; a truth would be of rows or of columns, so it is refused, too."""
    from partita.pages.matrices import matrix_content
    from partita.pages.page import write_page

    _refuse(refused, "a latent block model")
    return write_page("matrix", matrix_content(fit, **settings), path)


def _mixture_report(
    fit: MixtureFit,
    truth: ArrayLike | None,
    profiles: Profiles | None,
    path: Path,
    refused: dict[str, Any],
    settings: dict[str, Any],
) -> Path:
    """The page about the partition of a table; what needs draws is refused."""
    from partita.pages.mixtures import mixture_content
    from partita.pages.page import write_page

    _refuse(refused, "a mixture")
    return write_page("mixture", mixture_content(fit, truth, profiles, **settings), path)


def _ensemble_report(
    found: ConsensusSummary, truth: ArrayLike | None, path: Path, refused: dict[str, Any], settings: dict[str, Any]
) -> Path:
    """The page about a consensus of base clusterings; what needs draws is refused."""
    from partita.pages.ensembles import ensemble_content
    from partita.pages.page import write_page

    _refuse(refused, "an ensemble")
    return write_page("ensemble", ensemble_content(found, truth, **settings), path)


def _refuse(given: dict[str, Any], model: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} is for estimates from draws, and this is the fit of {model}")


def check_page(path: Path) -> None:
    """Refuses a file name that does not end in .html or .htm."""
    if path.suffix.lower() not in ("", ".html", ".htm"):
        raise ValueError(f"{path}: a report is an HTML page, so its name must end in .html or .htm")
