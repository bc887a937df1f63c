"""xarray and ArviZ objects: DataArray, Dataset, InferenceData (0.x) and DataTree (1.x)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.errors import ArgumentError, Setting
from partita.draws.sources.source import Block, Source, chunk_starts, read_rows

WEIGHT_VARIABLE = "draw_weight"
#: Groups of an ArviZ object with draws of the posterior; labels that NumPyro's Predictive draws are in the second one,
#: among simulated data, so that they must be named.
GROUPS = ("posterior", "posterior_predictive")
_DRAW_DIMS = ("draw", "sample")  # "sample" is chain and draw stacked, as in the result of arviz.extract


def is_xarray(draws: Any) -> bool:
    return any(hasattr(draws, name) for name in ("data_vars", *GROUPS)) or (
        hasattr(draws, "dims") and hasattr(draws, "coords")
    )


def xarray_source(draws: Any, variable: str | None) -> Source:
    groups = _groups(draws)
    return groups_source(groups, variable) if groups else _array_source(draws, None)


def groups_source(groups: Mapping[str, Any], variable: str | None) -> Source:
    """The draws of a variable of one of the datasets; without a name, of the first."""
    dataset, name = _choose_variable(groups, variable)
    weights = dataset[WEIGHT_VARIABLE] if WEIGHT_VARIABLE in dataset.data_vars else None
    return _array_source(dataset[name], weights)


def posterior_of(draws: Any, variable: str | None, argument: str = "variable") -> NDArray[Any]:
    """A variable of any shape as an array with the dimensions chain, if there is one, and draw first."""
    array, groups = draws, _groups(draws)
    if groups:
        dataset = _with_variable(groups, variable)
        if dataset is None:
            names = ", ".join(_all_names(groups))
            raise ValueError(f"{argument}= must name a variable, not {variable!r}; there are {names}")
        array = dataset[variable]
    roles = _roles(array)
    order = [roles[part] for part in ("chain", "draw") if part in roles]
    return np.asarray(array.transpose(*order, ...).values)


def _groups(draws: Any) -> dict[str, Any]:
    """The datasets of an ArviZ object, or the dataset itself; none for a single array."""
    found = {group: getattr(draws, group, None) for group in GROUPS}
    found = {group: dataset for group, dataset in found.items() if hasattr(dataset, "data_vars")}
    return found or ({"": draws} if hasattr(draws, "data_vars") else {})


def _with_variable(groups: Mapping[str, Any], variable: str | None) -> Any:
    return next((dataset for dataset in groups.values() if variable in dataset.data_vars), None)


def _all_names(groups: Mapping[str, Any]) -> list[str]:
    """The variables of all datasets, with the name of the group if it is not the posterior."""
    return [
        f"{name} (in {group})" if group == GROUPS[1] else str(name)
        for group, dataset in groups.items()
        for name in dataset.data_vars
    ]


def _choose_variable(groups: Mapping[str, Any], variable: str | None) -> tuple[Any, str]:
    if variable is not None:
        dataset = _with_variable(groups, variable)
        if dataset is None:
            raise ValueError(f"draws has no variable {variable!r}; its variables: {', '.join(_all_names(groups))}")
        return dataset, variable
    group, dataset = next(iter(groups.items()))
    candidates = [str(name) for name in dataset.data_vars if group != GROUPS[1] and _may_be_labels(dataset[name])]
    if len(candidates) == 1:
        return dataset, candidates[0]
    if not candidates:
        none = "draws has no integer variable with dimensions (chain, draw, item); name one with "
        raise ArgumentError(none, Setting("variable"), f": {', '.join(_all_names(groups))}")
    several = "draws has several integer variables, name one with "
    raise ArgumentError(several, Setting("variable"), f": {', '.join(candidates)}")


def _may_be_labels(array: Any) -> bool:
    return array.dtype.kind in "iu" and "draw" in _roles(array) and len(_item_dims(array)) == 1


def _roles(array: Any) -> dict[str, str]:
    """Maps chain and draw to the corresponding dimensions."""
    roles = {"chain": "chain"} if "chain" in array.dims else {}
    draw = next((dim for dim in _DRAW_DIMS if dim in array.dims), None)
    return roles if draw is None else {**roles, "draw": draw}


def _item_dims(array: Any) -> list[str]:
    taken = set(_roles(array).values())
    return [dim for dim in array.dims if dim not in taken]


def _array_source(array: Any, weights: Any) -> Source:
    roles, item_dims = _roles(array), _item_dims(array)
    if "draw" not in roles and "chain" not in roles and len(item_dims) == 2:
        roles, item_dims = {"draw": item_dims[0]}, item_dims[1:]
    if "draw" not in roles or len(item_dims) != 1:
        raise ValueError(f"draws must have dimensions (chain, draw, item) or (draw, item), not {tuple(array.dims)}")
    order = [roles[part] for part in ("chain", "draw") if part in roles]
    array = array.transpose(*order, item_dims[0])
    weights = None if weights is None else weights.transpose(*order)
    return Source(array.shape[-1], _rows_of(array, weights), _names(array, item_dims[0]))


def _names(array: Any, dim: str) -> tuple[str, ...] | None:
    if dim not in array.coords:
        return None
    values = np.asarray(array.coords[dim].values)
    if values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values))):
        return None
    return tuple(str(value) for value in values)


def _rows_of(array: Any, weights: Any) -> Iterator[Block]:
    has_chains = array.ndim == 3
    stacked = _stacked_chains(array)
    for chain in range(array.shape[0]) if has_chains else (None,):
        rows_of = array if chain is None else array[chain]
        weights_of = weights if chain is None or weights is None else weights[chain]
        for start, cells in read_rows(rows_of, chunk_starts(rows_of, 0)):
            rows = slice(start, start + len(cells))
            chains = np.full(len(cells), chain, np.int64) if chain is not None else None
            yield Block(
                cells,
                _place(array.name, chain, start),
                chains if stacked is None else stacked[rows],
                None if weights_of is None else np.asarray(weights_of[rows].values, np.float64),
            )


def _stacked_chains(array: Any) -> NDArray[np.int64] | None:
    """The chain of each row if chain and draw are stacked in one dimension."""
    if array.ndim == 3 or "chain" not in array.coords or array.coords["chain"].dims != array.dims[:1]:
        return None
    return np.asarray(np.unique(array.coords["chain"].values, return_inverse=True)[1])


def _place(name: Any, chain: int | None, start: int) -> Any:
    prefix = "" if chain is None else f"{chain}, "
    return lambda row, column: f"{name or 'draws'}[{prefix}{start + row}, {column}]"
