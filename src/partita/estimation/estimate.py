"""From draws to the one clustering to report."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from partita._support.hints import meant_keyword
from partita._support.tolerance import TIE
from partita._support.validate import seed_and_generator
from partita._support.warn import warn_user
from partita.draws.sample import PartitionSample, as_sample, with_weight
from partita.estimation.convergence import DrawsCheck, check_sample, warn_mixing
from partita.estimation.held_out import held_out, some_draws
from partita.estimation.result import MOSTLY_NOISE
from partita.estimation.result import Estimate as Estimate
from partita.estimation.search_warnings import search_warnings, unlabelled_warnings
from partita.losses.base import Loss
from partita.losses.expected import expected_loss, unique_distances
from partita.losses.losses import as_loss
from partita.pairs.probabilities import Similarity
from partita.partitions.checks import canonical_placed
from partita.partitions.labels import each_alone
from partita.partitions.lattice import meet
from partita.search import as_method, methods_that
from partita.search.components import best_by_parts, component_labels
from partita.search.constraints import Constraints, Resolved, check_starts, resolve
from partita.search.core import with_default_limit
from partita.search.deadline import Deadline
from partita.search.enumerate import QUICK_LOSSES, are_few, best_of_all
from partita.search.method import SEARCH, Method
from partita.search.result import RunRow, SearchResult
from partita.search.settings import Search, cluster_limit, given_limit

if TYPE_CHECKING:
    from partita.estimation.pair_estimate import PairEstimate


@overload
def estimate(
    draws: Similarity,
    loss: str | Loss = ...,
    method: str | Method = ...,
    search: Search | None = ...,
    weights: Any = ...,
    rng: Any = ...,
    *,
    check_draws: bool = ...,
    constraints: Constraints | None = ...,
    start: Any = ...,
    **options: Any,
) -> PairEstimate: ...
@overload
def estimate(
    draws: Any,
    loss: str | Loss = ...,
    method: str | Method = ...,
    search: Search | None = ...,
    weights: Any = ...,
    rng: Any = ...,
    *,
    check_draws: bool = ...,
    constraints: Constraints | None = ...,
    start: Any = ...,
    **options: Any,
) -> Estimate: ...
def estimate(
    draws: Any,
    loss: str | Loss = "vi",
    method: str | Method = "search",
    search: Search | None = None,
    weights: Any = None,
    rng: Any = None,
    *,
    check_draws: bool = True,
    constraints: Constraints | None = None,
    start: Any = None,
    **options: Any,
) -> Estimate | PairEstimate:
    """The partition of least posterior expected loss.

    argmin_y Σ_t w_t L(x_t, y)

    Parameters
    ----------
    draws : anything that `as_sample` takes, or a `Similarity`
        Posterior draws of cluster labels, (draws, items) or (chain, draw, item), or clusterings to be combined; or pair
        probabilities from `as_similarity`.
    loss : str or Loss
        "vi", "binder" or another name of `partita.losses.LOSSES`, or a loss object such as ``VI(a=0.5, b=1)``. For pair
        probabilities: "binder", "vi-lower-bound" or "pear".
    method : str or Method
        "search" (the default), "salso" and "greedy" (the papers' algorithms as published), or another of
        ``partita.search.METHODS``.
    search : Search, optional
        Number of runs, time limit, limit on clusters, threads.
    weights : (draws,) array_like, optional
        Weight of each draw. Draws of weight zero are ignored.
    rng : None, int or numpy Generator
        The same draws and seed give the same answer on any number of threads.
    check_draws : bool
        Whether to warn of chains that have not mixed and of few effective draws. Set it to False for partitions that do
        not come from a chain, such as clusterings to be combined.
    constraints : Constraints, optional
        Constraints on the partition: items that must be together, items that must be apart, at most one item of each
        source per cluster, at most so many items in a cluster. For the methods "search", "exact" and "enumerate".
    start : partition, or a sequence of partitions, optional
        Where the search begins. The result of "search" and "exact" is at least as good as the start improved by moves
        of single items, merges and splits; runs of "salso", "greedy", "hasse" and "laugreen" begin there instead of at
        their own starts.
    **options
        Options of the method, such as ``criterion="lower-bound"`` for "hasse".

    Returns
    -------
    Estimate, or PairEstimate for pair probabilities
        If Ctrl-C ends the search, the best partition so far, with ``interrupted=True`` and a warning. Chains that have
        not mixed, or that have few effective draws, give a `MixingWarning`; its text is also in `Estimate.notes`.

    Examples
    --------
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 2]]
    >>> best = estimate(draws, rng=1)
    >>> best.labels, round(best.expected_loss, 4)
    (array([0, 0, 1, 1]), 0.4222)

    References
    ----------
    Dahl, Johnson & Müller (2022); Rastelli & Friel (2018); Wade & Ghahramani (2018).
    """
    how = _checked_search(Search() if search is None else search)
    if isinstance(draws, Similarity):
        return _of_pairs(draws, loss, as_method(method), how, weights, rng, constraints, start, options)
    kind = as_loss(loss)
    deadline = Deadline.after(how.seconds)
    chosen = as_method(method)
    _check_options(chosen, options)
    sample = as_sample(draws, weights=weights)
    find: Callable[..., SearchResult] = partial(chosen.find, **options)
    if constraints is not None or start is not None:
        find = _guided(find, chosen, sample, constraints, start)
    return estimate_with(find, sample, kind, chosen.name, how, rng, check_draws, deadline, constraints)


def _checked_search(search: Any) -> Search:
    if not isinstance(search, Search):
        raise TypeError(f"search must be a Search, not {type(search).__name__}")
    return search


def estimate_step(draws: Any, loss: Loss, search: Search, rng: Any, check_draws: bool = False) -> Estimate:
    """An estimate as one step of a longer call: Ctrl-C ends the whole call, not only this step."""
    chosen = as_method("search")

    def find(*arguments: Any) -> SearchResult:
        found = chosen.find(*arguments)
        if found.interrupted:
            raise KeyboardInterrupt
        return found

    return estimate_with(find, as_sample(draws), loss, chosen.name, _checked_search(search), rng, check_draws)


def _guided(
    find: Callable[..., SearchResult],
    method: Method,
    sample: PartitionSample,
    constraints: Constraints | None,
    start: Any,
) -> Callable[..., SearchResult]:
    """The method's search under constraints, or from given starting partitions."""
    rules = None if constraints is None else resolve(constraints, sample.names, sample.n_items)
    starts = check_starts(start, sample.names, sample.n_items, rules, may_lack=sample.may_lack)
    if rules is not None:
        if method.constrained is None:
            known = methods_that(lambda other: other.constrained)
            raise ValueError(f"method {method.name!r} does not support constraints; {known} do")
        return partial(method.constrained, constraints=rules, starts=starts)
    if not method.takes_starts:
        known = methods_that(lambda other: other.takes_starts)
        raise ValueError(f"method {method.name!r} does not support start=; {known} do")
    return partial(find, starts=starts)


