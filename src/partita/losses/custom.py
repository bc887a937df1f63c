"""A loss of a user's own: three functions of counts and one of their sums, checked before the core calls them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita import _core
from partita._support.arrays import Floats
from partita.losses.base import Loss

Table = ArrayLike | Callable[[NDArray[np.int64]], ArrayLike]

#: Upper limit on the values of a user's own loss functions: their sums, products and differences are finite.
MAX_CUSTOM = 1e150


@dataclass(frozen=True, eq=False)
class CustomLoss(Loss):
    """Any loss of the family (7) of Rastelli & Friel: f0(Σ f1(joint), Σ f2(estimate), Σ f3(draw)).

    Parameters
    ----------
    f1, f2, f3 : table over 0..n, or callable of an integer array
        Functions of the joint counts, of the estimate's and of the draw's cluster sizes. Each must be 0 at 0, so that
        an empty cell adds nothing.
    f0 : callable or scipy.LowLevelCallable
        Takes the three sums as arrays, in that order, and returns the losses, at most 1e150 in absolute value; a
        LowLevelCallable has the signature ``double (double, double, double)`` and is called for one triple at a time.
        A draw that labels no item has loss 0, without a call.

    Examples
    --------
    The sum of squares form of Binder's loss for four items:

    >>> from partita import CustomLoss, partition_loss
    >>> square = np.arange(5) ** 2
    >>> loss = CustomLoss(square, square, square, lambda joint, estimate, draw: (estimate + draw - 2 * joint) / 16)
    >>> partition_loss([0, 0, 1, 1], [0, 1, 2, 1], loss)
    0.375

    References
    ----------
    Rastelli & Friel (2018), equation 7.
    """

    f1: Table
    f2: Table
    f3: Table
    f0: Any
    name: ClassVar[str] = "custom"
    words: ClassVar[str] = "custom loss"
    is_distance: ClassVar[bool] = False

    def __str__(self) -> str:
        return "CustomLoss"

    def _native(self, n_items: int) -> _core.Loss:
        f1, f2, f3 = (_table(getattr(self, f), f, n_items).tolist() for f in ("f1", "f2", "f3"))
        address = _native_address(self.f0)
        if address is not None:
            return _core.Loss.custom_native(f1, f2, f3, address)
        if not callable(self.f0):
            raise TypeError(f"f0 must be callable or a scipy.LowLevelCallable, not {type(self.f0).__name__}")
        return _core.Loss.custom(f1, f2, f3, _as_float_array(self.f0))


def _table(values: Table, name: str, n_items: int) -> Floats:
    counts = np.arange(n_items + 1)
    given = values(counts) if callable(values) else values
    try:
        table = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a table of numbers or a callable that returns one: {error}") from error
    if table.ndim != 1 or table.size <= n_items:
        raise ValueError(f"{name} must have one value for each of 0..{n_items}, but has shape {table.shape}")
    if not np.all(np.isfinite(table[: n_items + 1])):
        bad = int(np.flatnonzero(~np.isfinite(table))[0])
        raise ValueError(f"{name}({bad}) is {table[bad]}; it must be finite")
    if np.abs(table[: n_items + 1]).max() > MAX_CUSTOM:
        bad = int(np.argmax(np.abs(table[: n_items + 1])))
        raise ValueError(f"{name}({bad}) is {table[bad]:g}; its size must be at most {MAX_CUSTOM:g}")
    if table[0] != 0:
        raise ValueError(f"{name}(0) is {table[0]}; it must be 0, so that an empty cell adds nothing")
    return table[: n_items + 1]


def _native_address(f0: Any) -> int | None:
    from scipy import LowLevelCallable

    if not isinstance(f0, LowLevelCallable):
        return None
    if f0.signature.replace(" ", "") != "double(double,double,double)":
        raise ValueError(f"f0 must have the signature double (double, double, double), not {f0.signature}")
    return _core.capsule_address(tuple.__getitem__(f0, 0))


def _as_float_array(f0: Callable[..., Any]) -> Callable[[Floats, Floats, Floats], Floats]:
    def combined(joint: Floats, estimate: Floats, draw: Floats) -> Floats:
        values = np.asarray(f0(joint, estimate, draw), dtype=np.float64)
        if values.shape not in ((), joint.shape):
            raise ValueError(f"f0 must return one loss for each of {joint.shape} sums, but its shape is {values.shape}")
        values = np.ascontiguousarray(np.broadcast_to(values, joint.shape))
        if not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ValueError(f"f0({joint[bad]}, {estimate[bad]}, {draw[bad]}) is {values[bad]}; it must be finite")
        if values.size and np.abs(values).max() > MAX_CUSTOM:
            bad = int(np.argmax(np.abs(values)))
            raise ValueError(
                f"f0({joint[bad]}, {estimate[bad]}, {draw[bad]}) is {values[bad]:g}; its size must be at most"
                f" {MAX_CUSTOM:g}"
            )
        return values

    return combined
