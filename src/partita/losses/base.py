"""What every loss is: an immutable value with a name, which the core knows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar, cast

from partita import _core
from partita._support.validate import check_positive

#: Weights a and b lie between these, so that no loss of any number of items overflows or vanishes.
MIN_WEIGHT, MAX_WEIGHT = 1e-250, 1e250
#: The larger weight is at most this many times the smaller, so that sums in double precision represent both.
MAX_UNEVEN = 1e10


class Loss(ABC):
    """Base of all losses. A loss is an immutable value; the functions of `partita.losses` do the work."""

    name: ClassVar[str]
    #: the name for use in a sentence
    words: ClassVar[str]
    #: whether values are in bits
    in_bits: ClassVar[bool] = False
    #: whether the loss is a metric, as credible balls and bounds assume
    is_metric: bool = False
    #: typical size of the loss; absolute tolerances are multiples of it
    unit: float = 1.0

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


class WeightedLoss(Loss):
    """A loss with weights a and b, which lie in the range that sums in double precision carry."""

    a: float
    b: float

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
    def unit(self) -> float:  # type: ignore[override]
        return math.ldexp(0.5, math.frexp(max(self.a, self.b))[1])

    @property
    def is_metric(self) -> bool:  # type: ignore[override]
        return self.a == self.b
