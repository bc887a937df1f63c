"""What every loss is: an immutable value with a name, which the core knows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.validate import check_positive

#: Weights a and b lie between these, so that no loss of any number of items overflows or vanishes.
MIN_WEIGHT, MAX_WEIGHT = 1e-250, 1e250
#: The larger weight is at most this many times the smaller, so that sums in double precision represent both.
MAX_UNEVEN = 1e10


class Loss(ABC):
    """Base of all losses: an immutable value with a hash. The functions of `partita.losses` do the work."""

    name: ClassVar[str]
    #: the name for use in a sentence
    words: ClassVar[str]
    #: whether values are in bits
    in_bits: ClassVar[bool] = False
    #: whether the loss is a metric, as credible balls and bounds assume
    is_metric: bool = False
    #: whether it is never negative, and 0 between a partition and itself
    is_distance: ClassVar[bool] = True
    #: whether the best partition must be searched for: if not, it is the most frequent draw
    needs_search: ClassVar[bool] = True
    #: typical size of the loss; absolute tolerances are multiples of it
    unit: float = 1.0

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the loss by name; empty for a loss without weights."""
        return {}

    @property
    def additive(self) -> AdditiveLoss | None:
        """The loss itself if it is a sum over clusters and cells, otherwise None; see `AdditiveLoss`."""
        return None

    @property
    def pairwise(self) -> AdditiveLoss | None:
        """The loss itself if it is a for each pair wrongly split and b for each wrongly joined, otherwise None.

        Pair probabilities then determine the expected loss, and linear programs over pairs minimise it.
        """
        return None

    @abstractmethod
    def _native(self, n_items: int) -> _core.Loss:
        """The loss as an object of the core, with tables for n_items."""

    def __str__(self) -> str:
        weights = ", ".join(f"{f.name}={getattr(self, f.name):g}" for f in fields(cast(Any, self)))
        return f"{type(self).__name__}({weights})"


class PlainLoss(Loss):
    """A loss without weights: the core knows it by its name."""

    def _native(self, n_items: int) -> _core.Loss:
        return _core.Loss.plain(self.name)


@dataclass(frozen=True)
class WeightedLoss(Loss):
    """A loss with weights a and b, which lie in the range that sums in double precision carry."""

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            weight = check_positive(getattr(self, name), name)
            if not MIN_WEIGHT <= weight <= MAX_WEIGHT:
                raise ValueError(f"{name} is {weight!r}; it must lie between {MIN_WEIGHT:g} and {MAX_WEIGHT:g}")
        if max(self.a, self.b) / min(self.a, self.b) > MAX_UNEVEN:
            raise ValueError(
                f"a is {self.a!r} and b is {self.b!r}; one may be at most {MAX_UNEVEN:g} times the other, because sums"
                " in double precision would lose the smaller"
            )

    @property
    def weights(self) -> dict[str, float]:
        return {"a": self.a, "b": self.b}

    @property
    def unit(self) -> float:  # type: ignore[override]
        return math.ldexp(0.5, math.frexp(max(self.a, self.b))[1])

    @property
    def is_metric(self) -> bool:  # type: ignore[override]
        return self.a == self.b


@dataclass(frozen=True)
class AdditiveLoss(WeightedLoss):
    """A sum over clusters: L(x, y) = a Σ_S φ(|S|) + b Σ_T φ(|T|) - (a + b) Σ_S Σ_T φ(|S ∩ T|).

    S runs over the clusters of the truth x and T over those of the estimate y; φ(m) = m h(m) / n^d, where d is
    `exponent` and h, `per_item`, is concave. Callers rely on this: some partition of least expected loss keeps items
    with the same labels in all draws together and joins no two components, and the change of a merge or split depends
    only on the clusters that change. The core must know the loss as a linear one (cpp/draws/linear_loss.hpp).
    """

    exponent: ClassVar[int]

    @property
    def additive(self) -> Self:
        return self

    @abstractmethod
    def per_item(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """h of the sizes of clusters or cells, which are at least 1."""

    @abstractmethod
    def phi(self, counts: NDArray[np.float64], n_items: int = 1) -> NDArray[np.float64]:
        """φ of counts, which may be 0, among n_items; with the default, multiplied by n^d."""
