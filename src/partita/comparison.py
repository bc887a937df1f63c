"""Two partitions compared under every loss and measure of agreement."""

from __future__ import annotations

from numpy.typing import ArrayLike

from partita.agreement import adjusted_rand, f1, nmi
from partita.losses import LOSSES, partition_loss


def compare_partitions(truth: ArrayLike, estimate: ArrayLike) -> dict[str, float]:
    """Every loss with its default weights, then the adjusted Rand index, NMI and F1.

    Parameters
    ----------
    truth, estimate : (n,) array_like

    Examples
    --------
    >>> compare_partitions([0, 0, 1, 1], [0, 0, 1, 2])["vi"]
    0.5
    """
    losses = {name: partition_loss(truth, estimate, name) for name in LOSSES}
    measures = {"ari": adjusted_rand(truth, estimate), "nmi": nmi(truth, estimate), "f1": f1(estimate, truth)}
    return losses | measures
