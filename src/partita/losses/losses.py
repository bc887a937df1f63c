"""The losses with a name: Binder, VI, NVI, ID, NID, one minus ARI, 0-1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.hints import did_you_mean
from partita.losses.base import AdditiveLoss, PlainLoss
from partita.losses.base import Loss as Loss
from partita.losses.custom import CustomLoss as CustomLoss


@dataclass(frozen=True)
class Binder(AdditiveLoss):
    """Generalised Binder loss: a for each pair wrongly split, b for each pair wrongly joined, times 2/n².

    L(x, y) = a Σ_S (|S|/n)² + b Σ_T (|T|/n)² - (a + b) Σ_S Σ_T (|S ∩ T|/n)²

    S runs over the clusters of the truth x and T over those of the estimate y. A metric if a = b, else a quasimetric.

    Examples
    --------
    >>> from partita import partition_loss
    >>> partition_loss([0, 0, 1, 1], [0, 1, 2, 1], Binder())
    0.375

    References
    ----------
    Dahl, Johnson & Müller (2022), Definition 1.
    """

    name: ClassVar[str] = "binder"
    words: ClassVar[str] = "Binder loss"
    exponent: ClassVar[int] = 2

    @property
    def pairwise(self) -> Self:
        return self

    def per_item(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        return sizes

    def phi(self, counts: NDArray[np.float64], n_items: int = 1) -> NDArray[np.float64]:
        return (counts / n_items) ** 2

    def _native(self, n_items: int) -> _core.Loss:
        return _core.Loss.binder(self.a, self.b)


@dataclass(frozen=True)
class VI(AdditiveLoss):
    """Generalised variation of information, in bits.

    L(x, y) = -a H(x) - b H(y) + (a + b) H(x, y) = a H(y | x) + b H(x | y)

    A metric if a = b, else a quasimetric. Smaller a, with b fixed, gives more clusters.

    Examples
    --------
    >>> from partita import partition_loss
    >>> partition_loss([0, 0, 1, 1], [0, 1, 2, 1], VI())
    1.5

    References
    ----------
    Meilă (2007); Dahl, Johnson & Müller (2022), Definition 2.
    """

    name: ClassVar[str] = "vi"
    words: ClassVar[str] = "variation of information"
    in_bits: ClassVar[bool] = True
    exponent: ClassVar[int] = 1

    def per_item(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.log2(sizes)

    def phi(self, counts: NDArray[np.float64], n_items: int = 1) -> NDArray[np.float64]:
        return counts / n_items * np.log2(np.maximum(counts, 1))

    def _native(self, n_items: int) -> _core.Loss:
        return _core.Loss.vi(self.a, self.b)


@dataclass(frozen=True)
class NVI(PlainLoss):
    """Normalised variation of information, 1 - I(x, y) / H(x, y); 0 if both have one cluster.

    Examples
    --------
    >>> from partita import partition_loss
    >>> partition_loss([0, 0, 1, 1], [0, 1, 0, 1], NVI())
    1.0
    """

    name: ClassVar[str] = "nvi"
    words: ClassVar[str] = "normalised variation of information"
    is_metric = True


@dataclass(frozen=True)
class ID(PlainLoss):
    """Information distance in bits, max(H(x), H(y)) - I(x, y).

    Examples
    --------
    >>> from partita import partition_loss
    >>> partition_loss([0, 0, 1, 1], [0, 1, 0, 1], ID())
    1.0
    """

    name: ClassVar[str] = "id"
    words: ClassVar[str] = "information distance"
    in_bits: ClassVar[bool] = True
    is_metric = True


@dataclass(frozen=True)
class NID(PlainLoss):
    """Normalised information distance, 1 - I(x, y) / max(H(x), H(y)); 0 if both have one cluster.

    Examples
    --------
    >>> from partita import partition_loss
    >>> partition_loss([0, 0, 1, 1], [0, 0, 0, 0], NID())
    1.0
    """

    name: ClassVar[str] = "nid"
    words: ClassVar[str] = "normalised information distance"
    is_metric = True


@dataclass(frozen=True)
class OneMinusARI(PlainLoss):
    """One minus the adjusted Rand index; 0 if the index is 0/0 (then both partitions are the same).

    Examples
    --------
    >>> from partita import partition_loss
    >>> partition_loss([0, 0, 1, 1], [1, 1, 0, 0], OneMinusARI())
    0.0
    """

    name: ClassVar[str] = "omari"
    words: ClassVar[str] = "one minus adjusted Rand index"


@dataclass(frozen=True)
class ZeroOne(PlainLoss):
    """0 for the same partition, otherwise 1; the modal draw minimises its expectation.

    Examples
    --------
    >>> from partita import partition_loss
    >>> partition_loss([0, 0, 1], [1, 1, 0], ZeroOne()), partition_loss([0, 0, 1], [0, 1, 1], ZeroOne())
    (0.0, 1.0)
    """

    name: ClassVar[str] = "zero-one"
    words: ClassVar[str] = "0-1 loss"
    needs_search: ClassVar[bool] = False
    is_metric = True


LOSSES: dict[str, type[Loss]] = {loss.name: loss for loss in (Binder, VI, NVI, ID, NID, OneMinusARI, ZeroOne)}


def as_loss(loss: str | Loss) -> Loss:
    """A loss from its name (with default weights), or the loss itself.

    Examples
    --------
    >>> as_loss("VI")
    VI(a=1.0, b=1.0)
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str):
        if loss.lower() in LOSSES:
            return LOSSES[loss.lower()]()
        names = ", ".join(map(repr, LOSSES))
        raise ValueError(f"unknown loss {loss!r}{did_you_mean(loss, LOSSES)}; the names are {names}")
    raise TypeError(f"loss must be a name or a loss object such as VI(a=0.5, b=1), not {type(loss).__name__}")
