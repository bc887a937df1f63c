"""Data matrices: checked once, where they come in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_data(X: Any, name: str = "X") -> NDArray[np.float64]:
    """A C-ordered (items, dimensions) array of finite floats.

    One-dimensional input raises an error, since it may be one item or one variable.

    >>> as_data([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    if hasattr(X, "toarray"):
        raise TypeError(f"{name} is sparse; pass a dense array, for instance {name}.toarray()")
    try:
        array = np.asarray(X)
        if np.iscomplexobj(array):
            raise ValueError(f"Complex data not supported: {name} has type {array.dtype}")
        values = np.array(array, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        if "Complex" in str(error):
            raise
        raise type(error)(f"{name} must be numbers: {error}") from error
    _check_shape(values, name)
    _check_finite(values, name)
    return values


def _check_shape(values: NDArray[np.float64], name: str) -> None:
    if values.ndim != 2:
        raise ValueError(
            f"{name} must have 2 dimensions (items, variables) but has {values.ndim}. Reshape your data: "
            f"{name}.reshape(-1, 1) if it is one variable, {name}.reshape(1, -1) if it is one item"
        )
    items, variables = values.shape
    if items == 0:
        raise ValueError(f"{name} has 0 item(s) (shape={values.shape}) while a minimum of 1 is required.")
    if variables == 0:
        raise ValueError(f"{name} has 0 feature(s) (shape={values.shape}) while a minimum of 1 is required.")


def _check_finite(values: NDArray[np.float64], name: str) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if len(bad) == 0:
        return
    row, column = bad[0]
    value = values[row, column]
    what = "missing values (NaN) are not modelled" if np.isnan(value) else "infinity (inf) has no density"
    other = ", or use MixtureDPM (partita cluster), which models tables with missing values" if np.isnan(value) else ""
    raise ValueError(
        f"{name} has {value} at row {row}, column {column}: {what}; "
        f"drop the rows of the {len(bad)} such entries, or fill them{other}"
    )
