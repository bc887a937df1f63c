"""Losses that need no more of the posterior than pair probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from partita._support.arrays import Labels
from partita._support.hints import did_you_mean
from partita.losses.base import Loss, WeightedLoss
from partita.losses.losses import Binder
from partita.pairs.probabilities import Similarity, as_similarity
from partita.partitions.checks import check_partition_of
from partita.partitions.labels import pairs_together


class _PairLoss(Loss):
    """A loss that is not one of two partitions: it is defined on pair probabilities only."""

    def _native(self, n_items: int) -> NoReturn:
        raise ValueError(
            f"{self} is a loss of pair probabilities: use estimate(similarity(draws, sparse=True), {self.name!r})"
        )


@dataclass(frozen=True)
class VILowerBound(_PairLoss, WeightedLoss):
    """Wade & Ghahramani's lower bound to the expected VI, up to a constant, in bits, with weights.

    (1/n) Σ_i [b log |C_i| - (a + b) log Σ_j π_ij 1{c_j = c_i}]

    With a = b = 1 it is equation 4 of the paper, over n. By Jensen's inequality, E log |C_i ∩ T_i| is at most the
    logarithm of its expectation; adding (a/n) E Σ_i log |T_i|, with T_i the cluster of i in a draw, gives a lower bound
    to the expected generalised VI.

    Examples
    --------
    >>> pair_loss([0, 0, 1], [[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]], VILowerBound())
    -0.567999...

    References
    ----------
    Wade & Ghahramani (2018), equation 4; Dahl, Johnson & Müller (2022), Definition 2, for the weights.
    """

    name: ClassVar[str] = "vi-lower-bound"
    is_metric: ClassVar[bool] = False  # type: ignore[misc]


@dataclass(frozen=True)
class ApproximateARI(_PairLoss):
    """One minus the approximate posterior expected adjusted Rand index of Fritsch & Ickstadt, as computed by `pear`.

    Examples
    --------
    >>> round(pair_loss([0, 0, 1], [[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]], ApproximateARI()), 4)
    0.0769

    References
    ----------
    Fritsch & Ickstadt (2009); Dahl, Johnson & Müller (2022), equation 6.
    """

    name: ClassVar[str] = "pear"


PairLoss: TypeAlias = Binder | VILowerBound | ApproximateARI
PAIR_LOSSES: dict[str, type[Any]] = {kind.name: kind for kind in (Binder, VILowerBound, ApproximateARI)}


def as_pair_loss(loss: str | Loss) -> PairLoss:
    """A loss that pair probabilities suffice for, from its name or from itself."""
    names = ", ".join(map(repr, PAIR_LOSSES))
    if isinstance(loss, str) and loss.lower() in PAIR_LOSSES:
        kind: PairLoss = PAIR_LOSSES[loss.lower()]()
        return kind
    if isinstance(loss, Binder | VILowerBound | ApproximateARI):
        return loss
    if not isinstance(loss, str | Loss):
        raise TypeError(f"loss must be a name or a loss object such as Binder(a=0.5, b=1), not {type(loss).__name__}")
    shown = repr(loss) if isinstance(loss, str) else str(loss)
    raise ValueError(
        f"loss {shown}{did_you_mean(loss, PAIR_LOSSES) if isinstance(loss, str) else ''} needs draws:"
        f" pair probabilities do not determine it; they do determine {names}"
    )


def pair_loss(partition: ArrayLike, similarity: Any, loss: str | Loss = "binder") -> float:
    """The loss of one partition, computed from pair probabilities.

    For Binder(a, b) this is the posterior expected loss itself:
    (2/n²) Σ_{i<j} [a π_ij 1{c_i ≠ c_j} + b (1 - π_ij) 1{c_i = c_j}].

    Parameters
    ----------
    partition : (n,) array_like
        Labels of a partition.
    similarity : anything that `as_similarity` takes
        Pair probabilities.
    loss : str or Loss
        "binder", "vi-lower-bound" or "pear", or Binder(a, b), VILowerBound(a, b), ApproximateARI().

    Examples
    --------
    >>> round(pair_loss([0, 0, 1], [[1, 0.9, 0.2], [0.9, 1, 0], [0.2, 0, 1]]), 4)
    0.0667
    """
    pairs, kind = as_similarity(similarity), as_pair_loss(loss)
    labels = check_partition_of(partition, pairs.names, pairs.n_items, "partition", "similarity")
    return loss_of(labels, pairs, kind)


def loss_of(labels: Labels, pairs: Similarity, loss: PairLoss) -> float:
    """The same of checked arguments."""
    if isinstance(loss, VILowerBound):
        return _log_mass(labels, pairs, loss)
    joined, probability = joined_pairs(labels, pairs)
    if binder := loss.pairwise:
        within = binder.b * joined - (binder.a + binder.b) * probability
        return float(2 / pairs.n_items**2 * (binder.a * pairs.total() + within))
    return 1 - approximate_ari(pairs, joined, probability)


def joined_pairs(labels: Labels, pairs: Similarity) -> tuple[float, float]:
    """The number of pairs in one cluster, and the sum of their probabilities."""
    joined = pairs_together(labels)
    short = labels.astype(np.uint32)  # half of the memory
    own = np.repeat(short, np.diff(pairs.offsets)) == short[pairs.neighbors]
    listed, probability = int(own.sum()) // 2, float(pairs.probabilities[own].sum() / 2)
    return joined, probability + pairs.default * (joined - listed)


def approximate_ari(pairs: Similarity, joined: float, probability: float) -> float:
    """The index of the expected numbers of pairs."""
    return adjusted_index(probability, pairs.total(), joined, pairs.n_items)


def adjusted_index(both: float, truth: float, own: float, n_items: int) -> float:
    """(R - P Q / N) / ((P + Q) / 2 - P Q / N) of numbers of pairs, those in both, P and Q; 1 where this is 0/0."""
    pairs = n_items * (n_items - 1) / 2
    chance = truth * own / pairs if pairs else 0.0
    spread = (truth + own) / 2 - chance
    return float((both - chance) / spread) if spread > 0 else 1.0


def _log_mass(labels: Labels, pairs: Similarity, loss: VILowerBound) -> float:
    if pairs.default:
        raise ValueError(f"default must be 0 for {loss}, but it is {pairs.default:g}")
    item = np.repeat(np.arange(pairs.n_items), np.diff(pairs.offsets))
    own = labels[item] == labels[pairs.neighbors]
    mass = 1 + np.bincount(item[own], pairs.probabilities[own], minlength=pairs.n_items)
    sizes = np.bincount(labels)[labels]
    return float(np.mean(loss.b * np.log2(sizes) - (loss.a + loss.b) * np.log2(mass)))
