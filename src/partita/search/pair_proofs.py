"""Proofs for components of pair probabilities, by the linear program of clique partitioning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats, Labels
from partita.pairs.probabilities import Similarity
from partita.pairs.revision import part_of_pairs
from partita.partitions.labels import canonical
from partita.search.clique_lp import SizeLimit, solve_cliques
from partita.search.constraints import Resolved
from partita.search.deadline import Deadline

if TYPE_CHECKING:
    from partita.search.pair_graph import Parts, Threshold


#: A component with more items is not proven here, but only by `bound(seconds)`.
MAX_ITEMS = 60


def prove_parts(
    parts: Parts,
    pairs: Similarity,
    objective: Threshold,
    constraints: Resolved | None,
    until: Deadline,
    cubes: float = np.inf,
) -> Parts:
    """Linear programs for the unproven components, small ones first, as far as the time and Σ items³ allow.

    With a limit on Σ items³ there is no branching either, so that the answer does not depend on the clock.
    """
    sizes = np.bincount(parts.component)
    open_parts = np.flatnonzero(~parts.proven)
    todo = open_parts[np.argsort(sizes[open_parts], kind="stable")]
    if np.isfinite(cubes):
        todo = todo[(sizes[todo] <= MAX_ITEMS) & (np.cumsum(sizes[todo].astype(float) ** 3) <= cubes)]
    if not todo.size or not _has_solver():
        return parts
    order = np.argsort(parts.component, kind="stable")
    ends = np.cumsum(sizes)
    for count, component in enumerate(todo.tolist()):
        last = until.is_past
        left = sizes[todo[count:]].astype(float) ** 3
        items = order[ends[component] - sizes[component] : ends[component]]
        problem = _costs(items, pairs, objective, constraints)
        own = until.share(left[0] / left.sum())
        parts = _prove(parts, component, items, problem, own, may_branch=not np.isfinite(cubes))
        if parts.interrupted or last:
            break
    return replace(parts, labels=canonical(parts.labels))


def _has_solver() -> bool:
    from importlib.util import find_spec

    return find_spec("highspy") is not None


def _prove(parts: Parts, component: int, items: Labels, problem: AtomCosts, until: Deadline, may_branch: bool) -> Parts:
    """One component: a better partition if the program finds one, and its bound."""
    start = canonical(parts.labels[items][problem.first])
    solved = solve_cliques(problem.cost, until, start, apart=problem.apart, sizes=problem.sizes, may_branch=may_branch)
    values, bounds, proven, labels = parts.values.copy(), parts.bounds.copy(), parts.proven.copy(), parts.labels
    bounds[component] = max(bounds[component], problem.within + solved.bound)
    proven[component] = solved.proven
    found = solved.labels()
    if solved.proven and _value(problem.cost, found) < _value(problem.cost, start):
        labels = labels.copy()
        labels[items] = labels.max() + 1 + found[problem.atom]
        values[component] = bounds[component] = problem.within + _value(problem.cost, found)
    return replace(parts, labels=labels, values=values, bounds=bounds, proven=proven, interrupted=solved.interrupted)


def _value(cost: Floats, labels: Labels) -> float:
    together = np.equal.outer(labels, labels)
    return float(np.triu(cost, 1)[together].sum())


def _costs(items: Labels, pairs: Similarity, objective: Threshold, constraints: Resolved | None) -> AtomCosts:
    """What each pair of atoms of a component costs in one cluster."""
    cost = objective.threshold - part_of_pairs(pairs, items).to_dense()
    np.fill_diagonal(cost, 0)
    return atom_costs(cost, None if constraints is None else part_of(constraints, items))


@dataclass(frozen=True, eq=False)
class AtomCosts:
    """Costs of pairs of atoms, sets of items that are together.

    `cost` is symmetric with a zero diagonal; `apart` says which pairs must not be together. `within` is what the pairs
    inside the atoms cost; `atom` has the atom of each item, and `first` the first item of each atom. `sizes` is None
    without a limit on the size of clusters.
    """

    cost: Floats
    apart: NDArray[np.bool_] | None
    sizes: SizeLimit | None
    within: float
    atom: Labels
    first: Labels


def atom_costs(cost: Floats, constraints: Resolved | None) -> AtomCosts:
    """Costs of pairs of items as costs of pairs of atoms."""
    if constraints is None:
        every = np.arange(len(cost))
        return AtomCosts(cost, None, None, 0.0, every, every)
    n_items, n_atoms = len(cost), constraints.n_atoms
    member = np.zeros((n_items, n_atoms))
    member[np.arange(n_items), constraints.atom] = 1
    summed = member.T @ cost @ member
    within = float(np.trace(summed)) / 2
    np.fill_diagonal(summed, 0)
    first = np.unique(constraints.atom, return_index=True)[1]
    apart = constraints.forbidden_pairs()[np.ix_(first, first)]
    summed[apart] = 0  # what cannot be gained must not count
    limited = constraints.max_size < n_items
    sizes = SizeLimit(np.bincount(constraints.atom), constraints.max_size) if limited else None
    return AtomCosts(summed, apart, sizes, within, constraints.atom, first)


def part_of(constraints: Resolved, items: Labels) -> Resolved:
    """The constraints on some items."""
    place = np.full(constraints.n_items, -1)
    place[items] = np.arange(items.size)
    apart = place[constraints.apart]
    source = None if constraints.source is None else constraints.source[items]
    return Resolved(canonical(constraints.atom[items]), apart[(apart >= 0).all(axis=1)], source, constraints.max_size)