def _of_pairs(
    pairs: Similarity,
    loss: str | Loss,
    method: Method,
    how: Search,
    weights: Any,
    rng: Any,
    constraints: Constraints | None,
    start: Any,
    options: dict[str, Any],
) -> PairEstimate:
    """The estimate from pair probabilities; arguments that need draws raise an error."""
    from partita.estimation.pair_estimate import estimate_pairs

    if weights is not None:
        raise ValueError("weights= is for draws; pair probabilities have no weights")
    if options:
        raise TypeError(f"with pair probabilities estimate has no keyword {next(iter(options))}=")
    return estimate_pairs(pairs, loss, method, how, rng, constraints, start)


def _check_options(method: Method, options: dict[str, Any]) -> None:
    """Raises an error for a keyword that the method does not have, and says where the keyword belongs."""
    known = method.options
    unknown = [name for name in options if name not in known]
    if unknown:
        has = f"its options are {', '.join(known)}" if known else "it has no options"
        raise TypeError(f"method {method.name!r} does not take {unknown[0]}; {_option_hint(unknown[0], known) or has}")


def _option_hint(name: str, known: list[str]) -> str:
    """Advice on where a keyword of `estimate` belongs: in its own arguments, the search, the loss or the draws."""
    own = [parameter for parameter in inspect.signature(estimate).parameters if parameter != "options"]
    ways = {keyword: f"did you mean {keyword}=?" for keyword in (*own, *known)}
    ways |= {part.name: f"write search=Search({part.name}=...)" for part in fields(Search)}
    ways |= {weight: f"write loss=VI({weight}=...) or Binder({weight}=...)" for weight in ("a", "b")}
    of_draws = [keyword for keyword in inspect.signature(as_sample).parameters if keyword not in own]
    ways |= {keyword: f"write as_sample(draws, {keyword}=...) for the draws" for keyword in of_draws}
    meant = name if name in ways else meant_keyword(name, ways)
    return "" if meant is None else ways[meant]


def estimate_with(
    find: Callable[[PartitionSample, Loss, Search, np.random.Generator], SearchResult],
    sample: PartitionSample,
    kind: Loss,
    method: str,
    how: Search,
    rng: Any,
    check_draws: bool = True,
    deadline: Deadline | None = None,
    constraints: Constraints | None = None,
) -> Estimate:
    """The estimate that a method finds on all draws of positive weight or on some of them; the arguments are valid."""
    until = Deadline.after(how.seconds) if deadline is None else deadline
    seed, generator = seed_and_generator(rng)
    part, searched = _searched_draws(sample, how, generator)
    if method == SEARCH.name and constraints is None:
        how = with_default_limit(part, kind, how)
    found = find(part, kind, until.limit(how), generator)
    timed_out = until.is_past
    if found.interrupted:
        warn_user("interrupted: this is the best partition so far", RuntimeWarning)
    if not found.proven and searched.all():
        rules = None if constraints is None else resolve(constraints, sample.names, sample.n_items)
        found = _improved_by_proof(found, part, method, kind, how, rules)
    whole = _parts_apart(found.labels, part, kind, how) if constraints is None else found.labels
    labels = _without_noise(_placed(whole, part, constraints), sample)
    losses = unique_distances(each_alone(labels), sample, kind, how.n_jobs)
    checked = check_sample(sample, losses, how.n_jobs) if check_draws else DrawsCheck()
    warn_mixing(checked.warnings)
    best = Estimate(
        labels=labels,
        expected_loss=float(losses @ sample.weights),
        loss=kind,
        method=method,
        sample=sample,
        runs=found.runs,
        criterion=found.criterion,
        search=how,
        seed=seed,
        interrupted=found.interrupted,
        timed_out=timed_out and not found.proven,
        proven=found.proven,
        gap=found.gap,
        compression=replace(found.compression, draws=part.n_draws / part.n_unique),
        held_out=held_out(sample, losses, searched),
        n_runs=_n_runs(found),
        constraints=constraints,
        standard_error=checked.standard_error,
        _measured=(labels, sample, kind, losses),
    )
    return replace(best, cautions=(*checked.warnings, *search_warnings(best), *unlabelled_warnings(best)))


