"""Lower bounds for estimates from pair probabilities: the sum of those of the components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._support.tolerance import TIE
from partita.proofs.bounds import Bound
from partita.search.constraints import resolve
from partita.search.deadline import Deadline
from partita.search.pair_graph import bound_of, tightened

if TYPE_CHECKING:
    from partita.estimation.pair_estimate import PairEstimate


def pair_bound(best: PairEstimate, seconds: float) -> Bound:
    """The bound of the components that were searched, tightened for Binder's loss as far as the time allows."""
    parts, pairs, loss = best._parts, best.similarity, best.loss
    if best.proven:
        return Bound(best.expected_loss, 0.0, "components", True)
    if parts is None:
        return Bound(0.0, 1.0, "none", False)
    if loss.pairwise:
        asked = best.constraints
        rules = None if asked is None else resolve(asked, pairs.names, pairs.n_items, "similarity")
        parts, value = tightened(parts, None, pairs, loss, rules, Deadline.after(seconds))
    else:
        value = bound_of(parts, pairs, loss)
    if value is None:
        return Bound(0.0, 1.0, "none", False)
    value = min(value, best.expected_loss)
    proven = bool(parts.proven.all()) and best.expected_loss - value <= TIE * (1 + abs(value))
    gap = (best.expected_loss - value) / abs(best.expected_loss) if best.expected_loss else 0.0
    return Bound(value, 0.0 if proven else gap, "components", proven)