def _placed(labels: NDArray[np.int64], part: PartitionSample, constraints: Constraints | None) -> NDArray[np.int64]:
    """The labels, and -1 for items without a label in any draw, unless a constraint puts them with a labelled item."""
    unplaced = part.unlabelled
    if unplaced.any() and constraints is not None:
        atom = resolve(constraints, part.names, part.n_items).atom
        unplaced = unplaced & (np.bincount(atom, weights=~unplaced) == 0)[atom]
    return canonical_placed(np.where(unplaced, -1, labels)) if unplaced.any() else labels


def _parts_apart(labels: NDArray[np.int64], part: PartitionSample, loss: Loss, search: Search) -> NDArray[np.int64]:
    """The labels, with no cluster across components, if labels are missing and some items are noise.

    Two items that no draw labels both may be joined at no cost, although all draws that label one call it noise. Under
    VI and Binder's loss no partition is worse for dividing its clusters along components.
    """
    is_free = search.max_clusters is None or search.max_clusters >= part.n_items
    if part.noise is None or not part.has_gaps or loss.additive is None or not is_free:
        return labels
    return meet(labels, component_labels(part))


def _without_noise(labels: NDArray[np.int64], sample: PartitionSample) -> NDArray[np.int64]:
    """The labels, and -1 for items that are alone and that at least half of the draws call noise."""
    if sample.noise is None:
        return labels
    alone = np.bincount(labels[labels >= 0], minlength=1)[labels] == 1
    return canonical_placed(np.where(alone & (sample.noise >= MOSTLY_NOISE), -1, labels))


def _improved_by_proof(
    found: SearchResult, part: PartitionSample, method: str, loss: Loss, search: Search, rules: Resolved | None
) -> SearchResult:
    """The best partition, proven, if components are small or partitions few; a proof has no gap.

    Methods other than "search" keep their own partition, and so does a search whose limit on clusters the best
    partition does not obey.
    """
    best = best_by_parts(found.labels, part, loss, search.n_jobs, rules)
    limit = cluster_limit(part, search) if rules is None else part.n_items
    if best is found.labels:
        return replace(found, proven=True, gap=0.0)
    if method != SEARCH.name:
        return found
    if best is None or best.max() >= limit:
        best = _best_of_few(part, loss, search, rules)
    if best is None or best.max() >= limit:
        return found
    value, reached = (float(expected_loss(x, part, loss, n_jobs=search.n_jobs)) for x in (best, found.labels))
    if reached <= value + TIE * abs(value):
        return replace(found, proven=True, gap=0.0)
    row = RunRow("enumeration", sweeps=0, moves=0, loss=value, clusters=int(best.max()) + 1, seconds=0.0)
    return replace(found, labels=best, runs=(*found.runs, row), proven=True, gap=0.0, n_runs=_n_runs(found))


def _best_of_few(part: PartitionSample, loss: Loss, search: Search, rules: Resolved | None) -> NDArray[np.int64] | None:
    """The best of all partitions within a limit on clusters that was set, if there are few of them; otherwise None."""
    n_atoms = part.n_items if rules is None else rules.n_atoms
    if not loss.needs_search or not are_few(part, given_limit(part, search), n_atoms, QUICK_LOSSES):
        return None
    solved = best_of_all(part, loss, search, rules)
    return solved.labels if solved.proven else None


def _n_runs(found: SearchResult) -> int:
    return len(found.runs) if found.n_runs is None else found.n_runs


def _searched_draws(
    sample: PartitionSample, how: Search, rng: np.random.Generator
) -> tuple[PartitionSample, NDArray[np.bool_]]:
    """The draws to search, and which draws of the sample are not held out.

    Draws of weight zero are removed here, once, so that no search uses them and none is chosen for `max_draws`.
    """
    part, kept = with_weight(sample)
    if how.max_draws is None or how.max_draws >= part.n_draws:
        return part, np.ones(sample.n_draws, np.bool_)
    part, chosen = some_draws(part, how.max_draws, rng)
    searched = np.zeros(sample.n_draws, np.bool_)
    searched[kept] = chosen
    return part, searched
